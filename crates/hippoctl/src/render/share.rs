//! Rendering of the sharing with other workspaces, and with a team.

use std::fmt::Write;

use hippo_proto::{
    Share, ShareAddResponse, ShareInitResponse, ShareListResponse, SharePublishResponse, ShareRemoveResponse,
    ShareStatusResponse,
};

use super::{INDENT, harmless, one_line, plural};
use crate::output::Style;

/// Renders the answer to `share add`: the entries that the other workspace sees.
pub fn add(answer: &ShareAddResponse, dry_run: bool, style: Style) -> String {
    let mut text = String::new();
    // Writing to a string cannot fail.
    for entry in &answer.entries {
        let _ = writeln!(text, "{}", style.path(one_line(&entry.pointer)));
        let _ = writeln!(text, "{INDENT}{}", one_line(&entry.summary));
    }
    let share = &answer.share;
    let verb = match (dry_run, answer.added) {
        (true, _) => "would share".to_owned(),
        (false, true) => format!("{}: shares", share.id),
        (false, false) => format!("{} already shares", share.id),
    };
    let count = plural(answer.entries.len() as u64, "entry");
    let _ = writeln!(
        text,
        "{verb} {count} with {} as @{}/…",
        harmless(&share.to),
        one_line(&share.name)
    );
    text
}

/// Renders the answer to `share list`.
pub fn list(answer: &ShareListResponse, style: Style) -> String {
    let mut text = String::new();
    // Writing to a string cannot fail.
    for share in &answer.shares {
        let state = match (&share.removed, share.entries) {
            (Some(removed), _) => format!("withdrawn {removed}"),
            (None, Some(entries)) => plural(entries, "entry"),
            (None, None) => "the workspace of the owner is not available".to_owned(),
        };
        let name = style.strong(format!("{} @{}", share.id, one_line(&share.name)));
        let _ = writeln!(text, "{name}  {state}, since {}", share.created);
        let (from, to) = (harmless(&share.from), harmless(&share.to));
        let _ = writeln!(text, "{INDENT}{} → {}", style.path(from), style.path(to));
        let conditions = conditions(share);
        if !conditions.is_empty() {
            let _ = writeln!(text, "{INDENT}{}", one_line(&conditions));
        }
    }
    match text.is_empty() {
        true => "no shares\n".to_owned(),
        false => text,
    }
}

fn conditions(share: &Share) -> String {
    let selectors = &share.selectors;
    let types = selectors
        .types
        .iter()
        .map(|kind| kind.name().to_owned())
        .collect();
    let all = [
        ("path", &selectors.paths),
        ("topic", &selectors.topics),
        ("tag", &selectors.tags),
        ("type", &types),
    ];
    let given = all.into_iter().filter(|(_, values)| !values.is_empty());
    let shown = given.map(|(kind, values)| format!("{kind} {}", values.join(" or ")));
    shown.collect::<Vec<_>>().join("; ")
}

/// Renders the answer to `share remove`.
pub fn remove(answer: &ShareRemoveResponse) -> String {
    let share = &answer.share;
    format!(
        "withdrew {} (@{}) from {}\n",
        share.id,
        one_line(&share.name),
        harmless(&share.to)
    )
}

/// Renders the answer to `share init-db`.
pub fn init(answer: &ShareInitResponse) -> String {
    let tables = match answer.from {
        from if from == answer.to => format!("the tables have version {}", answer.to),
        0 => format!("created the tables (version {})", answer.to),
        from => format!("migrated the tables from version {from} to {}", answer.to),
    };
    let team = match answer.team_created {
        true => "created the team",
        false => "the team exists:",
    };
    format!(
        "{tables}\n{team} {0}; roles hippod_{0}_reader and hippod_{0}_writer\n",
        answer.team
    )
}

/// Renders the answer to `share publish`. A dry run lists every text that would leave the machine.
pub fn publish(answer: &SharePublishResponse, dry_run: bool, style: Style) -> String {
    let mut text = String::new();
    // Writing to a string cannot fail.
    for document in &answer.outgoing {
        let _ = writeln!(text, "{}", style.path(harmless(&document.path)));
        for passage in &document.passages {
            let heading = passage.heading.join(" › ");
            let vector = passage
                .model
                .as_deref()
                .map_or("no vector".to_owned(), |model| format!("vector of {model}"));
            let date = passage.date.as_deref().unwrap_or("no date");
            let facts = format!("line {}, {date}, {vector}  {heading}", passage.line);
            let _ = writeln!(text, "{INDENT}{}", style.quiet(harmless(facts.trim_end())));
            for line in harmless(&passage.text).lines() {
                let _ = writeln!(text, "{}", format!("{INDENT}{INDENT}{line}").trim_end());
            }
        }
    }
    let verb = if dry_run { "would publish" } else { "published" };
    let _ = writeln!(
        text,
        "{verb} {} with {} to the team {} as {}; {} removed, {} unchanged",
        plural(answer.documents, "document"),
        plural(answer.passages, "passage"),
        answer.team,
        harmless(&answer.workspace),
        answer.removed,
        answer.unchanged
    );
    text
}

/// Renders the answer to `share status`.
pub fn status(answer: &ShareStatusResponse, style: Style) -> String {
    let mut text = String::new();
    // Writing to a string cannot fail.
    if let Some(url) = &answer.url {
        let state = if answer.reachable {
            "answers"
        } else {
            "does not answer"
        };
        let _ = writeln!(text, "server     {} {state}", harmless(url));
        let rights = if answer.may_publish {
            "may publish"
        } else {
            "may only search"
        };
        let _ = writeln!(
            text,
            "team       {}, {}, this login {rights}",
            answer.team,
            plural(answer.passages, "passage")
        );
    }
    if let Some(why) = &answer.why {
        let _ = writeln!(text, "problem    {}", harmless(why));
    }
    let _ = writeln!(text, "device     {}", answer.device);
    for workspace in &answer.workspaces {
        let state = match workspace.waiting {
            None => "not compared with the server yet".to_owned(),
            Some(0) => "all published".to_owned(),
            Some(waiting) => format!("{} waiting", plural(waiting, "document")),
        };
        let _ = writeln!(
            text,
            "workspace  {}  {state}",
            style.path(harmless(&workspace.root))
        );
        if let Some(error) = &workspace.error {
            let _ = writeln!(text, "{INDENT}{}", harmless(error));
        }
    }
    text
}
