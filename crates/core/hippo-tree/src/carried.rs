//! Lines kept from a `ROOT.md` by another author.

use std::collections::BTreeSet;

use hippo_redact::without_secrets;
use hippo_text::text::take_room;
use hippo_types::time::{Date, days_between};
use hippo_types::tokens;

use super::root::{ChildNode, PassageLookup, TITLES, root_sections, write_sections};

const HISTORY: &str = TITLES[2];
const INDEX: &str = TITLES[3];
/// Kept lines use at most 1/3 of the room.
const SHARE: usize = 3;

/// A `ROOT.md` by another author.
#[derive(Debug, Clone, Copy)]
pub struct ForeignRoot<'a> {
    /// Body without front matter.
    pub body: &'a str,
    /// Date to which the ages in the body refer.
    pub updated: Date,
}

/// Returns the body of `ROOT.md` from the nodes and from a previous version by another author.
///
/// Keeps the history lines and topics of the previous version, unless the nodes cover the same topic. If the room is
/// too small, earlier lines have priority.
#[must_use]
pub(super) fn build_root_body(
    nodes: &[ChildNode<'_>],
    passages: &PassageLookup<'_>,
    carried: Option<ForeignRoot<'_>>,
    today: Date,
    most: usize,
) -> String {
    let mut sections = root_sections(nodes, passages, today, most);
    if let Some(carried) = carried {
        let known: BTreeSet<String> = sections[3].iter().filter_map(|line| topic(line)).collect();
        let shown = without_secrets(carried.body);
        let mut room = tokens::bytes(most) / SHARE;
        let mut fits = |line: &String| take_room(&mut room, line.len() + 1);
        let topics: Vec<String> = section(&shown, INDEX)
            .filter(|line| topic(line).is_none_or(|topic| !known.contains(&topic)))
            .map(|line| add_age(line, days_between(carried.updated, today)))
            .filter(&mut fits)
            .collect();
        let past = section(&shown, HISTORY).map(str::to_owned);
        let past: Vec<String> = past.filter(&mut fits).collect();
        let taken: usize = topics.iter().chain(&past).map(|line| line.len() + 1).sum();
        // Room for the headings of sections that contain only kept lines.
        let titles = INDEX.len() + HISTORY.len() + 4;
        let left = tokens::bytes(most).saturating_sub(taken + titles) / 4;
        sections = root_sections(nodes, passages, today, left);
        sections[2].extend(past);
        sections[3].extend(topics);
    }
    let body = write_sections(&sections, most);
    // With little content, there are no topics yet, but the file must exist for its readers.
    if body.is_empty() {
        format!("{INDEX}\n")
    } else {
        body
    }
}

/// Returns the list lines of a section.
fn section<'t>(body: &'t str, title: &'static str) -> impl Iterator<Item = &'t str> {
    let mut within = false;
    body.lines().filter(move |line| {
        if line.starts_with("## ") {
            within = line.starts_with(title);
        }
        within && line.starts_with("- ")
    })
}

/// Returns the topic name of a line.
fn topic(line: &str) -> Option<String> {
    let name = line.strip_prefix("- ")?.split([':', '[']).next()?.trim();
    (!name.is_empty()).then(|| name.to_lowercase())
}

/// Returns the line with the age in `[type, 12d]` increased by `days`; a reference older than 30 days is marked for
/// review.
fn add_age(line: &str, days: i32) -> String {
    let tags = line
        .split_once('[')
        .and_then(|(before, rest)| Some((before, rest.split_once(']')?)));
    let Some((before, (inner, after))) = tags else {
        return line.to_owned();
    };
    let mut parts: Vec<String> = inner.split(',').map(|part| part.trim().to_owned()).collect();
    let mut age: Option<i32> = None;
    for part in &mut parts {
        if let Some(Ok(number)) = part.strip_suffix('d').map(str::parse::<i32>) {
            let older = number.saturating_add(days.max(0));
            *part = format!("{older}d");
            age = Some(older);
        }
    }
    let reference = parts.first().is_some_and(|kind| kind == "reference");
    if reference && age.is_some_and(|age| age > 30) && !parts.iter().any(|part| part == "?") {
        parts.push("?".to_owned());
    }
    format!("{before}[{}]{after}", parts.join(", "))
}

#[cfg(test)]
mod tests {
    use jiff::civil::date;
    use proptest::prelude::*;

    use super::*;

    const THEIRS: &str = "## Active Context (recent ~7 days)\n- harbour move: to pier 4\n\n## Historical Summary\n- 2025-11: the old depot burnt down\n\n## Topics Index\n- depot [project, 120d]: fire, insurance → knowledge/depot.md\n- wiki [reference, 20d]: https://wiki.example/crates\n- warehouse [project, 3d]: piers\n- bare: words\n";

    #[test]
    fn carried_history_and_topics_are_kept_and_age() {
        let body = "## Topics\nWarehouse [project]\n\n## Key Decisions\n- Warehouse: crate 7 goes to pier 3 → memory/2026-03-19.md#L4\n";
        let node = ChildNode {
            date: date(2026, 3, 19),
            path: "memory/daily/2026-03-19.md",
            first_line: 1,
            body,
            accesses: 0,
        };
        let carried = ForeignRoot {
            body: THEIRS,
            updated: date(2026, 3, 1),
        };
        let text = build_root_body(&[node], &|_, _| None, Some(carried), date(2026, 3, 20), 3_000);
        assert!(
            text.contains("- depot [project, 139d]: fire, insurance → knowledge/depot.md"),
            "{text}"
        );
        assert!(
            text.contains("- wiki [reference, 39d, ?]: https://wiki.example/crates"),
            "{text}"
        );
        assert!(text.contains("- 2025-11: the old depot burnt down"), "{text}");
        assert!(text.contains("- bare: words"), "{text}");
        assert!(
            text.contains("crate 7") || text.contains("memory/2026-03-19.md"),
            "{text}"
        );
        let order: Vec<usize> = ["## Historical", "## Topics Index"]
            .iter()
            .map(|title| text.find(title).unwrap())
            .collect();
        assert!(order.is_sorted(), "{text}");
        assert_eq!(text.matches("## Topics Index").count(), 1);
    }

    proptest! {
        #[test]
        fn a_root_with_carried_text_stays_within_its_budget(theirs in "([#-]{1,2} [a-zA-Z \\[\\],0-9:]{0,40}\n){0,60}", most in 200_usize..2_000) {
            let theirs = THEIRS.to_owned() + &theirs;
            let carried = ForeignRoot { body: &theirs, updated: date(2026, 3, 1) };
            let text = build_root_body(&[], &|_, _| None, Some(carried), date(2026, 3, 20), most);
            prop_assert!(tokens::of(&text) <= most, "{}", text.len());
        }
    }
}
