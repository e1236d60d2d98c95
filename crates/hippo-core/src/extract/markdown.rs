//! Which headings, links and marked names does a markdown text have?

use std::collections::BTreeMap;

use super::Kind;
use super::draft::Draft;
use super::lines::Text;
use super::values::Values;
use super::words::counted;
use crate::literal::LiteralKind;
use crate::text::{clip, start};

/// Marked names that are counted.
const NAMES: usize = 2_000;
/// Headings that are kept.
const HEADINGS: usize = 300;
/// Bytes of a line that is looked at.
const LINE: usize = 4_000;

#[derive(Default)]
struct Found<'t> {
    headings: Vec<(usize, String)>,
    links: Vec<String>,
    /// Names between backticks: how often, and which one by its place.
    marked: BTreeMap<&'t str, (usize, usize)>,
    /// Names in the first cell of table rows.
    cells: Vec<String>,
    languages: BTreeMap<&'t str, usize>,
    first: &'t str,
}

pub(super) fn draft(text: &Text<'_>) -> Option<Draft> {
    let mut found = Found::default();
    let mut values = Values::default();
    let (mut fence, mut lines) = (None, 0_usize);
    for line in text.lines() {
        lines += 1;
        let line = start(line.text, LINE);
        values.take(line);
        let trimmed = line.trim_start();
        let mark = ["```", "~~~"].into_iter().find(|mark| trimmed.starts_with(mark));
        match (fence, mark) {
            (None, Some(mark)) => {
                fence = Some(mark);
                let language = trimmed.trim_start_matches(['`', '~']).trim();
                let language = language.split([' ', '{', ',']).next().unwrap_or_default();
                if !language.is_empty() && language.len() < 20 && found.languages.len() < 40 {
                    *found.languages.entry(language).or_default() += 1;
                }
            }
            (Some(open), Some(mark)) if open == mark => fence = None,
            (Some(_), _) => {}
            (None, None) => found.prose(trimmed),
        }
    }
    if found.headings.is_empty() && found.marked.is_empty() && found.links.is_empty() {
        return None;
    }
    Some(found.told(&values, lines))
}

impl<'t> Found<'t> {
    fn prose(&mut self, line: &'t str) {
        let level = line.bytes().take_while(|&byte| byte == b'#').count();
        let title = line.get(level..).unwrap_or_default();
        if (1..=6).contains(&level) && title.starts_with([' ', '\t']) {
            if self.headings.len() < HEADINGS {
                let title = title.trim().trim_end_matches('#').trim();
                self.headings
                    .push((level, clip(&title.replace(['*', '`'], ""), 80)));
            }
            return;
        }
        if self.first.is_empty() && line.len() > 20 && line.starts_with(|c: char| c.is_alphanumeric()) {
            self.first = line;
        }
        for (at, part) in line.split('`').enumerate() {
            let name = at % 2 == 1 && (2..=80).contains(&part.len());
            if name && (self.marked.len() < NAMES || self.marked.contains_key(part)) {
                let place = self.marked.len();
                self.marked.entry(part).or_insert((0, place)).0 += 1;
            }
        }
        if let Some(row) = line.strip_prefix('|')
            && self.cells.len() < NAMES
            && let Some(cell) = row.split('|').next().map(str::trim)
            && let Some(name) = cell.strip_prefix('`').and_then(|cell| cell.strip_suffix('`'))
        {
            self.cells.push(name.to_owned());
        }
        let mut rest = line;
        while let Some((_, target)) = rest.split_once("](") {
            let (target, after) = target.split_once(')').unwrap_or((target, ""));
            let target = target.split(' ').next().unwrap_or_default();
            if self.links.len() < NAMES && !target.starts_with('#') && target.len() > 3 {
                self.links.push(target.to_owned());
            }
            rest = after;
        }
    }

    fn told(self, values: &Values<'_>, lines: usize) -> Draft {
        let title = self
            .headings
            .iter()
            .min_by_key(|(level, _)| *level)
            .map(|(_, title)| title.as_str());
        let mut draft = Draft::new(
            Kind::Markdown,
            format!("{}, {}", title.unwrap_or("markdown"), counted(lines, "line")),
        );
        let others = self.headings.iter().map(|(_, heading)| heading.clone());
        let mut marked: Vec<_> = self.marked.into_iter().collect();
        marked.sort_by_key(|(_, (count, place))| (std::cmp::Reverse((*count).min(4)), *place));
        // A name that heads a row is defined there.
        let defined = self
            .cells
            .into_iter()
            .chain(marked.into_iter().map(|(name, _)| name.to_owned()));
        draft.list("names", defined, 4);
        let paths = values.of(&[LiteralKind::Url, LiteralKind::Path]);
        draft.list(
            "links",
            paths
                .into_iter()
                .map(|found| found.text.to_owned())
                .chain(self.links),
            2,
        );
        draft.list(
            "headings",
            others.filter(|heading| Some(heading.as_str()) != title),
            2,
        );
        let ids = values
            .of(&[LiteralKind::Id])
            .into_iter()
            .map(|found| found.text.to_owned());
        draft.list("ids", ids, 0);
        draft.list(
            "numbers",
            values
                .of(&[LiteralKind::Number])
                .into_iter()
                .map(|found| found.text.to_owned()),
            0,
        );
        let languages: Vec<String> = self.languages.into_keys().map(str::to_owned).collect();
        if !languages.is_empty() {
            draft.say(format!("code in {}", languages.join(", ")));
        }
        draft.say(clip(self.first, 160));
        draft
    }
}
