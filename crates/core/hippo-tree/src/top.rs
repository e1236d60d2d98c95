//! The file `ROOT.md` within its token budget.

use hippo_types::time::Date;
use hippo_types::tokens;

use super::carried::{ForeignRoot, build_root_body};
use super::node::{Node, NodeStatus};
use super::period::Period;
use super::root;

/// Size in tokens of the file about few days. A page of this size is read at the start of each session.
const PAGE: usize = 1_200;
/// Number of tokens of the nodes for which the file gets one more token.
const SHARE: usize = 160;
/// Number of tokens reserved for text that is added when the file is inserted into a prompt: block marks and a heading,
/// or the fence of a hook.
const AROUND: usize = 50;
/// Maximum number of months in the front matter; only the latest are listed. After ten years, the full list would take
/// a third of the room.
const MONTHS: usize = 12;

/// Returns the file `ROOT.md`, made from the nodes below it ([`super::collect_root_sources`]), their passages, and a
/// previous version by another author.
///
/// The file is short if the nodes are short: most of its readers need only a part of it. `months` contains the paths of
/// all monthly nodes in order of time. The whole file takes at most `most` tokens, including room for text that is added
/// to a prompt. Returns `None` if not even a title fits.
///
/// The front matter has no digest of the sources: the file is part of prompts, and a line that changes without a
/// change of the body would invalidate prompt caches.
#[must_use]
pub fn build_root_file(
    nodes: &[root::ChildNode<'_>],
    passages: &root::PassageLookup<'_>,
    carried: Option<ForeignRoot<'_>>,
    months: &[String],
    today: Date,
    most: usize,
) -> Option<Node> {
    let below: usize = nodes.iter().map(|node| tokens::of(node.body)).sum();
    let most = most.min(PAGE + below / SHARE);
    let named = months[months.len().saturating_sub(MONTHS)..].to_vec();
    let mut node = Node::new(Period::All, NodeStatus::Tentative, named, None, String::new());
    node.updated = Some(today);
    let front = tokens::of(&node.write());
    let left = most.saturating_sub(front + AROUND);
    node.body = build_root_body(nodes, passages, carried, today, left);
    let fits = !node.body.trim().is_empty() && tokens::of(&node.write()) <= most;
    fits.then_some(node)
}

#[cfg(test)]
mod tests {
    use jiff::civil::date;
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn the_file_of_a_root_stays_within_its_tokens(days in 0_i64..200, months in 0_usize..200, theirs in any::<bool>(), most in 0_usize..4_000) {
            let day = |at: i64| date(2026, 1, 1).saturating_add(jiff::Span::new().days(at));
            let bodies: Vec<String> = (0..days)
                .map(|at| format!("## Topics\nharbour {at} [project], pier {at} [reference]\n\n## Key Decisions\n- harbour {at}: Crate {at} goes to Pier {at} → memory/{}.md#L4\n", day(at)))
                .collect();
            let nodes: Vec<root::ChildNode<'_>> = (0..days)
                .zip(&bodies)
                .map(|(at, body)| root::ChildNode { date: day(at), path: "memory/daily/x.md", first_line: 1, body, accesses: 0 })
                .collect();
            let months: Vec<String> = (0..months).map(|at| format!("memory/monthly/{at:04}-01.md")).collect();
            let carried = theirs.then_some(ForeignRoot {
                body: "## Historical Summary\n- 2025-11: the old depot burnt down\n\n## Topics Index\n- depot [project, 120d]: fire\n",
                updated: day(0),
            });
            match build_root_file(&nodes, &|_, _| None, carried, &months, day(days), most) {
                Some(node) => {
                    let file = node.write();
                    prop_assert!(tokens::of(&file) <= most, "{} of {most}", tokens::of(&file));
                    prop_assert_eq!(&Node::read(Period::All, &file).body, &node.body);
                    // The content must use the available room.
                    prop_assert!(days < 100 || !(500..1_500).contains(&most) || tokens::of(&file) * 4 > most * 3, "{} of {most}", tokens::of(&file));
                }
                None => prop_assert!(most < 300, "{most}"),
            }
        }
    }
}
