//! YAML with limits on size and nesting, and without aliases.
//!
//! The YAML library recurses for each level of nesting, so a few kilobytes of `- - - …` would overflow the stack.
//! [`load`] counts levels on the event stream, without recursion, before it builds a document. Aliases are rejected: a
//! short text that repeats a long anchor could exhaust memory. Only this module may use the library directly; a test of
//! the source tree checks that.

use saphyr::LoadableYamlNode as _;
pub use saphyr::{MarkedYaml as Node, Scalar, YamlData as Data};
use saphyr_parser::{Event, Parser, ScanError};

/// Maximum bytes of a text.
pub const MOST_BYTES: usize = 256 * 1024;
/// Maximum levels of nested sequences and mappings.
pub const MOST_LEVELS: usize = 64;

/// Error in a YAML text, with its position.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("line {line}, column {column}: {what}")]
pub struct YamlError {
    /// Line, from 1.
    pub line: usize,
    /// Column in characters, from 1.
    pub column: usize,
    /// The reason, without text of the file.
    pub what: String,
}

/// Parses the documents of a text.
///
/// # Errors
/// Fails for invalid YAML, for an alias, and for a text beyond [`MOST_BYTES`] or [`MOST_LEVELS`]. The error contains the
/// position.
pub fn load(text: &str) -> Result<Vec<Node<'_>>, YamlError> {
    if text.len() > MOST_BYTES {
        return Err(YamlError {
            line: 1,
            column: 1,
            what: format!("the text has {} bytes; the limit is {MOST_BYTES}", text.len()),
        });
    }
    check_limits(text)?;
    Node::load_from_str(text).map_err(|error| convert_error(&error))
}

fn convert_error(error: &ScanError) -> YamlError {
    YamlError {
        line: error.marker().line().max(1),
        column: error.marker().col() + 1,
        what: error.info().to_owned(),
    }
}

/// Rejects a text with an alias or too many levels, without building a document.
fn check_limits(text: &str) -> Result<(), YamlError> {
    let mut levels = 0_usize;
    for next in Parser::new_from_str(text) {
        let (event, span) = next.map_err(|error| convert_error(&error))?;
        let what = match event {
            Event::SequenceStart(..) | Event::MappingStart(..) if levels == MOST_LEVELS => {
                format!("nested more than {MOST_LEVELS} levels deep")
            }
            Event::SequenceStart(..) | Event::MappingStart(..) => {
                levels += 1;
                continue;
            }
            Event::SequenceEnd | Event::MappingEnd => {
                levels = levels.saturating_sub(1);
                continue;
            }
            Event::Alias(_) => "aliases are not supported".to_owned(),
            _ => continue,
        };
        return Err(YamlError {
            line: span.start.line().max(1),
            column: span.start.col() + 1,
            what,
        });
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Runs `work` on a small stack. A recursion with one level per byte of a long text would overflow this stack.
    fn run_on_small_stack(work: impl FnOnce() + Send + 'static) {
        let small = std::thread::Builder::new().stack_size(256 * 1024);
        small.spawn(work).unwrap().join().unwrap();
    }

    #[test]
    fn nesting_of_any_kind_is_limited_without_recursion() {
        run_on_small_stack(|| {
            for opener in ["- ", "? ", "[", "{", "{a: ", "[{", "? - ", "- ? ", "- ["] {
                for most in [4_500, MOST_BYTES] {
                    let text = opener.repeat(most / opener.len());
                    let error = load(&text).unwrap_err();
                    assert!((1..=2 * MOST_LEVELS).contains(&error.line), "{opener}: {error:?}");
                }
            }
            let at_limit = |levels: usize| format!("{}x", "- ".repeat(levels));
            assert_eq!(load(&at_limit(MOST_LEVELS)).unwrap().len(), 1);
            let error = load(&format!("a: 1\nb:\n  {}", at_limit(MOST_LEVELS))).unwrap_err();
            assert_eq!(
                (error.line, error.what.as_str()),
                (3, "nested more than 64 levels deep")
            );
        });
    }

    #[test]
    fn indented_blocks_are_limited_too() {
        run_on_small_stack(|| {
            for name in ["a:", "-", "?"] {
                let lines = (0..500).map(|level| format!("{}{name}\n", " ".repeat(level)));
                let text: String = lines.collect();
                assert_eq!(load(&text).unwrap_err().what, "nested more than 64 levels deep");
            }
        });
    }

    #[test]
    fn aliases_are_rejected() {
        let doubled: String = (1..30)
            .map(|at| format!("- &a{at} [*a{0}, *a{0}]\n", at - 1))
            .collect();
        for (text, line) in [
            ("- &a {b: c}\n- *a\n".to_owned(), 2),
            (format!("- &a0 [x]\n{doubled}"), 2),
        ] {
            let error = load(&text).unwrap_err();
            assert_eq!(
                (error.line, error.what.as_str()),
                (line, "aliases are not supported")
            );
        }
    }

    #[test]
    fn a_text_beyond_the_limit_is_rejected() {
        let text = format!("a: {}", "x".repeat(MOST_BYTES));
        assert!(load(&text).unwrap_err().what.ends_with("the limit is 262144"));
        assert_eq!(load("").unwrap(), []);
        assert_eq!(load("a: [").unwrap_err().line, 2);
    }
}
