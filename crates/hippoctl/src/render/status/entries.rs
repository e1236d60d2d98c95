//! Rendering of the index file and the cycles in `status`.

use hippo_map::hierarchy::advise;
use hippo_proto::IndexStatus;

use super::{CONFIRM, bad_line};
use crate::output::Style;
use crate::render::{cycle, one_line, pair, plural};

/// Returns the lines about the index file and the cycles in the status of a workspace.
pub fn lines(index: &IndexStatus, style: Style) -> String {
    if index.file == "off" {
        return pair("entries", "the index file is disabled");
    }
    let file = match index.file.as_str() {
        "written" => style.good("written"),
        "held" => style.bad("held"),
        // A newer daemon can report a state that this client does not know.
        other => one_line(other),
    };
    let entries = format!(
        "{}, {} queued, {} archived; the index file has {}, {file}",
        plural(index.entries, "entry"),
        index.queued,
        index.archived,
        plural(index.tokens, "token")
    );
    let mut text = pair("entries", &entries);
    text += &pair("", advise(index.entries));
    if let Some(last) = &index.last_cycle {
        let (run, started) = (cycle::in_short(last, style), one_line(&last.started));
        text += &pair("cycles", &format!("last {run}, {started}"));
    }
    if !index.next.is_empty() {
        let label = if index.last_cycle.is_some() { "" } else { "cycles" };
        text += &pair(label, &format!("next {}", cycle::next(&index.next)));
    }
    if let Some(trouble) = &index.trouble {
        text += &bad_line("trouble", &one_line(trouble), style);
    }
    if index.held_removals > 0 {
        let held = plural(index.held_removals, "removal");
        let held = format!("{held} from the index file{CONFIRM}");
        text += &bad_line("held", &held, style);
    }
    text
}

#[cfg(test)]
mod tests {
    use hippo_proto::{CycleOutcome, CycleRun, NextCycle};

    use super::*;
    use hippo_types::cycle::Cycle;

    #[test]
    fn each_state_of_the_index_file_is_rendered() {
        let next = |cycle, at: &str| NextCycle {
            cycle,
            at: at.to_owned(),
        };
        let well = IndexStatus {
            entries: 180,
            queued: 12,
            archived: 31,
            tokens: 14_200,
            file: "written".into(),
            trouble: None,
            held_removals: 0,
            last_cycle: Some(CycleRun {
                run: 12,
                cycle: Cycle::Deep,
                started: "2026-03-01T02:30:00Z".into(),
                finished: Some("2026-03-01T02:30:01Z".into()),
                outcome: CycleOutcome::Done,
                planned: 3,
                done: 3,
                demoted: 1,
                undone: None,
            }),
            next: vec![
                next(Cycle::Light, "2026-03-01T03:30:00Z"),
                next(Cycle::Deep, "2026-03-02T02:30:00Z"),
            ],
        };
        let held = IndexStatus {
            entries: 1,
            tokens: 1,
            file: "held".into(),
            trouble: Some("HIPPOCAMPUS.md is not UTF-8;\nmend it, or set it aside".into()),
            held_removals: 90,
            last_cycle: None,
            ..well.clone()
        };
        let young = IndexStatus {
            file: "unwritten".into(),
            held_removals: 1,
            next: vec![],
            last_cycle: None,
            ..IndexStatus::default()
        };
        let off = IndexStatus {
            file: "off".into(),
            ..well.clone()
        };
        let plain = [&well, &held, &young, &off].map(|index| lines(index, Style::default()));
        insta::assert_snapshot!(plain.join("\n"));
        let colour = [&well, &held].map(|index| lines(index, Style { colour: true }));
        insta::assert_snapshot!(colour.join("\n").replace('\x1b', "^"));
    }
}
