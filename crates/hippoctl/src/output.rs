//! Standard output and standard error: data, notes, failures, colour.

mod terminal;

use std::io::{self, BufWriter, IsTerminal, Write};

use serde::Serialize;

use crate::failure::Failure;
use terminal::{Notation, safe, safe_bytes};

/// Standard output for data, standard error for everything else.
pub struct Output {
    data: BufWriter<Box<dyn Write>>,
    rest: Box<dyn Write>,
    /// Whether data goes to a terminal, which must not get control characters of a file.
    on_terminal: bool,
    /// Whether data is JSON.
    pub json: bool,
    /// Whether data may have colour.
    pub style: Style,
    /// Whether progress may be drawn on standard error.
    pub progress: bool,
}

impl Output {
    /// The process's own streams. Colour and progress only on a terminal, and no colour with `NO_COLOR`.
    pub fn from_terminal(json: bool) -> Self {
        let set = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty());
        let plain = set("NO_COLOR").is_some() || set("TERM").is_some_and(|term| term == "dumb");
        Self {
            data: BufWriter::new(Box::new(io::stdout())),
            rest: Box::new(io::stderr()),
            on_terminal: io::stdout().is_terminal(),
            json,
            style: Style {
                colour: !plain && io::stdout().is_terminal(),
            },
            progress: io::stderr().is_terminal(),
        }
    }

    /// Prints the answer: as JSON where that was asked for, else as `render` writes it.
    ///
    /// # Errors
    /// Standard output is closed or full.
    pub fn answer<T: Serialize>(
        &mut self,
        answer: &T,
        render: impl FnOnce(&T, Style) -> String,
    ) -> Result<(), Failure> {
        if self.json && !self.on_terminal {
            serde_json::to_writer(&mut self.data, answer).map_err(io::Error::from)?;
            self.data.write_all(b"\n")?;
            return Ok(());
        }
        let (text, notation) = if self.json {
            let json = serde_json::to_string(answer).map_err(io::Error::from)?;
            (json + "\n", Notation::Json)
        } else {
            (render(answer, self.style), Notation::Text)
        };
        if self.on_terminal {
            self.data.write_all(safe(&text, notation, true).as_bytes())?;
        } else {
            self.data.write_all(text.as_bytes())?;
        }
        Ok(())
    }

    /// Prints bytes of data: as they are into a pipe or a file, without control characters on a terminal.
    ///
    /// # Errors
    /// Standard output is closed or full.
    pub fn data(&mut self, bytes: &[u8]) -> Result<(), Failure> {
        if self.on_terminal {
            self.data.write_all(safe_bytes(bytes).as_bytes())?;
        } else {
            self.data.write_all(bytes)?;
        }
        Ok(())
    }

    /// Sends everything printed so far on its way.
    ///
    /// # Errors
    /// Standard output is closed or full.
    pub fn finish(&mut self) -> Result<(), Failure> {
        self.data.flush()?;
        Ok(())
    }

    /// Prints a line on standard error, without control characters. A closed standard error is not an error.
    pub fn note(&mut self, text: &str) {
        let _ = writeln!(self.rest, "{}", safe(text, Notation::Text, true));
    }

    /// What went wrong and what to do, on standard error, after all data: as one line of JSON where data is JSON.
    pub fn failure(&mut self, failure: &Failure) {
        let _ = self.data.flush();
        if self.json && !failure.message.is_empty() {
            return self.note(&failure.to_json().to_string());
        }
        if !failure.message.is_empty() {
            self.note(&format!("hippoctl: {}", failure.message));
        }
        if !failure.hint.is_empty() {
            self.note(&format!("hint: {}", failure.hint));
        }
    }
}

/// Colour, or none.
#[derive(Debug, Clone, Copy, Default)]
pub struct Style {
    /// Whether escape sequences may be written.
    pub colour: bool,
}

impl Style {
    /// What the eye should find first.
    pub fn strong(self, text: impl AsRef<str>) -> String {
        self.paint("1", text.as_ref())
    }

    /// What the eye may skip.
    pub fn quiet(self, text: impl AsRef<str>) -> String {
        self.paint("2", text.as_ref())
    }

    /// A path.
    pub fn path(self, text: impl AsRef<str>) -> String {
        self.paint("36", text.as_ref())
    }

    /// All is well.
    pub fn good(self, text: impl AsRef<str>) -> String {
        self.paint("32", text.as_ref())
    }

    /// Not as it should be.
    pub fn bad(self, text: impl AsRef<str>) -> String {
        self.paint("31", text.as_ref())
    }

    fn paint(self, code: &str, text: &str) -> String {
        if self.colour {
            format!("\x1b[{code}m{text}\x1b[0m")
        } else {
            text.to_owned()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn colour_only_when_allowed() {
        assert_eq!(Style { colour: false }.path("a"), "a");
        assert_eq!(Style { colour: true }.path("a"), "\x1b[36ma\x1b[0m");
    }
}
