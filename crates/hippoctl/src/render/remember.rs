//! Rendering of `remember`.

use hippo_proto::RememberResponse;

use super::{INDENT, lines, one_line};
use crate::output::Style;

/// Renders the location of the remembered text, and its entry.
pub fn remembered(answer: &RememberResponse, style: Style) -> String {
    let place = format!(
        "{}:{}",
        one_line(&answer.path),
        lines(answer.start_line, answer.end_line)
    );
    let mut text = format!("remembered in {}\n", style.path(place));
    if let Some(entry) = &answer.entry {
        text += &format!(
            "{INDENT}entry {}: {}; strength {:.2}, {}; priority {}\n",
            style.strong(one_line(&entry.id)),
            one_line(&entry.topic),
            entry.strength,
            entry.band,
            entry.priority.name()
        );
    }
    text
}

#[cfg(test)]
mod tests {
    use hippo_proto::IndexEntry;

    use super::*;
    use hippo_types::entry::{EntryOrigin, EntryPlace, EntryPriority, StrengthBand};

    #[test]
    fn the_location_of_a_text_is_rendered() {
        let entry = IndexEntry {
            id: "deploys".into(),
            topic: "Deploys \x1b[31mnever on Fridays".into(),
            summary: String::new(),
            pointers: vec![],
            strength: 1.0,
            band: StrengthBand::Strong,
            place: EntryPlace::Index,
            group: String::new(),
            tags: vec![],
            related: vec![],
            priority: EntryPriority::High,
            origin: EntryOrigin::Manual,
            created: "2026-03-01T08:00:00Z".into(),
            accessed: "2026-03-01T08:00:00Z".into(),
            hits: 0,
            version: 1,
        };
        let answer = RememberResponse {
            path: "memory/2026-03-01.md".into(),
            start_line: 12,
            end_line: 14,
            entry: Some(entry),
            secrets: vec![],
            notes: vec![],
        };
        let without = RememberResponse {
            end_line: 12,
            entry: None,
            ..answer.clone()
        };
        let plain = remembered(&answer, Style::default()) + &remembered(&without, Style::default());
        insta::assert_snapshot!(plain);
        let colour = remembered(&answer, Style { colour: true });
        insta::assert_snapshot!(colour.replace('\x1b', "^"));
    }
}
