//! How is the file of `ROOT.md` made, so that it stays within its tokens with all that stands around its text?

use crate::time::Date;
use crate::tokens;

use super::carried::{Carried, rooted};
use super::node::{Node, Status};
use super::period::Period;
use super::root;

/// Tokens of what is put around its text where it is loaded: the marks and the heading of a block, the fence of a hook.
const AROUND: usize = 50;
/// Months that its front matter names, the latest ones: the list would take a third of its room within ten years.
const MONTHS: usize = 12;

/// `ROOT.md` from the nodes below it ([`super::told`]), what their passages mean, and one that somebody else wrote before. `months`: the paths of all
/// monthly nodes in the order of time. The whole file takes `most` tokens at most, and leaves room for what is put around it.
/// `None`: not even a title fits.
///
/// It says nothing of its sources' bytes: it stands in prompts, and a line that changes without its body would cost the
/// reader's cache.
#[must_use]
pub fn top(
    nodes: &[root::Node<'_>],
    passages: &root::Passages<'_>,
    carried: Option<Carried<'_>>,
    months: &[String],
    today: Date,
    most: usize,
) -> Option<Node> {
    let named = months[months.len().saturating_sub(MONTHS)..].to_vec();
    let mut node = Node::new(Period::All, Status::Tentative, named, None, String::new());
    node.updated = Some(today);
    let front = tokens::of(&node.write());
    let left = most.saturating_sub(front + AROUND);
    node.body = rooted(nodes, passages, carried, today, left);
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
            let nodes: Vec<root::Node<'_>> = (0..days)
                .zip(&bodies)
                .map(|(at, body)| root::Node { date: day(at), path: "memory/daily/x.md", first_line: 1, body, accesses: 0 })
                .collect();
            let months: Vec<String> = (0..months).map(|at| format!("memory/monthly/{at:04}-01.md")).collect();
            let carried = theirs.then_some(Carried {
                body: "## Historical Summary\n- 2025-11: the old depot burnt down\n\n## Topics Index\n- depot [project, 120d]: fire\n",
                updated: day(0),
            });
            match top(&nodes, &|_, _| None, carried, &months, day(days), most) {
                Some(node) => {
                    let file = node.write();
                    prop_assert!(tokens::of(&file) <= most, "{} of {most}", tokens::of(&file));
                    prop_assert_eq!(&Node::read(Period::All, &file).body, &node.body);
                    // What there is to tell takes the room that it may have.
                    prop_assert!(days < 100 || !(500..1_500).contains(&most) || tokens::of(&file) * 4 > most * 3, "{} of {most}", tokens::of(&file));
                }
                None => prop_assert!(most < 300, "{most}"),
            }
        }
    }
}
