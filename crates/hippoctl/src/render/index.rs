//! Rendering of index entries and of their strength.

use std::fmt::Write;

use hippo_proto::{
    EntryOrigin, EntryPlace, EntryPriority, IndexEntry, IndexForgetResponse, IndexListResponse,
    IndexShowResponse, Pointer,
};

use super::{INDENT, one_line, plural, short, table};
use crate::output::Style;

/// Maximum number of characters of a topic in a table.
const TOPIC: usize = 40;
/// The name of the index file, which contains the entries that fit into it.
const INDEX_FILE: &str = "HIPPOCAMPUS.md";

/// Renders the entries, one per line: id, strength, band, topic and first pointer.
pub fn list(answer: &IndexListResponse, style: Style) -> String {
    let rows = answer.entries.iter().map(|entry| {
        let band = match entry.place {
            EntryPlace::Index => entry.band.name().to_owned(),
            EntryPlace::Queue => format!("{}, queue", entry.band),
            EntryPlace::Archive => format!("{}, archive", entry.band),
        };
        let more = match entry.pointers.len() {
            0 | 1 => String::new(),
            count => style.quiet(format!(" +{}", count - 1)),
        };
        let first = entry.pointers.first().map(pointer).unwrap_or_default();
        vec![
            style.strong(one_line(&entry.id)),
            format!("{:.2}", entry.strength),
            band,
            short(&one_line(&entry.topic), TOPIC),
            style.path(first) + &more,
        ]
    });
    table(&rows.collect::<Vec<_>>(), 5)
}

/// Returns the notes that are printed beside the list.
pub fn notes(answer: &IndexListResponse) -> Vec<String> {
    let shown = answer.entries.len() as u64;
    let tokens = plural(answer.tokens, "token");
    let head = match answer.total {
        0 => "the index has no entries".to_owned(),
        total if shown < total => {
            format!("note: {shown} of {total} entries; the index file has {tokens}")
        }
        1 => format!("1 entry; the index file has {tokens}"),
        total => format!("{total} entries; the index file has {tokens}"),
    };
    let notes = answer.notes.iter().map(|note| format!("note: {note}"));
    std::iter::once(head).chain(notes).collect()
}

/// Renders one entry and explains its strength in plain sentences.
pub fn show(answer: &IndexShowResponse, at: Option<&str>, style: Style) -> String {
    let entry = &answer.entry;
    let mut text = format!(
        "{}: {}\n",
        style.strong(one_line(&entry.id)),
        one_line(&entry.topic)
    );
    // Writing to a string cannot fail.
    if !entry.summary.is_empty() {
        let _ = writeln!(text, "{INDENT}{}", one_line(&entry.summary));
    }
    places(&mut text, answer, style);
    text.push('\n');
    let when = match at {
        Some(at) => format!("At {} its strength is", one_line(at)),
        None => "Its strength is".to_owned(),
    };
    let strength = style.strong(format!("{:.2}", entry.strength));
    let _ = writeln!(text, "{when} {strength}: {}.", entry.band);
    let accesses = match entry.hits {
        0 => "It has not been accessed since".to_owned(),
        1 => "It was accessed once, on".to_owned(),
        hits => format!("It was accessed {hits} times, last on"),
    };
    let _ = writeln!(
        text,
        "{accesses} {}, when its strength was {:.2}.",
        one_line(&entry.accessed),
        answer.base_strength
    );
    let _ = writeln!(text, "Since then: {}", one_line(&answer.curve));
    for modifier in &answer.modifiers {
        let _ = writeln!(text, "{INDENT}{}", one_line(modifier));
    }
    let priority = priority(entry.priority);
    let _ = match &answer.priority_rule {
        Some(rule) => writeln!(
            text,
            "{priority} The rule \"{}\" set this priority.",
            one_line(rule)
        ),
        None => writeln!(text, "{priority}"),
    };
    forecast(&mut text, answer);
    text.push('\n');
    about(&mut text, answer);
    text
}

/// Renders an entry after a change.
pub fn changed(what: &str, entry: &IndexEntry, style: Style) -> String {
    format!(
        "{what} {}: {}\n{INDENT}strength {:.2}, {}; priority {}\n",
        style.strong(one_line(&entry.id)),
        one_line(&entry.topic),
        entry.strength,
        entry.band,
        entry.priority.name()
    )
}

/// Renders the removal of an entry from the index file, with the command that restores the entry.
pub fn forgot(answer: &IndexForgetResponse, style: Style) -> String {
    let id = one_line(&answer.id);
    format!(
        "removed {} from the index file; its files stay unchanged; restore the entry with: hippoctl index restore \
         {id}\n",
        style.strong(&id)
    )
}

fn places(text: &mut String, answer: &IndexShowResponse, style: Style) {
    let mut stale: Vec<&str> = answer.stale.iter().map(String::as_str).collect();
    for place in &answer.entry.pointers {
        let written = match &place.section {
            Some(section) => format!("{} §{section}", place.path),
            None => place.path.clone(),
        };
        let known = stale.len();
        stale.retain(|it| *it != written);
        let lost = if stale.len() < known {
            style.bad(" does not exist")
        } else {
            String::new()
        };
        let _ = writeln!(text, "{INDENT}→ {}{lost}", style.path(pointer(place)));
    }
    for it in stale {
        let _ = writeln!(
            text,
            "{INDENT}→ {}{}",
            style.path(one_line(it)),
            style.bad(" does not exist")
        );
    }
}

fn forecast(text: &mut String, answer: &IndexShowResponse) {
    if answer.forecast.iter().all(|next| next.at.is_none()) {
        return;
    }
    let _ = writeln!(text, "Unless it is accessed:");
    let rows = answer.forecast.iter().map(|next| {
        let at = next.at.as_deref().map_or_else(|| "never".to_owned(), one_line);
        vec![format!("{INDENT}{}", one_line(&next.event)), at]
    });
    text.push_str(&table(&rows.collect::<Vec<_>>(), 2));
}

fn about(text: &mut String, answer: &IndexShowResponse) {
    let entry = &answer.entry;
    let below = answer.file.as_deref().filter(|file| *file != INDEX_FILE);
    let below = below.map(|file| {
        format!(
            "It is listed in {}, because the index file has no room for it",
            one_line(file)
        )
    });
    let place = match entry.place {
        EntryPlace::Index if below.is_some() => below.as_deref().unwrap_or_default(),
        EntryPlace::Index => "It is listed in the index file",
        EntryPlace::Queue => "It is listed in the index file's queue of fading entries",
        EntryPlace::Archive => "It is not in the index file; restore it with: hippoctl index restore",
    };
    let _ = match (entry.place, entry.group.is_empty()) {
        (EntryPlace::Archive, _) => writeln!(text, "{place} {}", one_line(&entry.id)),
        (_, true) => writeln!(text, "{place}."),
        (_, false) => writeln!(text, "{place}, under {}.", one_line(&entry.group)),
    };
    let origin = match entry.origin {
        EntryOrigin::Defrag => "a consolidation run",
        EntryOrigin::Manual => "a person or an agent",
        EntryOrigin::Retrieval => "a search that found text without an entry",
        EntryOrigin::Auto => "the scan of a file",
    };
    let _ = writeln!(
        text,
        "It was created on {} by {origin}; this is version {}.",
        one_line(&entry.created),
        entry.version
    );
    if !entry.tags.is_empty() {
        let _ = writeln!(text, "Its tags are {}.", one_line(&entry.tags.join(", ")));
    }
    if !entry.related.is_empty() {
        let _ = writeln!(text, "It is related to {}.", one_line(&entry.related.join(", ")));
    }
}

/// Formats a pointer in the form that `get` accepts.
fn pointer(pointer: &Pointer) -> String {
    one_line(&match &pointer.section {
        Some(section) => format!("{}#{section}", pointer.path),
        None => pointer.path.clone(),
    })
}

fn priority(priority: EntryPriority) -> &'static str {
    match priority {
        EntryPriority::Amygdala => "Its priority is amygdala: it never fades.",
        EntryPriority::High => "Its priority is high: it is listed first, but fades at the standard rate.",
        EntryPriority::Normal => "Its priority is normal.",
        EntryPriority::Low => "Its priority is low: it fades faster.",
    }
}

#[cfg(test)]
mod tests {
    use hippo_proto::IndexForecast;

    use super::*;
    use hippo_proto::StrengthBand;

    fn entry() -> IndexEntry {
        IndexEntry {
            id: "acme-deploy".into(),
            topic: "Acme deploys".into(),
            summary: "When and how Acme deploys.".into(),
            pointers: vec![
                Pointer {
                    path: "memory/2026-01-10.md".into(),
                    section: Some("Deploy".into()),
                },
                Pointer {
                    path: "RUNBOOK.md".into(),
                    section: None,
                },
            ],
            strength: 0.734,
            band: StrengthBand::Moderate,
            place: EntryPlace::Index,
            group: "Projects".into(),
            tags: vec!["deploy".into(), "acme".into()],
            related: vec!["acme".into()],
            priority: EntryPriority::High,
            origin: EntryOrigin::Manual,
            created: "2026-01-01T00:00:00Z".into(),
            accessed: "2026-01-10T09:30:00Z".into(),
            hits: 3,
            version: 2,
        }
    }

    fn bare() -> IndexEntry {
        IndexEntry {
            id: "crane".into(),
            topic: "Harbour crane firmware, its \x1b[31mquirks and the order of steps".into(),
            summary: String::new(),
            pointers: vec![],
            strength: 0.05,
            band: StrengthBand::Silent,
            place: EntryPlace::Archive,
            group: String::new(),
            tags: vec![],
            related: vec![],
            priority: EntryPriority::Amygdala,
            origin: EntryOrigin::Auto,
            hits: 0,
            version: 1,
            ..entry()
        }
    }

    fn answer() -> IndexListResponse {
        let queued = IndexEntry {
            id: "old".into(),
            topic: "Old".into(),
            strength: 0.2,
            band: StrengthBand::Decaying,
            place: EntryPlace::Queue,
            pointers: entry().pointers[1..].to_vec(),
            ..entry()
        };
        IndexListResponse {
            entries: vec![entry(), queued, bare()],
            total: 9,
            tokens: 1200,
            notes: vec!["tokens are bytes/4".into()],
        }
    }

    fn shown() -> IndexShowResponse {
        let next = |event: &str, at: Option<&str>| IndexForecast {
            event: event.into(),
            at: at.map(str::to_owned),
        };
        IndexShowResponse {
            entry: entry(),
            base_strength: 0.92,
            curve: "0.92 · (1 + 0.1 · 36)^(−0.15) = 0.73".into(),
            modifiers: vec!["made by hand: the exponent is multiplied by 0.5".into()],
            priority_rule: Some("decision".into()),
            forecast: vec![
                next("weak", Some("2026-03-01T00:00:00Z")),
                next("decaying", Some("2026-09-01T00:00:00Z")),
                next("silent", None),
            ],
            stale: vec!["memory/2026-01-10.md §Deploy".into(), "gone.md".into()],
            file: None,
        }
    }

    #[test]
    fn entries_are_rendered_without_colour() {
        insta::assert_snapshot!(list(&answer(), Style::default()));
    }

    #[test]
    fn notes_of_a_list_are_rendered() {
        insta::assert_snapshot!(notes(&answer()).join("\n"));
        let empty = IndexListResponse {
            entries: vec![],
            total: 0,
            tokens: 0,
            notes: vec![],
        };
        assert_eq!(notes(&empty), ["the index has no entries"]);
    }

    #[test]
    fn an_entry_is_explained() {
        insta::assert_snapshot!(show(&shown(), Some("2026-02-01"), Style::default()));
    }

    #[test]
    fn an_entry_in_another_file_is_shown_with_that_file() {
        let file = Some(".hippocampus/topics/acme.md".to_owned());
        let text = show(&IndexShowResponse { file, ..shown() }, None, Style::default());
        assert!(
            text.contains("It is listed in .hippocampus/topics/acme.md, because"),
            "{text}"
        );
        let file = Some(INDEX_FILE.to_owned());
        let text = show(&IndexShowResponse { file, ..shown() }, None, Style::default());
        assert!(
            text.contains("It is listed in the index file, under Projects."),
            "{text}"
        );
    }

    #[test]
    fn an_entry_that_never_fades_is_explained() {
        let answer = IndexShowResponse {
            entry: bare(),
            base_strength: 0.05,
            curve: "it does not fade".into(),
            modifiers: vec![],
            priority_rule: None,
            forecast: vec![IndexForecast {
                event: "archive".into(),
                at: None,
            }],
            stale: vec![],
            file: None,
        };
        insta::assert_snapshot!(show(&answer, None, Style::default()));
    }

    #[test]
    fn changes_are_rendered_in_colour() {
        let style = Style { colour: true };
        let forgotten = IndexForgetResponse {
            id: "acme-deploy".into(),
        };
        let text = changed("pinned", &entry(), style) + &forgot(&forgotten, style);
        insta::assert_snapshot!(text.replace('\x1b', "^"));
    }
}
