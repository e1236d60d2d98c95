//! Rendering of the nodes of the compaction tree.

use hippo_proto::{TreeCompactResponse, TreePendingResponse, TreeSubmitResponse};

use super::{INDENT, one_line, plural, table};
use crate::output::Style;

/// Maximum number of changed nodes that are listed.
const LISTED: usize = 40;

/// Renders the nodes of the compaction tree that changed.
pub fn compacted(answer: &TreeCompactResponse, dry_run: bool, style: Style) -> String {
    if !answer.foreign.is_empty() {
        let all = plural(answer.foreign.len() as u64, "node");
        return format!("nothing was changed, because another program wrote {all}\n");
    }
    if !answer.ran {
        return "nothing was checked, because no update is due yet\n".to_owned();
    }
    let (what, end) = match dry_run {
        true => ("dry run", "; nothing was changed"),
        false => ("tree", ""),
    };
    let mut text = format!(
        "{}: {} changed, {} unchanged, as of {}, {:.0} ms{end}\n",
        style.strong(what),
        plural(answer.nodes.len() as u64, "node"),
        answer.unchanged,
        one_line(&answer.today),
        answer.took_ms
    );
    let rows = answer.nodes.iter().take(LISTED).map(|node| {
        vec![
            format!("{INDENT}{}", style.path(one_line(&node.path))),
            one_line(&node.action),
            one_line(&node.cause),
            one_line(&node.status),
            plural(node.tokens, "token"),
        ]
    });
    text += &table(&rows.collect::<Vec<_>>(), 4);
    if answer.nodes.len() > LISTED {
        text += &format!("{INDENT}and {} more\n", answer.nodes.len() - LISTED);
    }
    for refused in &answer.refused {
        let path = style.bad(one_line(&refused.path));
        text += &format!("{path}: {}\n", one_line(&refused.reason));
    }
    text
}

/// Renders the nodes that need a summary.
pub fn pending(answer: &TreePendingResponse, style: Style) -> String {
    let mut text = String::new();
    for job in &answer.jobs {
        let (period, path) = (
            style.strong(one_line(&job.period)),
            style.path(one_line(&job.path)),
        );
        let (most, sources) = (job.budget_tokens, one_line(&job.source_digest));
        text += &format!("{period}  {path}, at most {most} tokens, source digest {sources}\n");
        for source in &job.sources {
            text += &format!("{INDENT}← {}\n", one_line(source));
        }
        text += &format!("{INDENT}{}\n", one_line(&job.prompt));
    }
    let more = answer.total.saturating_sub(answer.jobs.len() as u64);
    if more > 0 {
        text += &format!("and {more} more\n");
    }
    text
}

/// Renders a submitted summary that was accepted.
pub fn submitted(answer: &TreeSubmitResponse, style: Style) -> String {
    let (path, status) = (style.path(one_line(&answer.path)), one_line(&answer.status));
    let (tokens, overlap) = (plural(answer.tokens, "token"), answer.overlap_percent);
    format!("{path}: accepted, {status}, {tokens}, {overlap} % of its words occur in the sources\n")
}
