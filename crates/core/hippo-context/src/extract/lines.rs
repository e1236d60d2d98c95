//! Lines of a text with their original line numbers.

/// Number of lines examined to detect line numbers.
const LOOKED_AT: usize = 40;

/// A text, possibly with line numbers written by `cat -n`, an editor or a file tool.
#[derive(Debug, Clone, Copy)]
pub(super) struct NumberedText<'t> {
    pub all: &'t str,
    numbered: bool,
}

/// A line of a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct TextLine<'t> {
    /// Number written at the start of the line; if the lines have no written numbers, their position, from 1.
    pub number: u32,
    /// The line without its line ending and written number.
    pub text: &'t str,
}

impl<'t> NumberedText<'t> {
    pub fn new(all: &'t str) -> Self {
        let lines = all.lines().filter(|line| !line.trim().is_empty()).take(LOOKED_AT);
        let (mut count, mut numbered, mut last) = (0, 0, 0);
        for line in lines {
            count += 1;
            if let Some((number, _)) = parse_numbered(line).filter(|(number, _)| *number > last) {
                last = number;
                numbered += 1;
            }
        }
        Self {
            all,
            numbered: numbered >= 3 && numbered * 10 >= count * 7,
        }
    }

    /// Returns true if the lines begin with written line numbers.
    pub fn is_numbered(&self) -> bool {
        self.numbered
    }

    /// Returns all lines, in order.
    pub fn lines(&self) -> impl Iterator<Item = TextLine<'t>> + use<'t> {
        let numbered = self.numbered;
        let mut last = 0_u32;
        self.all.lines().map(move |text| {
            let own = if numbered { parse_numbered(text) } else { None };
            let (number, text) = own.unwrap_or((last.saturating_add(u32::from(!numbered)), text));
            last = number;
            TextLine { number, text }
        })
    }
}

/// Returns the number written at the start of a line, and the rest of the line.
pub(crate) fn parse_numbered(line: &str) -> Option<(u32, &str)> {
    let rest = line.trim_start_matches(' ');
    let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
    if !(1..=7).contains(&digits) || line.len() - rest.len() > 8 {
        return None;
    }
    let number = rest[..digits].parse().ok()?;
    let rest = &rest[digits..];
    for mark in ["\t", "→", ":", "|", " | ", " |"] {
        if let Some(text) = rest.strip_prefix(mark) {
            return Some((number, text));
        }
    }
    // This is an empty line of `cat -n` whose trailing white space was removed.
    rest.is_empty().then_some((number, rest))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A case: the text, whether its lines have numbers, and the expected lines.
    type Case<'t> = (&'t str, bool, &'t [(u32, &'t str)]);

    #[test]
    fn line_numbers_in_the_text_are_used() {
        let cases: [Case<'_>; 4] = [
            ("a\n\nb", false, &[(1, "a"), (2, ""), (3, "b")]),
            (
                "  7\tfn a() {\n  8\t\n  9\t}\n 10\tx",
                true,
                &[(7, "fn a() {"), (8, ""), (9, "}"), (10, "x")],
            ),
            (
                "File:\n12:a\n13: b\n14:c\n(3 more)",
                false,
                &[
                    (1, "File:"),
                    (2, "12:a"),
                    (3, "13: b"),
                    (4, "14:c"),
                    (5, "(3 more)"),
                ],
            ),
            (
                "    1→a\n    2→b\n    5→c\nend",
                true,
                &[(1, "a"), (2, "b"), (5, "c"), (5, "end")],
            ),
        ];
        for (text, numbered, expected) in cases {
            let text = NumberedText::new(text);
            assert_eq!(text.is_numbered(), numbered, "{}", text.all);
            let lines: Vec<_> = text.lines().map(|line| (line.number, line.text)).collect();
            assert_eq!(lines, expected);
        }
    }
}
