//! Rendering of index file and cycles in `status`.

use std::fmt::Write;

use hippo_proto::IndexStatus;

use crate::output::Style;
use crate::render::{count_entries, cycle, one_line, plural};

/// Returns lines in the layout of the workspace's status.
pub fn lines(index: &IndexStatus, style: Style) -> String {
    let IndexStatus {
        entries,
        queued,
        archived,
        tokens,
        file,
        trouble,
        held_removals,
        last_cycle,
        next,
    } = index;
    let mut text = String::new();
    // Writing to a string cannot fail.
    if file == "off" {
        let _ = writeln!(text, "  entries  the index file is disabled");
        return text;
    }
    let entries = count_entries(*entries);
    let file = match file.as_str() {
        "written" => style.good("written"),
        "held" => style.bad("held"),
        // A newer daemon may report other states.
        other => one_line(other),
    };
    let tokens = plural(*tokens, "token");
    let _ = writeln!(
        text,
        "  entries  {entries}, {queued} queued, {archived} archived; the index file has {tokens}, {file}"
    );
    if let Some(last) = last_cycle {
        let _ = writeln!(
            text,
            "  cycles   last {}, {}",
            cycle::in_short(last, style),
            one_line(&last.started)
        );
    }
    if !next.is_empty() {
        let label = if last_cycle.is_some() { "" } else { "cycles" };
        let _ = writeln!(text, "  {label:<7}  next {}", cycle::next(next));
    }
    if let Some(trouble) = trouble {
        let _ = writeln!(text, "  {}", style.bad(format!("trouble  {}", one_line(trouble))));
    }
    if *held_removals > 0 {
        let gone = plural(*held_removals, "removal");
        let held = format!(
            "held     {gone} from the index file at once; confirm with: hippoctl sync --accept-deletions"
        );
        let _ = writeln!(text, "  {}", style.bad(held));
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
