//! Tests of the tree against the rules of docs/tree.md.

mod laws;
mod submitting;
mod wanted;

use std::collections::BTreeMap;

use jiff::civil::date;

use super::*;
use hippo_text::source::NodeKind;
use hippo_types::time::Date;

const TODAY: Date = date(2026, 3, 20);

/// A workspace in memory, with logs by date and nodes by period.
#[derive(Debug, Clone, Default, PartialEq)]
struct Tree {
    logs: BTreeMap<Date, String>,
    nodes: BTreeMap<Period, String>,
    adopted: BTreeMap<Period, Fingerprint>,
}

impl Tree {
    /// Plans and writes each level once. Returns the steps that were carried out.
    fn compact(&mut self, today: Date, improved: bool) -> Vec<(String, NodeAction, Cause)> {
        let mut taken = Vec::new();
        for level in [NodeKind::Daily, NodeKind::Weekly, NodeKind::Monthly] {
            let sources = self.sources(level);
            let nodes: BTreeMap<Period, Node> = self
                .nodes
                .iter()
                .filter(|(period, _)| period.level() == level)
                .map(|(period, text)| (*period, Node::read(*period, text)))
                .collect();
            let steps = plan(&LevelInput {
                today,
                sources: &sources,
                nodes: &nodes,
                adopted: &self.adopted,
                improved,
            });
            for step in steps {
                taken.push((step.period.to_string(), step.action, step.cause));
                if step.action == NodeAction::Adopt {
                    self.adopted.insert(step.period, step.digest);
                    continue;
                }
                let texts: Vec<(String, String, Option<Date>)> = sources[&step.period]
                    .iter()
                    .map(|source| self.text(&source.path))
                    .collect();
                let texts: Vec<NodeSource> = texts
                    .iter()
                    .map(|(path, text, date)| NodeSource {
                        path: path.clone(),
                        text: text.clone(),
                        first_line: 1,
                        date: *date,
                    })
                    .collect();
                if let Some(node) = make(&step, &texts, nodes.get(&step.period), today, improved) {
                    self.nodes.insert(step.period, node.write());
                }
            }
        }
        taken
    }

    fn sources(&self, level: NodeKind) -> BTreeMap<Period, Vec<SourceFile>> {
        let mut sources: BTreeMap<Period, Vec<SourceFile>> = BTreeMap::new();
        if level == NodeKind::Daily {
            for (day, text) in self.logs.iter().filter(|(_, text)| text.len() >= 50) {
                sources.entry(Period::Day(*day)).or_default().push(SourceFile {
                    path: format!("memory/{day}.md"),
                    digest: Fingerprint::of(text.as_bytes()),
                });
            }
            return sources;
        }
        for (period, text) in &self.nodes {
            if let Some(parent) = period.parent().filter(|parent| parent.level() == level) {
                sources.entry(parent).or_default().push(SourceFile {
                    path: period.path(),
                    digest: Node::read(*period, text).digest(),
                });
            }
        }
        sources
    }

    fn text(&self, path: &str) -> (String, String, Option<Date>) {
        match Period::of_path(path) {
            Some(period) => {
                let node = Node::read(period, &self.nodes[&period]);
                (path.to_owned(), node.body, period.first_day())
            }
            None => {
                let day = hippo_text::source::date_in_name(path).unwrap();
                (path.to_owned(), self.logs[&day].clone(), Some(day))
            }
        }
    }

    fn node(&self, name: &str) -> Node {
        let period = Period::parse(name).unwrap();
        Node::read(period, &self.nodes[&period])
    }
}

fn short_log(day: Date) -> String {
    format!(
        "# {day}\n\n## Harbour [project]\n- decision: the ferry of {day} leaves from pier 9\n- pending: paint the hull\n"
    )
}

fn long_log(day: Date, lines: usize) -> String {
    let line = |number| {
        format!(
            "- decision: crate {number} of {day} goes to warehouse {}\n",
            number % 7
        )
    };
    format!(
        "# {day}\n\n## Warehouse [project]\n{}",
        (0..lines).map(line).collect::<String>()
    )
}

fn with(days: impl IntoIterator<Item = (Date, String)>) -> Tree {
    Tree {
        logs: days.into_iter().collect(),
        ..Tree::default()
    }
}

#[test]
fn the_first_log_makes_a_node_on_each_level() {
    let day = date(2026, 3, 20);
    let mut tree = with([(day, short_log(day))]);
    let steps = tree.compact(TODAY, false);
    let names: Vec<&str> = steps.iter().map(|(name, ..)| name.as_str()).collect();
    assert_eq!(names, ["2026-03-20", "2026-W12", "2026-03"]);
    for name in names {
        let node = tree.node(name);
        assert_eq!(node.status, Some(NodeStatus::Tentative), "{name}");
        assert_eq!(node.writer, BodyAuthor::Hippod);
        assert!(node.body.contains("leaves from pier 9"), "{name}: {}", node.body);
    }
    assert_eq!(
        tree.node("2026-03-20").body,
        short_log(day),
        "verbatim below the threshold"
    );
    assert_eq!(
        tree.compact(TODAY, false),
        [],
        "planned and done is planned no second time"
    );
}

#[test]
fn ended_periods_become_fixed_without_other_changes() {
    let day = date(2026, 3, 20);
    let mut tree = with([(day, short_log(day))]);
    tree.compact(TODAY, false);
    let before = tree.clone();
    let steps = tree.compact(TODAY.tomorrow().unwrap(), false);
    assert_eq!(
        steps,
        [(
            "2026-03-20".to_owned(),
            NodeAction::Restate(NodeStatus::Fixed),
            Cause::Over
        )]
    );
    assert_eq!(tree.node("2026-03-20").body, before.node("2026-03-20").body);
    assert_eq!(
        tree.node("2026-W12"),
        before.node("2026-W12"),
        "what only says another status changes nothing above"
    );
    let steps = tree.compact(date(2026, 5, 1), false);
    assert_eq!(steps.len(), 2, "{steps:?}");
}

#[test]
fn a_long_log_is_extracted_into_a_node_that_points_to_its_lines() {
    let day = date(2026, 3, 18);
    let mut tree = with([(day, long_log(day, 400))]);
    tree.compact(TODAY, false);
    let node = tree.node("2026-03-18");
    assert_eq!(node.lines, Some(403));
    assert!(node.body.len() < tree.logs[&day].len() / 2, "{}", node.body.len());
    let pointed = node
        .body
        .lines()
        .filter(|line| line.contains("memory/2026-03-18.md#L"))
        .count();
    assert!(pointed > 0, "{}", node.body);
    assert_eq!(
        node.status,
        Some(NodeStatus::Fixed),
        "nobody is asked for more unless that is configured"
    );
}

#[test]
fn extracted_nodes_wait_for_summaries_once_their_day_is_over() {
    let (today, before) = (TODAY, date(2026, 3, 18));
    let mut tree = with([
        (before, long_log(before, 400)),
        (today, long_log(today, 400)),
        (date(2026, 3, 17), short_log(before)),
    ]);
    tree.compact(TODAY, true);
    assert_eq!(
        tree.node("2026-03-18").status,
        Some(NodeStatus::NeedsSummarization)
    );
    assert_eq!(
        tree.node("2026-03-20").status,
        Some(NodeStatus::Tentative),
        "it goes on"
    );
    assert_eq!(
        tree.node("2026-03-17").status,
        Some(NodeStatus::Fixed),
        "nothing is missing in it"
    );
    tree.compact(TODAY.tomorrow().unwrap(), true);
    assert_eq!(
        tree.node("2026-03-20").status,
        Some(NodeStatus::NeedsSummarization)
    );
    tree.compact(TODAY.tomorrow().unwrap(), false);
    assert_eq!(
        tree.node("2026-03-20").status,
        Some(NodeStatus::Fixed),
        "nobody improves them any more"
    );
}

#[test]
fn a_late_edit_of_a_log_changes_only_its_own_nodes() {
    let days = [date(2024, 1, 10), date(2025, 6, 3), date(2026, 3, 18)];
    let mut tree = with(days.map(|day| (day, short_log(day))));
    tree.compact(TODAY, false);
    tree.logs
        .get_mut(&days[0])
        .unwrap()
        .push_str("- lesson: the tide tables of 2024 were wrong\n");
    let steps = tree.compact(TODAY, false);
    let names: Vec<&str> = steps.iter().map(|(name, ..)| name.as_str()).collect();
    assert_eq!(names, ["2024-01-10", "2024-W02", "2024-01"]);
    assert!(tree.node("2024-01").body.contains("tide tables"));
    assert_eq!(tree.node("2024-01").status, Some(NodeStatus::Fixed));
}

#[test]
fn existing_nodes_are_unchanged_until_their_sources_change() {
    let day = date(2026, 3, 18);
    let found = "---\ntype: daily\nstatus: fixed\nperiod: 2026-03-18\nsource-files: [memory/2026-03-18.md]\ntopics: [harbour, hull]\nmood: calm\n---\n\n## Topics\nharbour [project]\n\n## Key Decisions\n- pier: 9, for the depth\n";
    let mut tree = with([(day, short_log(day))]);
    let period = Period::Day(day);
    tree.nodes.insert(period, found.to_owned());
    let steps = tree.compact(TODAY, false);
    assert_eq!(
        steps[0],
        ("2026-03-18".to_owned(), NodeAction::Adopt, Cause::Found)
    );
    assert_eq!(tree.nodes[&period], found, "byte for byte");
    assert!(
        tree.node("2026-W12").body.contains("for the depth"),
        "what it says goes up"
    );
    assert_eq!(tree.compact(TODAY, false), []);
    tree.logs
        .get_mut(&day)
        .unwrap()
        .push_str("- decision: the crane is rented until May\n");
    let steps = tree.compact(TODAY, false);
    assert_eq!(steps[0].1, NodeAction::Outdate);
    let node = tree.node("2026-03-18");
    assert_eq!(node.status, Some(NodeStatus::NeedsSummarization));
    assert!(
        node.body
            .starts_with("## Topics\nharbour [project]\n\n## Key Decisions\n- pier: 9, for the depth\n"),
        "{}",
        node.body
    );
    assert!(
        node.body.contains("the crane is rented until May"),
        "{}",
        node.body
    );
    assert!(
        tree.nodes[&period].contains("mood: calm"),
        "{}",
        tree.nodes[&period]
    );
    assert!(
        tree.node("2026-W12").body.contains("the crane is rented"),
        "nobody waits for the summary above"
    );
    assert_eq!(tree.compact(TODAY, false), []);
}

#[test]
fn placeholder_nodes_are_replaced() {
    let day = date(2026, 3, 18);
    let mut tree = with([(day, long_log(day, 300))]);
    tree.nodes.insert(
        Period::Day(day),
        "---\ntype: daily\nstatus: needs-summarization\nperiod: 2026-03-18\nsource-files: [memory/2026-03-18.md]\nlines: 303\n---\n\nThis daily node exceeds 200 lines and needs LLM summarization.\nRun hipocampus-compaction skill to generate the summary.\n".to_owned(),
    );
    let steps = tree.compact(TODAY, false);
    assert_eq!(
        steps[0],
        ("2026-03-18".to_owned(), NodeAction::Make, Cause::Placeholder)
    );
    assert!(!tree.node("2026-03-18").body.contains("needs LLM"));
}

#[test]
fn edited_and_submitted_bodies_are_kept_until_their_sources_change() {
    let day = date(2026, 3, 18);
    let mut tree = with([(day, long_log(day, 300))]);
    tree.compact(TODAY, false);
    let period = Period::Day(day);
    let edited = tree.nodes[&period].replace("goes to warehouse", "was sent to warehouse");
    assert_ne!(edited, tree.nodes[&period]);
    tree.nodes.insert(period, edited.clone());
    assert_eq!(tree.node("2026-03-18").writer, BodyAuthor::Agent);
    let steps = tree.compact(TODAY, false);
    assert!(steps.iter().all(|(name, ..)| name != "2026-03-18"), "{steps:?}");
    assert_eq!(tree.nodes[&period], edited);

    let sources = tree.sources(NodeKind::Daily);
    let files = sources[&period].clone();
    let text = tree.logs[&day].clone();
    let source = [NodeSource {
        path: "memory/2026-03-18.md".to_owned(),
        text,
        first_line: 1,
        date: Some(day),
    }];
    let body = "## Key Decisions\n- crate 12 goes to warehouse 5, the warehouse decision of 2026-03-18\n";
    let (node, overlap) = build_submitted(period, body, None, &files, &source, TODAY).unwrap();
    assert!(overlap >= LEAST_OVERLAP);
    tree.nodes.insert(period, node.write());
    tree.compact(TODAY, false);
    assert_eq!(tree.node("2026-03-18").body, body);
    assert_eq!(tree.node("2026-03-18").status, Some(NodeStatus::Fixed));
    tree.logs
        .get_mut(&day)
        .unwrap()
        .push_str("- decision: crate 900 stays on the quay\n");
    tree.compact(TODAY, false);
    let node = tree.node("2026-03-18");
    assert_eq!(node.status, Some(NodeStatus::NeedsSummarization));
    assert!(node.body.starts_with(body));
}

#[test]
fn no_node_shows_a_secret() {
    let day = date(2026, 3, 18);
    let secret = "- decision: deploy with token: ghp_0123456789abcdefghijABCDEFGHIJ012345\n";
    for lines in [3, 400] {
        let mut tree = with([(day, long_log(day, lines) + secret)]);
        tree.compact(TODAY, false);
        for text in tree.nodes.values() {
            assert!(!text.contains("ghp_0123456789"), "{text}");
        }
    }
}

#[test]
fn days_without_content_have_no_node() {
    let mut tree = with([(date(2026, 3, 18), "# 2026-03-18\n".to_owned())]);
    assert_eq!(tree.compact(TODAY, false), []);
}
