//! Pictures of the README: a recording of the terminal, and a screenshot of the page.

use anyhow::Result;

use crate::house::{self, ProjectFolders};
use crate::node::{self, BROWSER};
use crate::{setup, write};

/// The screenshot.
const SCREENSHOT: &str = "docs/pictures/search.png";

/// Writes the pictures. The recording is the result of a test; Chromium takes the screenshot.
///
/// # Errors
/// Fails if the model could not be installed, if a program is missing, or if a file could not be written.
pub fn run(house: &ProjectFolders) -> Result<()> {
    let home = setup::obtain(house, &setup::build(house)?)?;
    write(house, "e2e", "pictures::", &[("HIPPOD_TEST_MODEL_HOME", &home)])?;
    let mut command = node::command(house, BROWSER.1, &["node", "pictures.js"])?;
    command.arg(house.root.join(SCREENSHOT));
    command.env("HIPPOD_TEST_MODEL_HOME", home);
    house::run(command.env("HIPPOD_EMBED_MODEL", "minilm-l6-dialogue-int8"))
}
