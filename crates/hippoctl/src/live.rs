//! Views that fill the terminal.

mod field;
pub mod find;
mod open;
mod screen;
pub mod top;
mod worker;

pub use screen::Screen;

use ratatui::Frame;
use ratatui::style::{Color, Modifier, Style};
use ratatui::text::{Line, Span};

use crate::output::terminal::{Notation, safe};
use crate::render::one_line;

/// The styles of a view. Without colour, only attributes such as bold are used.
#[derive(Debug, Clone, Copy)]
pub struct Theme {
    /// True if the view may use colours.
    pub colour: bool,
}

impl Theme {
    /// Returns the style of important text.
    pub fn strong(self) -> Style {
        Style::new().add_modifier(Modifier::BOLD)
    }

    /// Returns the style of text of lesser importance.
    pub fn quiet(self) -> Style {
        Style::new().add_modifier(Modifier::DIM)
    }

    /// Returns the style of a path.
    pub fn path(self) -> Style {
        self.coloured(Color::Cyan)
    }

    /// Returns the style of a good state.
    pub fn good(self) -> Style {
        self.coloured(Color::Green)
    }

    /// Returns the style of a bad state.
    pub fn bad(self) -> Style {
        self.coloured(Color::Red)
    }

    fn coloured(self, colour: Color) -> Style {
        match self.colour {
            true => Style::new().fg(colour),
            false => Style::new(),
        }
    }
}

/// Draws a line of the view. Lines below the screen are left out.
fn put(frame: &mut Frame<'_>, y: u16, line: &Line<'_>) {
    let area = frame.area();
    if y < area.height {
        frame.buffer_mut().set_line(0, y, line, area.width);
    }
}

/// Returns a line with a title that fills the width.
fn rule(title: Vec<Span<'static>>, width: u16, theme: Theme) -> Line<'static> {
    let mut line = Line::from(Span::styled("── ", theme.quiet()));
    line.extend(title);
    let rest = (width as usize).saturating_sub(line.width() + 1);
    line.push_span(Span::styled(format!(" {}", "─".repeat(rest)), theme.quiet()));
    line
}

/// Returns a text as one line without control characters.
fn safe_line(text: &str) -> String {
    safe(&one_line(text), Notation::Text, false).into_owned()
}

/// Returns a text from the daemon or a file as one line without control characters.
fn span(text: &str, style: Style) -> Span<'static> {
    Span::styled(safe_line(text), style)
}
