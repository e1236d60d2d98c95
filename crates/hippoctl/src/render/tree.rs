//! Rendering of the nodes of the compaction tree.

use std::fmt::Write;

use hippo_proto::{
    TreeChange, TreeCompactResponse, TreeJob, TreePendingResponse, TreeRefusal, TreeSubmitResponse,
};

use super::{INDENT, one_line, plural, table};
use crate::output::Style;

/// Maximum number of nodes and of topics that are listed.
const LISTED: usize = 40;

/// Renders the changes of the tree.
pub fn compacted(answer: &TreeCompactResponse, dry_run: bool, style: Style) -> String {
    let TreeCompactResponse {
        today,
        ran,
        nodes,
        unchanged,
        entered,
        left,
        refused,
        foreign,
        notes: _,
        took_ms,
    } = answer;
    if !foreign.is_empty() {
        let all = plural(foreign.len() as u64, "node");
        return format!("nothing was changed, because another program wrote {all}\n");
    }
    if !ran {
        return "nothing was checked, because no update is due yet\n".to_owned();
    }
    let mut text = String::new();
    // Writing to a string cannot fail.
    let what = if dry_run { "dry run" } else { "tree" };
    let end = if dry_run { "; nothing was changed" } else { "" };
    let _ = writeln!(
        text,
        "{}: {} changed, {unchanged} unchanged, as of {}, {took_ms:.0} ms{end}",
        style.strong(what),
        plural(nodes.len() as u64, "node"),
        one_line(today),
    );
    let rows: Vec<Vec<String>> = nodes.iter().take(LISTED).map(|node| row(node, style)).collect();
    text.push_str(&table(&rows, 4));
    if nodes.len() > LISTED {
        let _ = writeln!(text, "{INDENT}and {} more", nodes.len() - LISTED);
    }
    for (name, topics) in [("entered ROOT.md", entered), ("left ROOT.md", left)] {
        if !topics.is_empty() {
            let shown: Vec<String> = topics.iter().take(LISTED).map(|topic| one_line(topic)).collect();
            let more = topics.len().saturating_sub(LISTED);
            let more = if more > 0 {
                format!(", and {more} more")
            } else {
                String::new()
            };
            let _ = writeln!(text, "{name}: {}{more}", shown.join(", "));
        }
    }
    for TreeRefusal { path, reason } in refused {
        let _ = writeln!(text, "{}: {}", style.bad(one_line(path)), one_line(reason));
    }
    text
}

fn row(node: &TreeChange, style: Style) -> Vec<String> {
    let TreeChange {
        path,
        action,
        cause,
        status,
        tokens,
    } = node;
    vec![
        format!("{INDENT}{}", style.path(one_line(path))),
        one_line(action),
        one_line(cause),
        one_line(status),
        format!("{tokens} tokens"),
    ]
}

/// Renders the nodes that need a summary.
pub fn pending(answer: &TreePendingResponse, style: Style) -> String {
    let TreePendingResponse { jobs, total } = answer;
    let mut text = String::new();
    for job in jobs {
        let TreeJob {
            path,
            level: _,
            period,
            sources,
            source_digest,
            budget_tokens,
            prompt,
        } = job;
        let _ = writeln!(
            text,
            "{}  {}, at most {budget_tokens} tokens, sources {}",
            style.strong(one_line(period)),
            style.path(one_line(path)),
            one_line(source_digest)
        );
        for source in sources {
            let _ = writeln!(text, "{INDENT}← {}", one_line(source));
        }
        let _ = writeln!(text, "{INDENT}{}", one_line(prompt));
    }
    let more = total.saturating_sub(jobs.len() as u64);
    if more > 0 {
        let _ = writeln!(text, "and {more} more");
    }
    text
}

/// Renders the acceptance of a submitted summary.
pub fn submitted(answer: &TreeSubmitResponse, style: Style) -> String {
    let TreeSubmitResponse {
        path,
        status,
        tokens,
        overlap_percent,
    } = answer;
    format!(
        "{}: accepted, {}, {tokens} tokens, {overlap_percent} % of its words occur in the sources\n",
        style.path(one_line(path)),
        one_line(status)
    )
}
