//! Lines of nodes that a later line corrects.

use hippo_map::truth::{DatedText, find_superseded};
use hippo_tree::root::ChildNode;

/// Maximum number of different values of a statement. A statement with more values is probably a form that is filled in
/// repeatedly.
const MOST_VALUES: usize = 8;

/// A line of a node.
struct NodeLine<'n> {
    /// Index of the node.
    at: usize,
    /// Number of the line in the body, 0-based.
    number: u32,
    day: &'n str,
    /// Heading above the line.
    heading: [String; 1],
    /// Text without the pointer at its end.
    text: &'n str,
}

/// Returns the bodies of nodes without the lines that a line of a later day corrects. The other lines keep their
/// numbers.
pub fn current_bodies(nodes: &[ChildNode<'_>]) -> Vec<String> {
    let days: Vec<String> = nodes.iter().map(|node| node.date.to_string()).collect();
    let all = nodes.iter().zip(&days).enumerate();
    let lines: Vec<NodeLine<'_>> = all
        .flat_map(|(at, (node, day))| lines(at, day, node.body))
        .collect();
    let texts = lines.iter().map(|line| DatedText {
        date: Some(line.day),
        // The lines of a node are not in the order of time, so only later days count.
        place: ("", line.number),
        heading: &line.heading,
        text: line.text,
    });
    let newer = find_superseded(&texts.collect::<Vec<_>>(), MOST_VALUES);
    let mut outdated = vec![Vec::new(); nodes.len()];
    for (line, _) in lines.iter().zip(newer).filter(|(_, newer)| newer.is_some()) {
        outdated[line.at].push(line.number);
    }
    let current = |(node, outdated): (&ChildNode<'_>, &Vec<u32>)| {
        let lines = (0..).zip(node.body.split('\n'));
        let kept = lines.map(|(number, line)| if outdated.contains(&number) { "" } else { line });
        kept.collect::<Vec<_>>().join("\n")
    };
    nodes.iter().zip(&outdated).map(current).collect()
}

fn lines<'n>(at: usize, day: &'n str, body: &'n str) -> Vec<NodeLine<'n>> {
    let mut heading = String::new();
    let mut lines = Vec::new();
    for (number, line) in (0..).zip(body.lines()) {
        if line.starts_with('#') {
            line.trim_matches(['#', ' ']).clone_into(&mut heading);
            continue;
        }
        lines.push(NodeLine {
            at,
            number,
            day,
            heading: [heading.clone()],
            text: line.split_once(" → ").map_or(line, |(said, _)| said),
        });
    }
    lines
}
