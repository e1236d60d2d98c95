//! Does a line hold code, or is it inside a comment or a text of many lines?

use super::Language;

/// What an earlier line has left open.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Open {
    Nothing,
    /// `/* … */`
    Comment,
    /// `""" … """` or `''' … '''`
    Text(&'static str),
    /// A template between backticks.
    Template,
}

/// Reads lines in order.
#[derive(Debug)]
pub(super) struct Plain {
    open: Open,
    language: Language,
}

impl Plain {
    pub fn new(language: Language) -> Self {
        Self {
            open: Open::Nothing,
            language,
        }
    }

    /// Whether the line begins as code and is no comment.
    pub fn is_code(&mut self, line: &str) -> bool {
        let before = self.open;
        self.read(line);
        let text = line.trim_start();
        let hash = matches!(
            self.language,
            Language::Python | Language::Ruby | Language::Shell | Language::Config
        );
        let comment = ["//", "/*", "* "].iter().any(|mark| text.starts_with(mark));
        let comment = comment || (hash && text.starts_with('#'));
        before == Open::Nothing && !text.is_empty() && !comment
    }

    /// Follows what opens and closes in a line, texts of one line left out.
    fn read(&mut self, line: &str) {
        let triple = matches!(self.language, Language::Python | Language::Unknown);
        let slashes = !matches!(
            self.language,
            Language::Python | Language::Ruby | Language::Shell | Language::Config
        );
        let templates = matches!(
            self.language,
            Language::JavaScript | Language::TypeScript | Language::Go
        );
        let bytes = line.as_bytes();
        let starts = |at: usize, mark: &str| bytes.get(at..at + mark.len()) == Some(mark.as_bytes());
        let (mut at, mut quote) = (0, None);
        while at < bytes.len() {
            match self.open {
                Open::Comment if starts(at, "*/") => (self.open, at) = (Open::Nothing, at + 1),
                Open::Text(mark) if starts(at, mark) => (self.open, at) = (Open::Nothing, at + 2),
                Open::Template if bytes[at] == b'`' => self.open = Open::Nothing,
                Open::Template | Open::Text(_) if bytes[at] == b'\\' => at += 1,
                Open::Comment | Open::Text(_) | Open::Template => {}
                Open::Nothing => match (quote, bytes[at]) {
                    (Some(_), b'\\') => at += 1,
                    (Some(open), byte) if byte == open => quote = None,
                    (Some(_), _) => {}
                    (None, b'"') if triple && starts(at, "\"\"\"") => {
                        (self.open, at) = (Open::Text("\"\"\""), at + 2)
                    }
                    (None, b'\'') if triple && starts(at, "'''") => {
                        (self.open, at) = (Open::Text("'''"), at + 2)
                    }
                    (None, b'"') => quote = Some(b'"'),
                    // In other languages a quote is also a lifetime or an apostrophe.
                    (None, b'\'') if triple || templates => quote = Some(b'\''),
                    (None, b'`') if templates => self.open = Open::Template,
                    (None, b'/') if slashes && starts(at, "//") => return,
                    (None, b'/') if slashes && starts(at, "/*") => (self.open, at) = (Open::Comment, at + 1),
                    (None, b'#') if !slashes => return,
                    _ => {}
                },
            }
            at += 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn code(language: Language, text: &str) -> Vec<bool> {
        let mut plain = Plain::new(language);
        text.lines().map(|line| plain.is_code(line)).collect()
    }

    #[test]
    fn comments_and_texts_of_many_lines_are_no_code() {
        assert_eq!(
            code(
                Language::Rust,
                "/* fn a()\nfn b() */\nfn c() {} // /*\n// fn d()\nfn e<'a>() {}"
            ),
            [false, false, true, false, true]
        );
        assert_eq!(
            code(
                Language::Python,
                "def a():\n    \"\"\"Text\n    def b():\n    \"\"\"\n    x = '''y'''\n# def c\ndef d():"
            ),
            [true, true, false, false, true, false, true]
        );
        assert_eq!(
            code(
                Language::TypeScript,
                "const a = `x\nfunction b() {}\n`;\nfunction c() {}"
            ),
            [true, false, false, true]
        );
    }
}
