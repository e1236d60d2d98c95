//! Standard output and standard error of the client.

pub mod terminal;

use std::io::{self, BufWriter, IsTerminal, Write};

use serde::Serialize;

use crate::failure::Failure;
use crate::render::one_line;
use terminal::{Notation, safe, safe_bytes};

/// The output streams: standard output for data, standard error for everything else.
pub struct Output {
    data: BufWriter<Box<dyn Write>>,
    rest: Box<dyn Write>,
    /// True if standard output is a terminal, on which control characters from files are escaped.
    pub on_terminal: bool,
    /// True if responses are printed as JSON.
    pub json: bool,
    /// The style of the data.
    pub style: Style,
    /// How progress is shown on standard error.
    pub progress: ProgressOutput,
}

/// How progress is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ProgressOutput {
    /// Progress is not shown.
    Hidden,
    /// Progress is drawn on a terminal.
    Drawn,
    /// Lines about the progress are printed.
    Lines,
}

impl Output {
    /// Creates the output on standard output and standard error. Colour and progress need a terminal, and `NO_COLOR`
    /// disables colour.
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
            progress: match io::stderr().is_terminal() {
                true => ProgressOutput::Drawn,
                false => ProgressOutput::Hidden,
            },
        }
    }

    /// Prints a response as JSON with `--json`, otherwise as the text that `render` returns.
    ///
    /// # Errors
    /// Fails if standard output is closed or full.
    pub fn answer<T: Serialize>(
        &mut self,
        answer: &T,
        render: impl FnOnce(&T, Style) -> String,
    ) -> Result<(), Failure> {
        let (text, notation) = if self.json {
            let json = serde_json::to_string(answer).map_err(io::Error::from)?;
            (json + "\n", Notation::Json)
        } else {
            (render(answer, self.style), Notation::Text)
        };
        let text = match self.on_terminal {
            true => safe(&text, notation, true),
            false => text.as_str().into(),
        };
        Ok(self.data.write_all(text.as_bytes())?)
    }

    /// Returns the number of columns of the terminal, or `None` if standard output is not a terminal.
    pub fn width(&self) -> Option<usize> {
        let size = || crossterm::terminal::size().map_or(80, |(columns, _)| columns.into());
        self.on_terminal.then(size)
    }

    /// Prints data. On a terminal, control characters are escaped. In a pipe or a file, the data is unchanged.
    ///
    /// # Errors
    /// Fails if standard output is closed or full.
    pub fn data(&mut self, bytes: &[u8]) -> Result<(), Failure> {
        match self.on_terminal {
            true => self.data.write_all(safe_bytes(bytes).as_bytes())?,
            false => self.data.write_all(bytes)?,
        }
        Ok(())
    }

    /// Flushes the printed data.
    ///
    /// # Errors
    /// Fails if standard output is closed or full.
    pub fn finish(&mut self) -> Result<(), Failure> {
        Ok(self.data.flush()?)
    }

    /// Prints a line on standard error, with control characters escaped. If standard error is closed, the line is
    /// dropped.
    pub fn note(&mut self, text: &str) {
        let _ = writeln!(self.rest, "{}", safe(text, Notation::Text, true));
    }

    /// Prints a line on standard error, but not with `--json`.
    pub fn remark(&mut self, text: &str) {
        if !self.json {
            self.note(text);
        }
    }

    /// Prints the notes of a response on standard error, but not with `--json`, because the JSON contains the notes.
    pub fn notes(&mut self, notes: &[String]) {
        for note in notes {
            self.remark(&format!("note: {}", one_line(note)));
        }
    }

    /// Prints all data, and then a failure and its hint on standard error. With `--json`, the failure is one line of
    /// JSON.
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

/// The colours of the output.
#[derive(Debug, Clone, Copy, Default)]
pub struct Style {
    /// True if the output may contain escape sequences.
    pub colour: bool,
}

impl Style {
    /// Formats important text.
    pub fn strong(self, text: impl AsRef<str>) -> String {
        self.paint("1", text.as_ref())
    }

    /// Formats text of lesser importance.
    pub fn quiet(self, text: impl AsRef<str>) -> String {
        self.paint("2", text.as_ref())
    }

    /// Formats a path.
    pub fn path(self, text: impl AsRef<str>) -> String {
        self.paint("36", text.as_ref())
    }

    /// Formats a good state.
    pub fn good(self, text: impl AsRef<str>) -> String {
        self.paint("32", text.as_ref())
    }

    /// Formats a bad state.
    pub fn bad(self, text: impl AsRef<str>) -> String {
        self.paint("31", text.as_ref())
    }

    fn paint(self, code: &str, text: &str) -> String {
        match self.colour {
            true => format!("\x1b[{code}m{text}\x1b[0m"),
            false => text.to_owned(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn colour_is_used_only_if_allowed() {
        assert_eq!(Style { colour: false }.path("a"), "a");
        assert_eq!(Style { colour: true }.path("a"), "\x1b[36ma\x1b[0m");
    }
}
