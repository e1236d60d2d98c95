//! Frames of a terminal as an animated SVG.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::num::NonZeroU16;

use vt100::{Cell, Color, Parser, Screen};

/// Size of the terminal.
pub const COLUMNS: u16 = 100;
/// Size of the terminal.
pub const ROWS: u16 = 24;
/// Size of a cell in pixels.
const CELL: (f64, f64) = (8.4, 18.0);
/// Space around the text, and height of the bar above it.
const MARGIN: (f64, f64) = (14.0, 34.0);
/// Seconds between two typed characters.
const TYPED: f64 = 0.045;
/// Colours of the text: usual, dim, and the colours of hippoctl.
const USUAL: &str = "#d6deeb";
const DIM: &str = "#8593a8";

/// Frames with the time at which each begins.
pub struct Film {
    parser: Parser,
    frames: Vec<(f64, Vec<String>)>,
    now: f64,
    still: f64,
    /// The folder that is shown as `~/my-notes`.
    folder: String,
}

impl Film {
    /// Creates a film without frames.
    pub fn new(folder: &str) -> Self {
        Self {
            parser: parser(),
            frames: Vec::new(),
            now: 0.0,
            still: 0.0,
            folder: folder.to_owned(),
        }
    }

    /// Continues with an empty screen.
    pub fn clear(&mut self) {
        self.parser = parser();
    }

    /// Adds a prompt, and a command that is typed.
    pub fn type_command(&mut self, command: &str) {
        self.parser.process(b"\x1b[32m$\x1b[0m ");
        self.hold(0.4);
        for letter in command.chars() {
            self.parser.process(letter.to_string().as_bytes());
            self.hold(TYPED);
        }
        self.hold(0.3);
        self.parser.process(b"\r\n");
    }

    /// Adds the output of a command.
    pub fn print(&mut self, bytes: &[u8]) {
        let text = String::from_utf8_lossy(bytes).replace(&self.folder, "~/my-notes");
        self.parser.process(text.as_bytes());
    }

    /// Shows the screen for a number of seconds.
    pub fn hold(&mut self, seconds: f64) {
        let screen = self.parser.screen().clone();
        self.shot(&screen, seconds);
    }

    /// Shows another screen for a number of seconds.
    pub fn shot(&mut self, screen: &Screen, seconds: f64) {
        let rows = (0..ROWS).map(|row| self.row(screen, row)).collect();
        self.frames.push((self.now, rows));
        self.now += seconds;
    }

    /// Uses the last frame as the picture for programs that do not animate.
    pub fn keep_for_still(&mut self) {
        self.still = self.frames.last().map_or(0.0, |(begin, _)| *begin);
    }

    /// Returns a row as SVG text, at the height 0.
    fn row(&self, screen: &Screen, row: u16) -> String {
        let mut runs: Vec<(u16, String, String)> = Vec::new();
        for column in 0..COLUMNS {
            let Some(cell) = screen
                .cell(row, column)
                .filter(|cell| !cell.is_wide_continuation())
            else {
                continue;
            };
            let text = match cell.contents() {
                "" => " ",
                text => text,
            };
            let style = style(cell);
            match runs.last_mut() {
                Some((_, run, last)) if *last == style => run.push_str(text),
                _ => runs.push((column, text.to_owned(), style)),
            }
        }
        let mut svg = String::new();
        for (column, text, style) in runs {
            let text = text.replace(&self.folder, "~/my-notes");
            let text = text.trim_end();
            if text.is_empty() {
                continue;
            }
            let x = f64::from(column) * CELL.0;
            let width = text.chars().count() as f64 * CELL.0;
            let text = text.replace('&', "&amp;").replace('<', "&lt;");
            let _ = write!(
                svg,
                "<text x=\"{x:.1}\" textLength=\"{width:.1}\"{style}>{text}</text>"
            );
        }
        svg
    }

    /// Returns the film. It repeats.
    pub fn svg(&self, title: &str) -> String {
        let (width, height) = (
            f64::from(COLUMNS) * CELL.0 + 2.0 * MARGIN.0,
            f64::from(ROWS) * CELL.1 + MARGIN.1 + MARGIN.0,
        );
        let total = self.now;
        let mut rows: BTreeMap<&str, usize> = BTreeMap::new();
        let mut shown = String::new();
        for row in 0..usize::from(ROWS) {
            let mut from = 0;
            while from < self.frames.len() {
                let (begin, frame) = &self.frames[from];
                let same = |(_, other): &&(f64, Vec<String>)| other[row] == frame[row];
                let next = from + self.frames[from..].iter().take_while(same).count();
                let end = self.frames.get(next).map_or(total, |(begin, _)| *begin);
                from = next;
                if frame[row].is_empty() {
                    continue;
                }
                let count = rows.len();
                let id = *rows.entry(&frame[row]).or_insert(count);
                let y = (row + 1) as f64 * CELL.1;
                let is_still = (*begin..end).contains(&self.still);
                let set = |to: &str, begin: f64, length: f64| match length > 0.0 {
                    true => format!(
                        "<set attributeName=\"visibility\" to=\"{to}\" begin=\"a.begin+{begin:.2}s\" dur=\"{length:.2}s\"/>"
                    ),
                    false => String::new(),
                };
                let (state, sets) = match is_still {
                    true => ("", set("hidden", 0.0, *begin) + &set("hidden", end, total - end)),
                    false => (" visibility=\"hidden\"", set("visible", *begin, end - begin)),
                };
                let _ = writeln!(shown, "<use href=\"#r{id}\" y=\"{y}\"{state}>{sets}</use>");
            }
        }
        let mut defined: Vec<(&str, usize)> = rows.into_iter().collect();
        defined.sort_by_key(|(_, id)| *id);
        let defined = defined
            .into_iter()
            .map(|(row, id)| format!("<g id=\"r{id}\">{row}</g>\n"))
            .collect::<String>();
        format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width:.0} {height:.0}\" width=\"{width:.0}\" height=\"{height:.0}\" role=\"img\">\n\
             <title>{title}</title>\n\
             <style>text{{font:14px ui-monospace,SFMono-Regular,Menlo,Consolas,'DejaVu Sans Mono',monospace;white-space:pre;fill:{USUAL}}}.b{{font-weight:bold}}.d{{fill:{DIM}}}.c{{fill:#5ccfe6}}.g{{fill:#a5d66b}}.r{{fill:#ff6e6e}}</style>\n\
             <rect width=\"100%\" height=\"100%\" rx=\"8\" fill=\"#10161f\"/>\n\
             <circle cx=\"20\" cy=\"17\" r=\"5\" fill=\"#ff5f57\"/><circle cx=\"38\" cy=\"17\" r=\"5\" fill=\"#febc2e\"/><circle cx=\"56\" cy=\"17\" r=\"5\" fill=\"#28c840\"/>\n\
             <defs>\n{defined}</defs>\n\
             <g transform=\"translate({} {})\"><animate id=\"a\" attributeName=\"opacity\" from=\"1\" to=\"1\" dur=\"{total:.2}s\" begin=\"0s;a.end\"/>\n{shown}</g>\n</svg>\n",
            MARGIN.0,
            MARGIN.1 - 6.0,
        )
    }
}

fn parser() -> Parser {
    let size = |length| NonZeroU16::new(length).unwrap();
    Parser::new(size(ROWS), size(COLUMNS), 0)
}

/// Returns the classes of a cell as an attribute.
fn style(cell: &Cell) -> String {
    let colour = match cell.fgcolor() {
        Color::Idx(1) => "r",
        Color::Idx(2) => "g",
        Color::Idx(6) => "c",
        _ if cell.dim() => "d",
        _ => "",
    };
    let bold = if cell.bold() { "b" } else { "" };
    match (colour, bold) {
        ("", "") => String::new(),
        _ => format!(" class=\"{}\"", format!("{colour} {bold}").trim()),
    }
}
