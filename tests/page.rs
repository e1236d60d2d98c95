//! Commands, expected output and links of document pages.
//!
//! A block with the language `sh` is a script. A block with the language `console` contains commands, each followed
//! by its output. A command begins with `$ ` and continues on lines with `> `. In the output, `…` matches any
//! characters, and a line with only `…` matches any lines.
//!
//! After the language, `not-run: ` and a reason exclude the block from the tests. The word `apart` makes the block
//! run alone, in its own home.

/// A fenced block.
pub struct Block<'a> {
    /// Line of the opening fence, from 1.
    pub line: usize,
    /// First word after the fence.
    pub language: &'a str,
    /// Remaining words after the fence.
    pub rest: &'a str,
    /// Lines between the fences.
    pub lines: Vec<&'a str>,
}

impl Block<'_> {
    /// Returns `true` if a test may run the block.
    pub fn is_run(&self) -> bool {
        matches!(self.language, "sh" | "console") && !self.rest.starts_with("not-run")
    }
}

/// Returns the fenced blocks of a page.
///
/// # Panics
/// If a block is not closed.
pub fn blocks(text: &str) -> Vec<Block<'_>> {
    let (mut blocks, mut open) = (Vec::new(), None::<(Block<'_>, usize)>);
    for (index, line) in text.lines().enumerate() {
        let indent = line.len() - line.trim_start().len();
        let fence = line.trim_start().strip_prefix("```");
        open = match (open, fence) {
            (None, Some(info)) => {
                let (language, rest) = info.trim().split_once(' ').unwrap_or((info.trim(), ""));
                let block = Block {
                    line: index + 1,
                    language,
                    rest,
                    lines: Vec::new(),
                };
                Some((block, indent))
            }
            (Some((block, _)), Some("")) => {
                blocks.push(block);
                None
            }
            (Some((mut block, indent)), _) => {
                block.lines.push(line.get(indent..).unwrap_or(line.trim_start()));
                Some((block, indent))
            }
            (None, None) => None,
        };
    }
    assert!(open.is_none(), "a block is not closed");
    blocks
}

/// A command of a console with its output.
pub struct Step<'a> {
    /// Line in the page, from 1.
    pub line: usize,
    /// The command.
    pub command: String,
    /// Expected lines on standard output and standard error.
    pub prints: Vec<&'a str>,
}

/// Returns the commands of a console.
///
/// # Panics
/// If a line precedes the first command.
pub fn steps<'a>(block: &Block<'a>) -> Vec<Step<'a>> {
    let mut steps: Vec<Step<'a>> = Vec::new();
    for (index, line) in block.lines.iter().enumerate() {
        if let Some(command) = line.strip_prefix("$ ") {
            steps.push(Step {
                line: block.line + 1 + index,
                command: command.to_owned(),
                prints: Vec::new(),
            });
        } else {
            let step = steps.last_mut().expect("a console begins with a command");
            match line.strip_prefix("> ") {
                Some(more) if step.prints.is_empty() => {
                    step.command.push('\n');
                    step.command.push_str(more);
                }
                _ => step.prints.push(line),
            }
        }
    }
    steps
}

/// Returns `true` if `line` matches `pattern`, in which `…` matches any characters.
fn is_like(line: &str, pattern: &str) -> bool {
    let Some((first, rest)) = pattern.split_once('…') else {
        return line == pattern;
    };
    let Some(mut line) = line.strip_prefix(first) else {
        return false;
    };
    let mut parts: Vec<&str> = rest.split('…').collect();
    let last = parts.pop().unwrap_or_default();
    for part in parts {
        let Some(at) = line.find(part) else { return false };
        line = &line[at + part.len()..];
    }
    line.ends_with(last)
}

/// Returns `true` if the lines match the patterns. A pattern that is only `…` matches any lines.
pub fn are_like(lines: &[&str], patterns: &[&str]) -> bool {
    match (lines, patterns) {
        (_, [pattern, rest @ ..]) if pattern.trim() == "…" => {
            (0..=lines.len()).any(|skipped| are_like(&lines[skipped..], rest))
        }
        ([line, lines @ ..], [pattern, rest @ ..]) => {
            is_like(line.trim_end(), pattern.trim_end()) && are_like(lines, rest)
        }
        (lines, patterns) => lines.is_empty() && patterns.is_empty(),
    }
}

/// Returns the path and the heading of each link within the project. For a link within the page, the path is empty.
pub fn links(text: &str) -> Vec<(&str, &str)> {
    let targets = text.split("](").skip(1).filter_map(|rest| rest.split_once(')'));
    targets
        .map(|(target, _)| target.split_once('#').unwrap_or((target, "")))
        .filter(|(path, _)| !path.contains("://"))
        .collect()
}

/// Returns the names by which links refer to the headings of a page.
pub fn headings(text: &str) -> Vec<String> {
    let lines = text.lines().filter(|line| line.starts_with('#'));
    lines
        .map(|line| {
            let words = line.trim_start_matches('#').trim().to_lowercase();
            let kept = words
                .chars()
                .filter(|letter| letter.is_alphanumeric() || [' ', '-', '_'].contains(letter));
            kept.map(|letter| if letter == ' ' { '-' } else { letter })
                .collect()
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_ellipsis_matches_any_text() {
        for (line, pattern) in [
            ("a b c", "a b c"),
            ("a b c", "a…c"),
            ("abc", "…b…"),
            ("", "…"),
            ("a-a", "a…a"),
        ] {
            assert!(is_like(line, pattern), "{line:?}, {pattern:?}");
        }
        for (line, pattern) in [("a b c", "a b"), ("a", "a…a"), ("ab", "b…")] {
            assert!(!is_like(line, pattern), "{line:?}, {pattern:?}");
        }
        assert!(are_like(&["a", "b", "c"], &["a", "…"]) && are_like(&[], &["…"]));
        assert!(!are_like(&["a", "b"], &["a"]) && !are_like(&["a"], &["a", "b"]));
    }
}
