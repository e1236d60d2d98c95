//! Limits on the nesting of JSON and TOML.
//!
//! The libraries call themselves for each level, and their own limits leave room for more levels than a stack has: 512 in JSON
//! with comments, and in TOML 80 inline tables inside each other, each under a key of 80 parts. The checks here count levels on
//! the tokens of the libraries, which needs no stack.

use std::fmt;

use jsonc_parser::tokens::Token;
use jsonc_parser::{Scanner, ScannerOptions};
use toml_parser::Source;
use toml_parser::lexer::TokenKind;

/// Maximum levels of collections inside each other. In TOML each part of a dotted key is one; headers of tables are not counted.
pub const MOST_LEVELS: usize = 64;

/// A text that is nested too deeply, and the place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TooDeep {
    /// In bytes, from 0.
    pub at: usize,
    /// From 1.
    pub line: usize,
    /// In characters, from 1.
    pub column: usize,
}

impl TooDeep {
    /// The reason, without the place.
    pub const WHAT: &str = "nested more than 64 levels deep";

    fn at(text: &str, at: usize) -> Self {
        let before = text.get(..at).unwrap_or_default();
        let line = before.rsplit('\n').next().unwrap_or_default();
        Self {
            at,
            line: before.matches('\n').count() + 1,
            column: line.chars().count() + 1,
        }
    }
}

impl fmt::Display for TooDeep {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}, column {}: {}", self.line, self.column, Self::WHAT)
    }
}

/// Counts the levels of a text of JSON, which may have comments, up to the first token that is none.
///
/// # Errors
/// The first place beyond [`MOST_LEVELS`].
pub fn check_json(text: &str) -> Result<(), TooDeep> {
    let mut scanner = Scanner::new(text, &ScannerOptions::default());
    let mut levels = 0_usize;
    // A parser gets no further than to the first token that is none.
    while let Ok(Some(token)) = scanner.scan() {
        match token {
            Token::OpenBrace | Token::OpenBracket => levels += 1,
            Token::CloseBrace | Token::CloseBracket => levels = levels.saturating_sub(1),
            _ => {}
        }
        if levels > MOST_LEVELS {
            return Err(TooDeep::at(text, scanner.token_start()));
        }
    }
    Ok(())
}

/// Counts the levels of a text of TOML. A bracket is open until its own kind closes it: the parser goes on after an error.
///
/// # Errors
/// The first place beyond [`MOST_LEVELS`].
pub fn check_toml(text: &str) -> Result<(), TooDeep> {
    // What closes each open bracket, and the dots of the key that is being read in it; the first is the text itself.
    let mut open = vec![(TokenKind::Eof, 0_usize)];
    let mut levels = 0_usize;
    for token in Source::new(text).lex() {
        let depth = open.len();
        let Some((closer, dots)) = open.last_mut() else {
            break;
        };
        match token.kind() {
            TokenKind::Dot => {
                *dots += 1;
                levels += 1;
            }
            TokenKind::Comma => levels -= std::mem::take(dots),
            TokenKind::Newline if depth == 1 => levels -= std::mem::take(dots),
            TokenKind::LeftSquareBracket => open.push((TokenKind::RightSquareBracket, 0)),
            TokenKind::LeftCurlyBracket => open.push((TokenKind::RightCurlyBracket, 0)),
            kind if kind == *closer && depth > 1 => {
                levels -= *dots + 1;
                open.pop();
            }
            _ => {}
        }
        levels += open.len().saturating_sub(depth);
        if levels > MOST_LEVELS {
            return Err(TooDeep::at(text, token.span().start()));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_message_and_limit_say_is_the_same() {
        assert!(TooDeep::WHAT.contains(&format!(" {MOST_LEVELS} ")));
    }

    #[test]
    fn levels_of_json_are_those_that_are_open() {
        let nested = |levels: usize| format!("// [[\n{}\"[[\"{}", "[".repeat(levels), "]".repeat(levels));
        assert_eq!(check_json(&nested(MOST_LEVELS)), Ok(()));
        let error = check_json(&nested(MOST_LEVELS + 1)).unwrap_err();
        assert_eq!((error.line, error.column), (2, MOST_LEVELS + 1));
        assert_eq!(check_json(&"[],".repeat(1_000)), Ok(()));
    }

    #[test]
    fn levels_of_toml_are_brackets_and_parts_of_keys() {
        let dotted = |parts: usize| format!("a = 1\n{}b = 1\n", "a.".repeat(parts));
        assert_eq!(check_toml(&dotted(MOST_LEVELS)), Ok(()));
        let error = check_toml(&dotted(MOST_LEVELS + 1)).unwrap_err();
        assert_eq!((error.line, error.column), (2, 2 * MOST_LEVELS + 2));
        let both = |levels: usize| "a.b = { ".repeat(levels);
        assert_eq!(check_toml(&both(MOST_LEVELS / 2)), Ok(()));
        assert!(check_toml(&both(MOST_LEVELS / 2 + 1)).is_err());
        for flat in [
            "a = [1.5, 2.5]\n",
            "a = { b.c = 1 }\n",
            "[a.b]\n",
            "a = '{[.'\n",
            "# {[.\n",
        ] {
            assert_eq!(check_toml(&flat.repeat(1_000)), Ok(()), "{flat}");
        }
        for unclosed in ["a = [ }\n", "a = { ]\n", "[a\n", "a = { [ }\n"] {
            assert!(check_toml(&unclosed.repeat(1_000)).is_err(), "{unclosed}");
        }
    }
}
