//! Rendering of the sharing with a team.

use std::fmt::Write;

use hippo_proto::{ShareInitResponse, SharePublishResponse, ShareStatusResponse};

use super::{INDENT, harmless, plural};
use crate::output::Style;

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
