//! Rendering of index entries and of their strength.

use hippo_proto::{
    EntryOrigin, EntryPlace, EntryPriority, IndexEntry, IndexForgetResponse, IndexListResponse,
    IndexShowResponse, Pointer, RememberResponse,
};

use super::{INDENT, bar, lines, one_line, pair, plural, short, table};
use crate::output::Style;

/// Maximum number of characters of a topic in a table.
const TOPIC: usize = 40;
/// Width of a bar.
const BAR: usize = 10;
/// The name of the index file. Entries that do not fit into the index file are listed in other files.
const INDEX_FILE: &str = "HIPPOCAMPUS.md";

/// Renders the entries, one per line: id, strength, band, topic and first pointer. On a terminal of `width` columns, the
/// strength is a bar, and the topic fills the rest of the line.
pub fn list(answer: &IndexListResponse, width: Option<usize>, style: Style) -> String {
    let rows = answer.entries.iter().map(|entry| {
        let band = match entry.place {
            EntryPlace::Index => entry.band.name().to_owned(),
            EntryPlace::Queue => format!("{}, queue", entry.band),
            EntryPlace::Archive => format!("{}, archive", entry.band),
        };
        let id = style.strong(one_line(&entry.id));
        let strength = format!("{:.2}", entry.strength);
        if width.is_some() {
            let bar = style.path(bar(entry.strength.into(), BAR));
            return vec![format!("{bar} {strength}"), band, id];
        }
        let more = match entry.pointers.len() {
            0 | 1 => String::new(),
            count => style.quiet(format!(" +{}", count - 1)),
        };
        let first = entry.pointers.first().map(pointer).unwrap_or_default();
        let topic = short(&one_line(&entry.topic), TOPIC);
        vec![id, strength, band, topic, style.path(first) + &more]
    });
    let rows: Vec<Vec<String>> = rows.collect();
    let Some(width) = width else {
        return table(&rows, 5);
    };
    let bands = rows.iter().map(|row| row[1].chars().count()).max();
    let ids = answer.entries.iter().map(|entry| entry.id.chars().count()).max();
    let taken = BAR + 5 + bands.unwrap_or(0) + ids.unwrap_or(0) + 6;
    let room = width.saturating_sub(taken);
    let rows = rows.into_iter().zip(&answer.entries).map(|(mut row, entry)| {
        if room > 0 {
            row.push(style.quiet(short(&one_line(&entry.topic), room)));
        }
        row
    });
    table(&rows.collect::<Vec<_>>(), 4)
}

/// Returns the notes that are printed together with the list of entries.
pub fn notes(answer: &IndexListResponse) -> Vec<String> {
    let shown = answer.entries.len() as u64;
    let tokens = plural(answer.tokens, "token");
    let head = match answer.total {
        0 => "no entries".to_owned(),
        total if shown < total => {
            format!("note: {shown} of {total} entries; the index file has {tokens}")
        }
        total => format!("{}; the index file has {tokens}", plural(total, "entry")),
    };
    let notes = answer.notes.iter().map(|note| format!("note: {note}"));
    std::iter::once(head).chain(notes).collect()
}

/// Renders an entry with the reasons for its strength and priority, one line for each property.
pub fn show(answer: &IndexShowResponse, style: Style) -> String {
    let entry = &answer.entry;
    let id = style.strong(one_line(&entry.id));
    let mut text = format!("{id}: {}\n", one_line(&entry.topic));
    if !entry.summary.is_empty() {
        text += &format!("{INDENT}{}\n", one_line(&entry.summary));
    }
    text += &places(answer, style);
    let mut add = |label: &str, value: String| text += &pair(label, &one_line(&value));
    if !entry.scope.is_shared() {
        add("scope", entry.scope.to_string());
    }
    add("strength", format!("{:.2}, {}", entry.strength, entry.band));
    let when = match entry.hits {
        0 => "0 times since".to_owned(),
        1 => "once, on".to_owned(),
        hits => format!("{hits} times, last on"),
    };
    let then = format!("; strength then {:.2}", answer.base_strength);
    add("accessed", format!("{when} {}{then}", entry.accessed));
    let curve = std::iter::once(&answer.curve).chain(&answer.modifiers);
    curve.for_each(|line| add("decay", line.clone()));
    for next in &answer.forecast {
        if let Some(at) = &next.at {
            add("then", format!("{} on {at}, unless it is accessed", next.event));
        }
    }
    let rule = answer.priority_rule.as_ref();
    let rule = rule.map(|rule| format!(" (set by the rule \"{rule}\")"));
    let priority = priority(entry.priority);
    add("priority", format!("{priority}{}", rule.unwrap_or_default()));
    let group = match entry.group.as_str() {
        "" => String::new(),
        group => format!(", under {group}"),
    };
    add("listed", listed(answer) + &group);
    let origin = match entry.origin {
        EntryOrigin::Defrag => "a consolidation run",
        EntryOrigin::Manual => "a person or an agent",
        EntryOrigin::Retrieval => "a search that found text without an entry",
        EntryOrigin::Auto => "the scan of a file",
    };
    let (created, version) = (&entry.created, entry.version);
    add("created", format!("{created} by {origin}; version {version}"));
    for (label, names) in [("tags", &entry.tags), ("related", &entry.related)] {
        if !names.is_empty() {
            add(label, names.join(", "));
        }
    }
    text
}

/// Renders the location of a remembered text in the daily log, and the entry of the text.
pub fn remembered(answer: &RememberResponse, style: Style) -> String {
    let lines = lines(answer.start_line, answer.end_line);
    let place = style.path(format!("{}:{lines}", one_line(&answer.path)));
    let entry = answer.entry.as_ref();
    let entry = entry.map(|entry| changed("entry", entry, style));
    format!("remembered in {place}\n{}", entry.unwrap_or_default())
}

/// Renders an entry after a change.
pub fn changed(what: &str, entry: &IndexEntry, style: Style) -> String {
    let (id, topic) = (style.strong(one_line(&entry.id)), one_line(&entry.topic));
    let (strength, band, priority) = (entry.strength, entry.band, entry.priority.name());
    format!("{what} {id}: {topic}\n{INDENT}strength {strength:.2}, {band}; priority {priority}\n")
}

/// Renders the removal of an entry from the index file, with the command that restores the entry.
pub fn forgot(answer: &IndexForgetResponse, style: Style) -> String {
    let id = one_line(&answer.id);
    let strong = style.strong(&id);
    format!(
        "removed {strong} from the index file; its files stay unchanged; restore the entry with: hippoctl index \
         restore {id}\n"
    )
}

/// Renders the pointers of an entry, one per line. A pointer whose target does not exist is marked.
fn places(answer: &IndexShowResponse, style: Style) -> String {
    let mut stale: Vec<&String> = answer.stale.iter().collect();
    let mut text = String::new();
    let lost = style.bad(" does not exist");
    for place in &answer.entry.pointers {
        let written = place.to_string();
        let known = stale.len();
        stale.retain(|it| **it != written);
        let lost = if stale.len() < known { &*lost } else { "" };
        text += &format!("{INDENT}→ {}{lost}\n", style.path(pointer(place)));
    }
    for it in stale {
        text += &format!("{INDENT}→ {}{lost}\n", style.path(one_line(it)));
    }
    text
}

/// Returns the name of the file that lists an entry, for display.
fn listed(answer: &IndexShowResponse) -> String {
    let below = answer.file.as_deref().filter(|file| *file != INDEX_FILE);
    match (answer.entry.place, below) {
        (EntryPlace::Index, Some(file)) => format!("in {file}, because the index file has no room"),
        (EntryPlace::Index, None) => "in the index file".to_owned(),
        (EntryPlace::Queue, _) => "in the index file's queue of fading entries".to_owned(),
        (EntryPlace::Archive, _) => {
            let since = answer.archived.as_deref().and_then(|at| at.get(..10));
            let since = since.map_or_else(String::new, |day| format!(" since {day}"));
            let id = &answer.entry.id;
            format!("not in the index file{since}; restore it with: hippoctl index restore {id}")
        }
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
        EntryPriority::Amygdala => "amygdala: it never fades",
        EntryPriority::High => "high: it is listed first, but fades at the standard rate",
        EntryPriority::Normal => "normal",
        EntryPriority::Low => "low: it fades faster",
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
            scope: hippo_proto::Scope::Shared,
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
            scope: hippo_proto::Scope::Shared,
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
            archived: None,
        }
    }

    #[test]
    fn entries_are_rendered_without_colour() {
        insta::assert_snapshot!(list(&answer(), None, Style::default()));
        insta::assert_snapshot!(list(&answer(), Some(60), Style::default()));
        let narrow = list(&answer(), Some(20), Style::default());
        assert!(narrow.lines().all(|line| !line.contains("Acme")), "{narrow}");
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
        assert_eq!(notes(&empty), ["no entries"]);
    }

    #[test]
    fn an_entry_is_explained() {
        insta::assert_snapshot!(show(&shown(), Style::default()));
    }

    #[test]
    fn an_entry_in_another_file_is_shown_with_that_file() {
        let file = Some(".hippocampus/topics/acme.md".to_owned());
        let text = show(&IndexShowResponse { file, ..shown() }, Style::default());
        assert!(
            text.contains("listed   in .hippocampus/topics/acme.md, because"),
            "{text}"
        );
        let file = Some(INDEX_FILE.to_owned());
        let text = show(&IndexShowResponse { file, ..shown() }, Style::default());
        assert!(
            text.contains("listed   in the index file, under Projects\n"),
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
            archived: Some("2026-03-02T07:00:00Z".into()),
        };
        insta::assert_snapshot!(show(&answer, Style::default()));
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

    #[test]
    fn the_location_of_a_text_is_rendered() {
        let entry = IndexEntry {
            id: "deploys".into(),
            topic: "Deploys \x1b[31mnever on Fridays".into(),
            strength: 1.0,
            band: StrengthBand::Strong,
            ..entry()
        };
        let answer = RememberResponse {
            path: "memory/2026-03-01.md".into(),
            start_line: 12,
            end_line: 14,
            entry: Some(entry),
            secrets: vec![],
            notes: vec![],
        };
        let without = RememberResponse {
            end_line: 12,
            entry: None,
            ..answer.clone()
        };
        let plain = remembered(&answer, Style::default()) + &remembered(&without, Style::default());
        insta::assert_snapshot!(plain);
        let colour = remembered(&answer, Style { colour: true });
        insta::assert_snapshot!(colour.replace('\x1b', "^"));
    }
}
