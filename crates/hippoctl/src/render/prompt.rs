//! Rendering of `prompt`.

use serde::Serialize;

use super::{harmless, one_line, plural};
use crate::harness::Harness;
use crate::harness::loaded::PromptPart;
use crate::output::Style;

/// The text that the next session gets, for each platform.
#[derive(Debug, Serialize)]
pub struct PromptAnswer {
    /// The workspace.
    pub root: String,
    /// The platforms that are set up in the workspace.
    pub platforms: Vec<PlatformPrompt>,
}

/// The text that the next session of one platform gets.
#[derive(Debug, Serialize)]
pub struct PlatformPrompt {
    /// The platform.
    pub platform: Harness,
    /// The parts of the text. The output of the hook is the last part.
    pub parts: Vec<PromptPart>,
    /// The estimated number of tokens of all parts together, rounded only once.
    pub tokens: usize,
}

/// Renders the answer of `prompt`.
pub fn render_prompt(answer: &PromptAnswer, style: Style) -> String {
    let mut text = String::new();
    for of in &answer.platforms {
        let name = style.strong(of.platform.name());
        text += &format!("{name}: the next session in {} gets:\n\n", one_line(&answer.root));
        for part in &of.parts {
            let (source, size) = (style.path(&part.source), plural(part.tokens as u64, "token"));
            text += &format!("{source}, {size}\n  why: {}\n", one_line(&part.why));
            for line in &part.lines {
                let why = line.why.as_ref().map(|why| style.quiet(format!("   <- {why}")));
                text += &format!("  | {}{}\n", harmless(&line.text), why.unwrap_or_default());
            }
            text.push('\n');
        }
        text += &format!("total for {name}: {}\n\n", plural(of.tokens as u64, "token"));
    }
    text.truncate(text.trim_end().len() + 1);
    text
}
