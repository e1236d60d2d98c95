//! Property tests of workspace settings from arbitrary bytes.

use std::path::Path;

use crate::config::Config;
use crate::inputs::assert_holds_for_any_bytes;

const SEEDS: [&str; 6] = [
    "[search]\nlimit = 12 # few\ntimezone = \"fast\"\n",
    "[sources]\ninclude = [\"notes/**/*.md\", 'a\\b']\nexclude = [\n  \"x\",\n]\nmax_file_bytes = 1_000\n",
    "tree = { root_max_tokens = 500, keep = \"never\", command = [\"sh\", \"-c\"] }\n",
    "index.max_tokens = 100\nindex.max_tokens = 1e9\n[[embed]]\nthreads = 0x10\n",
    "[cycles]\nzone = \"Europe/Berlin\"\nlight = \"0 3 * * *\"\nat = 1979-05-27T07:32:00.999Z\n",
    "a = \"\"\"\n[[{{\n\"\"\"\nb = '''\n]]'''\n",
];

/// Asserts that settings are accepted or rejected with a short message. Without trust, they must not exceed the
/// user's settings.
fn law(data: &[u8]) {
    let (choice, bytes) = data.split_first().unwrap_or((&0, data));
    let user = Config::default();
    let trusted = choice % 2 == 1;
    match user.for_workspace(Path::new("config.toml"), bytes, trusted) {
        Ok((own, changes)) => {
            for change in changes {
                assert!(change.from.len() + change.to.len() < 1_000, "{change:?}");
            }
            assert!(trusted || own.tree.root_max_tokens <= user.tree.root_max_tokens);
        }
        Err(error) => {
            let told = error.to_string();
            assert!(told.len() < 2_000, "{} bytes: {told:.200}", told.len());
        }
    }
}

#[test]
fn any_bytes_of_settings_are_used_or_refused() {
    assert_holds_for_any_bytes("settings", law, &SEEDS);
}
