//! Text input from standard input or a file.

use std::fs::File;
use std::io::{self, IsTerminal, Read};
use std::path::Path;

use crate::failure::{Exit, Failure};
use crate::output::Output;

/// Reads a text of at most `most` bytes from a file or from standard input. If the text is longer, fails with the hint
/// `too_long`.
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
                out.note("reading the text from the terminal; to end the text, press Ctrl-D");
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
            .hint("convert it to UTF-8, for example: iconv -f latin1 -t utf-8 FILE | hippoctl …")
    })
}

/// Reads at most one byte more than `most`, so that the caller can detect a longer text.
fn read(from: impl Read, most: usize) -> io::Result<Vec<u8>> {
    let most = u64::try_from(most).unwrap_or(u64::MAX).saturating_add(1);
    let mut bytes = Vec::new();
    from.take(most).read_to_end(&mut bytes)?;
    Ok(bytes)
}
