//! Rendering of `why`.

use hippo_proto::{RecallLastResponse, RecallTrace};

use super::{INDENT, one_line};
use crate::output::Style;

/// Renders what `recall` decided for the last prompts.
pub fn last(answer: &RecallLastResponse, style: Style) -> String {
    if answer.prompts.is_empty() {
        return "no prompt since the daemon started\n".to_owned();
    }
    let prompts: Vec<String> = answer.prompts.iter().map(|trace| prompt(trace, style)).collect();
    prompts.join("\n")
}

fn prompt(trace: &RecallTrace, style: Style) -> String {
    let session = trace
        .session
        .as_ref()
        .map(|session| format!("  session {}", one_line(session)));
    let mut text = format!("{}{}\n", style.quiet(&trace.at), session.unwrap_or_default());
    text += &format!("{INDENT}{}\n", style.strong(one_line(&trace.prompt)));
    text += &format!("{INDENT}{} (floor {:.2})\n", one_line(&trace.reason), trace.floor);
    for candidate in &trace.candidates {
        let (place, outcome) = (one_line(&candidate.place), one_line(&candidate.outcome));
        text += &format!(
            "{INDENT}{:.2}  {outcome:<12}  {}\n",
            candidate.confidence,
            style.path(&place)
        );
    }
    text
}
