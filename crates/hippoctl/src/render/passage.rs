//! Search results on a terminal: short passages with marked words, and links to files.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use hippo_proto::SearchHit;
use hippo_text::speaker::is_speaker_term;
use hippo_text::terms::{self, QueryTerm, is_unspaced};
use hippo_text::text::start;

use super::{harmless, lines};
use crate::output::Style;
use crate::output::terminal::file_uri;

/// Maximum number of lines of a passage.
const LINES: usize = 3;
/// Maximum number of bytes of a line.
const WIDTH: usize = 240;

/// The terminal of a person who searches: the folder, the workspace, and the words of the query.
pub struct TerminalView {
    here: PathBuf,
    root: Option<PathBuf>,
    terms: Vec<QueryTerm>,
}

impl TerminalView {
    /// Creates a view. `root` is the workspace to which the paths of the results are relative; without it, the paths
    /// are absolute.
    pub fn new(here: PathBuf, root: Option<PathBuf>, query: &str) -> Self {
        let mut terms = terms::query_terms(query);
        let has_words = terms.iter().any(|term| !term.stop);
        terms.retain(|term| term.stop != has_words && !is_speaker_term(&term.term));
        Self { here, root, terms }
    }

    /// Returns a path of a result relative to the current folder. Outside of the workspace, the path is absolute.
    pub fn path(&self, path: &str) -> String {
        let Some(root) = &self.root else {
            return path.to_owned();
        };
        let Ok(here) = self.here.strip_prefix(root) else {
            return root.join(path).display().to_string();
        };
        let both = here.iter().zip(Path::new(path));
        let same = both.take_while(|(a, b)| a == b).count();
        let up = here.iter().skip(same).map(|_| Path::new("..").as_os_str());
        let below = up.chain(Path::new(path).iter().skip(same));
        below.collect::<PathBuf>().display().to_string()
    }

    /// Returns a text as a link to the file of a result.
    pub fn link(&self, path: &str, text: &str, style: Style) -> String {
        if !style.colour {
            return text.to_owned();
        }
        let path = self.root.as_deref().unwrap_or(Path::new("/")).join(path);
        let uri = file_uri(&path);
        format!("\x1b]8;;{uri}\x1b\\{text}\x1b]8;;\x1b\\")
    }

    /// Returns the lines around the best match of a result, with the words of the query marked. If lines are left out,
    /// the last line is the command that prints the whole passage.
    pub fn passage(&self, hit: &SearchHit, style: Style) -> Vec<String> {
        let text = harmless(&hit.text.replace("\r\n", "\n"));
        let (all, best) = self.best_line(&text);
        let from = usize::min(best.saturating_sub(1), all.len().saturating_sub(LINES));
        let shown = all.iter().skip(from).take(LINES);
        let shown: Vec<String> = shown.map(|line| self.short(line)).collect();
        let is_whole = all.len() <= LINES && all.iter().zip(&shown).all(|(line, shown)| line == shown);
        let mut passage: Vec<String> = shown.iter().map(|line| self.marked(line, style)).collect();
        if !is_whole {
            let path = harmless(&self.path(&hit.path)).replace('\'', "'\\''");
            let lines = lines(hit.start_line, hit.end_line);
            passage.push(style.quiet(format!("… more: hippoctl get '{path}:{lines}'")));
        }
        passage
    }

    /// Returns the lines of a text that are not empty, and the position of the line with the most words of the query.
    pub fn best_line<'a>(&self, text: &'a str) -> (Vec<&'a str>, usize) {
        let all: Vec<&str> = text.lines().filter(|line| !line.trim().is_empty()).collect();
        // Of equally good lines, the first one is the best match.
        let counts = all.iter().map(|line| self.count(line)).enumerate().rev();
        let best = counts.max_by_key(|(_, count)| *count).map_or(0, |(at, _)| at);
        (all, best)
    }

    /// Returns the pieces of a line, and whether each piece is a word of the query.
    pub fn pieces<'a>(&self, line: &'a str) -> Vec<(&'a str, bool)> {
        let mut pieces = Vec::new();
        let mut rest = line;
        while let Some(first) = rest.chars().next() {
            let is_word = first.is_alphanumeric();
            let end = rest.find(|next: char| next.is_alphanumeric() != is_word);
            let (piece, tail) = rest.split_at(end.unwrap_or(rest.len()));
            pieces.push((piece, is_word && self.matches(piece)));
            rest = tail;
        }
        pieces
    }

    fn matches(&self, word: &str) -> bool {
        // A run of a script without spaces can be a whole sentence.
        let is_matched = |found: &String| self.terms.iter().any(|term| is_same(found, term));
        !word.contains(is_unspaced) && terms::index_terms(word).iter().any(is_matched)
    }

    /// Returns the number of distinct words of the query in a line.
    fn count(&self, line: &str) -> usize {
        let words = self.pieces(line).into_iter().filter(|(_, is_match)| *is_match);
        let words: BTreeSet<String> = words.map(|(word, _)| word.to_lowercase()).collect();
        words.len()
    }

    fn marked(&self, line: &str, style: Style) -> String {
        let mark = |(piece, is_match): (&str, bool)| match is_match {
            true => style.strong(piece),
            false => piece.to_owned(),
        };
        self.pieces(line).into_iter().map(mark).collect()
    }

    /// Shortens a long line to the text around the first word of the query.
    fn short(&self, line: &str) -> String {
        let pieces = self.pieces(line).into_iter();
        let before = pieces.take_while(|(_, is_match)| !is_match);
        let at: usize = before.map(|(piece, _)| piece.len()).sum();
        // Without a match, `at` is the end of the line, and its beginning is shown.
        let at = if at < line.len() {
            at.saturating_sub(WIDTH / 3)
        } else {
            0
        };
        let from = line.floor_char_boundary(at.min(line.len().saturating_sub(WIDTH)));
        let middle = start(&line[from..], WIDTH);
        let dots = |is_cut: bool| if is_cut { "…" } else { "" };
        let is_cut = from + middle.len() < line.len();
        format!("{}{}{}", dots(from > 0), middle.trim(), dots(is_cut))
    }
}

fn is_same(found: &str, term: &QueryTerm) -> bool {
    found == term.term || term.prefix && found.starts_with(&term.term)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn view(here: &str, root: Option<&str>) -> TerminalView {
        TerminalView::new(
            here.into(),
            root.map(PathBuf::from),
            "when are the deploys of Staging?",
        )
    }

    #[test]
    fn paths_are_relative_to_the_current_folder() {
        let of = |here, path| view(here, Some("/w")).path(path);
        assert_eq!(of("/w", "memory/a.md"), "memory/a.md");
        assert_eq!(of("/w/memory", "memory/a.md"), "a.md");
        assert_eq!(of("/w/memory/deep", "notes/b.md"), "../../notes/b.md");
        assert_eq!(of("/elsewhere", "memory/a.md"), "/w/memory/a.md");
        assert_eq!(view("/w", None).path("/v/memory/a.md"), "/v/memory/a.md");
    }

    #[test]
    fn a_link_contains_only_characters_of_a_uri() {
        let colour = Style { colour: true };
        let link = view("/w", Some("/w")).link("a b/é\x1b;.md", "text", colour);
        let uri = link.strip_prefix("\x1b]8;;file://").unwrap();
        assert!(
            uri.ends_with("/w/a%20b/%C3%A9%1B%3B.md\x1b\\text\x1b]8;;\x1b\\"),
            "{uri:?}"
        );
        assert_eq!(view("/w", None).link("/v/a.md", "text", Style::default()), "text");
    }

    #[test]
    fn words_of_the_query_are_marked_in_any_form() {
        let view = view("/w", None);
        let marked = view.marked(
            "When we deployed to STAGING, the stage was on.",
            Style { colour: true },
        );
        assert_eq!(
            marked.replace('\x1b', "^"),
            "When we ^[1mdeployed^[0m to ^[1mSTAGING^[0m, the ^[1mstage^[0m was on."
        );
        assert_eq!(view.marked("deploy", Style::default()), "deploy");
    }

    #[test]
    fn a_long_line_is_shortened_around_the_first_match() {
        let line = format!("{} deploy {}", "a ".repeat(300), "b ".repeat(300));
        let short = view("/w", None).short(&line);
        assert!(
            short.starts_with("…a") && short.ends_with("b…") && short.contains(" deploy "),
            "{short}"
        );
        assert!(short.len() <= WIDTH + 6);
        assert!(view("/w", None).short(&"c".repeat(300)).starts_with("ccc"));
    }
}
