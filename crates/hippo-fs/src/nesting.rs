//! Limits on the nesting of JSON and TOML.
//!
//! The parsers recurse once for each level, and their own limits allow more levels than fit on a stack: 512 in JSON
//! with comments, and in TOML 80 nested inline tables, each under a key of 80 parts. The checks in this module use the
//! parsers' tokenizers and count the levels without recursion.

use std::fmt;

use jsonc_parser::tokens::Token;
use jsonc_parser::{Scanner, ScannerOptions};
use toml_parser::Source;
use toml_parser::lexer::TokenKind;

/// Maximum number of levels of nested collections. In TOML, each part of a dotted key is a level, but table headers do
/// not count.
pub const MOST_LEVELS: usize = 64;

/// Position in a text that is nested too deeply.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TooDeep {
    /// Offset in bytes, from 0.
    pub at: usize,
    /// Line, from 1.
    pub line: usize,
    /// Column in characters, from 1.
    pub column: usize,
}

impl TooDeep {
    /// Description of the error, without the position.
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

/// Checks the nesting of JSON, with or without comments, up to the first invalid token.
///
/// # Errors
/// Returns the first position beyond [`MOST_LEVELS`].
pub fn check_json(text: &str) -> Result<(), TooDeep> {
    let mut scanner = Scanner::new(text, &ScannerOptions::default());
    let mut levels = 0_usize;
    // A JSON parser stops at an invalid token, so this check stops there as well.
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

/// Checks the nesting of TOML. An open bracket is only closed by a bracket of the same kind, because the TOML parser
/// continues after an error.
///
/// # Errors
/// Returns the first position beyond [`MOST_LEVELS`].
pub fn check_toml(text: &str) -> Result<(), TooDeep> {
    // For each open bracket, its closing token and the number of dots in the current key inside it. The first element
    // is for the text outside all brackets.
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
    fn the_message_names_the_limit() {
        assert!(TooDeep::WHAT.contains(&format!(" {MOST_LEVELS} ")));
    }

    #[test]
    fn json_levels_are_open_brackets() {
        let nested = |levels: usize| format!("// [[\n{}\"[[\"{}", "[".repeat(levels), "]".repeat(levels));
        assert_eq!(check_json(&nested(MOST_LEVELS)), Ok(()));
        let error = check_json(&nested(MOST_LEVELS + 1)).unwrap_err();
        assert_eq!((error.line, error.column), (2, MOST_LEVELS + 1));
        assert_eq!(check_json(&"[],".repeat(1_000)), Ok(()));
    }

    #[test]
    fn toml_levels_are_brackets_and_key_parts() {
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
