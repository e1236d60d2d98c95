//! Topics and ids of entries.

use std::collections::{BTreeSet, HashMap};

use super::group;
use hippo_text::chunk::ContentHash;
use hippo_text::terms::is_stop;
use hippo_text::text::start;
use hippo_types::entry::EntryId;

/// Maximum number of bytes of a topic.
const TOPIC: usize = 80;
/// Maximum number of bytes of an id.
const ID: usize = 40;
/// Maximum number of headings in a topic.
const SHOWN: usize = 3;

/// Returns the topic of a unit, composed of its outermost headings, or `None` if these headings yield no topic.
///
/// `about` is the title of the file or project. If `project` is true, the topic starts with `about`, unless a heading
/// already contains that title.
pub(super) fn compose_topic(
    titles: &[String],
    about: Option<&str>,
    project: bool,
    is_meaningful: impl Fn(&str) -> bool,
) -> Option<String> {
    let first = |titles: &[&str]| titles[..titles.len().min(SHOWN)].join(", ");
    let all: Vec<&str> = titles.iter().map(String::as_str).collect();
    let shown: Vec<&str> = all.iter().copied().filter(|title| is_meaningful(title)).collect();
    let repeats = |about: &str| {
        all.iter()
            .any(|title| title.contains(about) || about.contains(title))
    };
    let about = about.filter(|about| !repeats(about));
    let topic = match about {
        // A heading of one word is only unique within its file, so the topic also needs the title of the file.
        Some(about) if !shown.is_empty() && (project || (all.len() == 1 && !all[0].contains(' '))) => {
            format!("{about}: {}", first(&shown))
        }
        _ if !shown.is_empty() => first(&shown),
        Some(about) if !all.is_empty() => format!("{about}: {}", first(&all)),
        _ => return None,
    };
    Some(shorten(&topic))
}

/// Returns the text cut to at most [`TOPIC`] bytes between words. Removes characters that have a meaning in the index
/// file.
pub(super) fn shorten(text: &str) -> String {
    let text = text.replace("<!--", "").replace("-->", "").replace('|', "/");
    let text = text.trim().trim_start_matches(['#', '→', ' ']);
    if text.len() <= TOPIC {
        return text.to_owned();
    }
    let cut = start(text, TOPIC);
    let cut = cut.rsplit_once(' ').map_or(cut, |(words, _)| words);
    cut.trim_end_matches([',', ':', ' ', '-', '(']).to_owned()
}

/// Returns a display name for a path: the file name, or the folder's name if the file name is a convention such as
/// `README.md`.
pub(super) fn file_name(path: &str) -> String {
    let mut parts = path.rsplit('/');
    let name = parts.next().unwrap_or(path);
    let stem = name.rsplit_once('.').map_or(name, |(stem, _)| stem);
    let convention = [
        "project", "readme", "skill", "index", "notes", "overview", "main", "plan", "agents", "claude",
    ];
    let is_convention = convention.iter().any(|known| stem.eq_ignore_ascii_case(known));
    let folder = parts.next().filter(|_| is_convention);
    group::title(folder.unwrap_or(stem))
}

/// Allocator of unique entry ids.
///
/// An id is a slug of the file name and the heading, and does not depend on other files. If the slug is already taken,
/// or if `part` is given, a hash of the path, the heading and `part` is appended.
pub(super) struct IdAllocator {
    taken: BTreeSet<EntryId>,
    given: HashMap<String, u32>,
}

impl IdAllocator {
    pub fn new(taken: &BTreeSet<EntryId>) -> Self {
        Self {
            taken: taken.clone(),
            given: HashMap::new(),
        }
    }

    /// Assigns an id to content in `path` below `title`. `part` distinguishes several entries for parts of one section.
    pub fn assign(&mut self, path: &str, title: &str, part: Option<ContentHash>) -> EntryId {
        let mut plain = slug(&format!("{} {title}", file_name(path)));
        if plain.is_empty() {
            plain.push_str("entry");
        }
        let hash = part.map_or_else(String::new, |hash| hash.to_string());
        let key = format!("{path}\n{title}\n{hash}");
        let again = self.given.entry(key.clone()).or_default();
        *again += 1;
        let mark = ContentHash::of(format!("{key}\n{again}").as_bytes()).to_string();
        let first = part.is_none().then(|| EntryId(plain.clone()));
        let longer = (4..=mark.len()).map(|length| EntryId(format!("{plain}-{}", &mark[..length])));
        let mut choice = first.into_iter().chain(longer);
        let free = choice.find(|id| !self.taken.contains(id));
        let id = free.unwrap_or(EntryId(mark));
        self.taken.insert(id.clone());
        id
    }
}

/// Returns the words of a text in lower case, joined by `-`, without stop words and repetitions.
pub(super) fn slug(text: &str) -> String {
    let mut out = String::new();
    let mut used: Vec<String> = Vec::new();
    let words = text.split(|mark: char| !mark.is_alphanumeric());
    for word in words.filter(|word| !word.is_empty()).map(str::to_lowercase) {
        let number = word.chars().all(|mark| mark.is_ascii_digit());
        if (is_stop(&word) || used.contains(&word)) && !number {
            continue;
        }
        if out.len() + word.len() + 1 > ID {
            break;
        }
        if !out.is_empty() {
            out.push('-');
        }
        out.push_str(&word);
        used.push(word);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_do_not_depend_on_other_files() {
        let mut ids = IdAllocator::new(&BTreeSet::new());
        let one = ids.assign("projects/heron/PROJECT.md", "Next", None);
        assert_eq!(one.0, "heron-next");
        let twin = ids.assign("archive/heron/PROJECT.md", "Next", None);
        assert!(twin != one && twin.0.starts_with("heron-next-"));
        let again = ids.assign("projects/heron/PROJECT.md", "Next", None);
        assert!(again != one && again != twin);
        let mut others = IdAllocator::new(&BTreeSet::new());
        others.assign("knowledge/else.md", "Next", None);
        assert_eq!(others.assign("projects/heron/PROJECT.md", "Next", None), one);
        assert_eq!(ids.assign("", "", None).0, "entry");
        assert_eq!(slug("The Rules of the House, the house"), "rules-house");
    }

    #[test]
    fn topics_use_meaningful_names() {
        let tells = |title: &str| title != "Overview" && title != "Session 1";
        let topic = |titles: &[&str]| {
            let titles: Vec<String> = titles.iter().map(|title| (*title).to_owned()).collect();
            compose_topic(&titles, Some("Heron"), false, tells)
        };
        assert_eq!(topic(&["Overview"]).unwrap(), "Heron: Overview");
        assert_eq!(topic(&["Slots", "Board"]).unwrap(), "Slots, Board");
        assert_eq!(topic(&[]), None);
        assert!(shorten(&"word ".repeat(40)).len() <= TOPIC);
    }
}
