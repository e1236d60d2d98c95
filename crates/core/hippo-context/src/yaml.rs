//! YAML with limits on size, nesting and repetition.
//!
//! The YAML library recurses for each level of nesting, so a few kilobytes of `- - - …` would overflow the stack.
//! [`load`] counts levels on the event stream, without recursion, before it builds a document. It also limits the
//! size of expanded aliases: a short text that repeats a long anchor could exhaust memory. This is the only module
//! that names the library; a test of the source tree checks that.

use std::collections::HashMap;

use saphyr::LoadableYamlNode as _;
pub use saphyr::{MarkedYaml as Node, Scalar, YamlData as Data};
use saphyr_parser::{Event, Parser, ScanError};

/// Maximum bytes of a text.
pub const MOST_BYTES: usize = 256 * 1024;
/// Maximum levels of sequences and mappings inside each other.
pub const MOST_LEVELS: usize = 64;
/// Maximum bytes that all aliases of a text repeat together.
pub const MOST_REPEATED: usize = 1024 * 1024;

/// Error in a YAML text, with its position.
#[derive(Debug, Clone, PartialEq, Eq)]
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
/// Returns the first position with invalid YAML, or beyond [`MOST_BYTES`], [`MOST_LEVELS`] or [`MOST_REPEATED`].
pub fn load(text: &str) -> Result<Vec<Node<'_>>, YamlError> {
    if text.len() > MOST_BYTES {
        return Err(YamlError {
            line: 1,
            column: 1,
            what: format!("{} bytes of YAML; the limit is {MOST_BYTES}", text.len()),
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

/// Depth and size of a node after expanding its aliases.
#[derive(Debug, Clone, Copy, Default)]
struct NodeExtent {
    levels: usize,
    bytes: usize,
}

impl NodeExtent {
    fn add(&mut self, inner: Self) {
        self.levels = self.levels.max(inner.levels);
        self.bytes = self.bytes.saturating_add(inner.bytes);
    }
}

/// Fixed cost of a node in bytes.
const NODE: usize = 64;

/// Checks the limits on the events of a text.
fn check_limits(text: &str) -> Result<(), YamlError> {
    // The open collections, each with its anchor and the extent of its nodes so far.
    let mut open: Vec<(usize, NodeExtent)> = Vec::new();
    let mut anchors: HashMap<usize, NodeExtent> = HashMap::new();
    let mut repeated = 0_usize;
    for next in Parser::new_from_str(text) {
        let (event, span) = next.map_err(|error| convert_error(&error))?;
        let refuse = |what| YamlError {
            line: span.start.line().max(1),
            column: span.start.col() + 1,
            what,
        };
        let too_deep = || refuse(format!("nested more than {MOST_LEVELS} levels deep"));
        let (anchor, node) = match event {
            Event::SequenceStart(anchor, _) | Event::MappingStart(anchor, _) => {
                if open.len() == MOST_LEVELS {
                    return Err(too_deep());
                }
                open.push((anchor, NodeExtent::default()));
                continue;
            }
            Event::SequenceEnd | Event::MappingEnd => {
                let (anchor, mut whole) = open.pop().unwrap_or_default();
                whole.levels += 1;
                whole.bytes = whole.bytes.saturating_add(NODE);
                (anchor, whole)
            }
            Event::Scalar(text, _, anchor, _) => {
                let bytes = text.len() + NODE;
                (anchor, NodeExtent { levels: 0, bytes })
            }
            Event::Alias(anchor) => {
                let node = anchors.get(&anchor).copied().unwrap_or_default();
                repeated = repeated.saturating_add(node.bytes);
                if repeated > MOST_REPEATED {
                    return Err(refuse(format!("aliases repeat more than {MOST_REPEATED} bytes")));
                }
                if open.len() + node.levels > MOST_LEVELS {
                    return Err(too_deep());
                }
                (0, node)
            }
            _ => continue,
        };
        if anchor > 0 {
            anchors.insert(anchor, node);
        }
        if let Some((_, around)) = open.last_mut() {
            around.add(node);
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Runs `work` on a stack that is too small for a recursion with one level per byte of a long text.
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
    fn expanded_aliases_respect_the_limits() {
        run_on_small_stack(|| {
            let chain: String = (0..400)
                .map(|at: usize| match at {
                    0 => "- &a0 [x]\n".to_owned(),
                    _ => format!("- &a{at} [*a{}]\n", at - 1),
                })
                .collect();
            assert_eq!(load(&chain).unwrap_err().what, "nested more than 64 levels deep");
            let long = format!("- &a {}\n{}", "x".repeat(100_000), "- *a\n".repeat(10_000));
            assert_eq!(load(&long).unwrap_err().line, 12);
            let doubled: String = (1..30)
                .map(|at| format!("- &a{at} [*a{0}, *a{0}]\n", at - 1))
                .collect();
            let error = load(&format!("- &a0 [x]\n{doubled}")).unwrap_err();
            assert_eq!(error.what, "aliases repeat more than 1048576 bytes");
            assert_eq!(load("- &a {b: c}\n- *a\n").unwrap().len(), 1);
        });
    }

    #[test]
    fn a_text_beyond_the_limit_is_rejected() {
        let text = format!("a: {}", "x".repeat(MOST_BYTES));
        assert!(load(&text).unwrap_err().what.ends_with("the limit is 262144"));
        assert_eq!(load("").unwrap(), []);
        assert_eq!(load("a: [").unwrap_err().line, 2);
    }
}
