//! Text input from standard input or a file.

use std::fs::File;
use std::io::{self, IsTerminal, Read};
use std::path::Path;

use crate::failure::{Exit, Failure};
use crate::output::Output;

/// Reads a file or standard input, up to `most` bytes. If there are more bytes, the failure has the hint `too_long`.
///
/// # Errors
/// Fails if the input is unreadable, too long, or not UTF-8.
#[expect(clippy::disallowed_methods, reason = "the user chose this file")]
pub fn text(
    file: Option<&Path>,
    most: usize,
    too_long: &'static str,
    out: &mut Output,
) -> Result<String, Failure> {
    let bytes = match file {
        Some(path) => File::open(path)
            .and_then(|file| read(file, most))
            .map_err(|error| Failure::input("read the text", path, &error))?,
        None => {
            let input = io::stdin();
            if input.is_terminal() {
                out.note("reading the text from the terminal; Ctrl-D ends it");
            }
            read(input.lock(), most).map_err(|error| {
                Failure::new(Exit::Failed, format!("could not read standard input: {error}"))
            })?
        }
    };
    if bytes.len() > most {
        let what = format!("the text is longer than {most} bytes");
        return Err(Failure::new(Exit::Refused, what).hint(too_long));
    }
    String::from_utf8(bytes).map_err(|_| {
        let from = file.map_or_else(|| "standard input".into(), Path::to_string_lossy);
        Failure::new(Exit::Usage, format!("{from} is not valid UTF-8"))
            .hint("convert it, for example: iconv -f latin1 -t utf-8 FILE | hippoctl …")
    })
}

/// Reads at most one byte more than `most`, so that the caller can detect a longer text.
fn read(from: impl Read, most: usize) -> io::Result<Vec<u8>> {
    let most = u64::try_from(most).unwrap_or(u64::MAX).saturating_add(1);
    let mut bytes = Vec::new();
    from.take(most).read_to_end(&mut bytes)?;
    Ok(bytes)
}
