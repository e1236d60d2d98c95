//! Distinct large tool results, generated from recorded ones.

use std::path::Path;

use anyhow::{Result, bail};
use hippo_text::text::{end, start};

use crate::bench::extract;

/// Distance in bytes between the starts of two pieces in the text from which they are cut. A prime number makes later
/// pieces start at other places.
const STEP: usize = 7_919;

/// A synthetic tool result, composed of pieces of recorded ones.
pub struct SyntheticResult {
    /// Name of the tool.
    pub tool: String,
    /// Arguments of the call.
    pub call: String,
    /// Text of the result.
    pub text: String,
}

/// The concatenated tool results and logs of each program.
pub struct ToolCorpus {
    programs: Vec<(String, String)>,
}

impl ToolCorpus {
    /// Reads the evaluation data.
    ///
    /// # Errors
    /// Fails if the data is missing.
    pub fn read(eval: &Path) -> Result<Self> {
        let programs: Vec<(String, String)> = extract::by_program(eval)?.into_iter().collect();
        if programs.is_empty() {
            bail!("no tool results below {}", eval.display());
        }
        Ok(Self { programs })
    }

    /// Returns a synthetic result of `bytes` bytes; `number` selects it. The programs alternate, each piece starts at
    /// another place, and digits vary as in repeated runs of a tool.
    pub fn piece(&self, number: usize, bytes: usize) -> SyntheticResult {
        let (program, text) = &self.programs[number % self.programs.len()];
        let round = number / self.programs.len();
        // The piece starts at the beginning of a line, because tools print whole lines.
        let from = end(text, text.len() - round * STEP % text.len());
        let from = text.len() - from.len() + from.find('\n').map_or(0, |end| end + 1);
        let mut out = format!("run {number}\n");
        let mut shift = round;
        let mut rest = &text[from..];
        while out.len() < bytes {
            out.extend(rest.chars().take(bytes).map(|mark| other(mark, shift)));
            rest = text;
            shift += 1;
        }
        out.truncate(start(&out, bytes).len());
        out.extend(std::iter::repeat_n(' ', bytes - out.len()));
        SyntheticResult {
            tool: "exec".to_owned(),
            call: format!("{program} --run {number}"),
            text: out,
        }
    }
}

/// Replaces a digit with another digit, and returns any other character unchanged. 0 is also unchanged, so that JSON
/// numbers stay valid.
fn other(mark: char, by: usize) -> char {
    const DIGITS: [char; 9] = ['1', '2', '3', '4', '5', '6', '7', '8', '9'];
    match DIGITS.iter().position(|digit| *digit == mark) {
        Some(at) => DIGITS[(at + by) % DIGITS.len()],
        None => mark,
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn pieces_have_the_given_size_and_are_distinct() {
        let text = |line: &str| line.repeat(40);
        let programs = vec![
            ("make".to_owned(), text("ok 12 tests in 3.4 s\n")),
            ("ls".to_owned(), text("日本 1 file\n")),
        ];
        let corpus = ToolCorpus { programs };
        let pieces: Vec<SyntheticResult> = (0..200).map(|number| corpus.piece(number, 3_000)).collect();
        assert!(pieces.iter().all(|piece| piece.text.len() == 3_000));
        let different: BTreeSet<&str> = pieces.iter().map(|piece| piece.text.as_str()).collect();
        assert_eq!(different.len(), pieces.len());
        assert!(pieces[0].text.starts_with("run 0\n") && pieces[0].text.contains("tests in"));
    }
}
