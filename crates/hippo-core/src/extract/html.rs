//! Which title, headings, links and controls does a page have, and how is each control addressed?

mod tags;

use super::Kind;
use super::draft::Draft;
use super::lines::Text;
use super::snapshot::{Control, told};
use super::words::counted;
use crate::text::clip;
use tags::{Piece, pieces};

/// Headings and links that are kept.
const KEPT: usize = 300;
/// Bytes of a heading.
const HEADING: usize = 100;

#[derive(Default)]
struct Page {
    title: String,
    headings: Vec<(u8, String)>,
    links: Vec<(String, String)>,
    controls: Vec<Control>,
    forms: Vec<String>,
    tags: usize,
    text: usize,
    rows: usize,
    /// Links and controls, those that are not kept included.
    all_links: usize,
    all_controls: usize,
}

/// What the text that comes belongs to.
enum Inside {
    Title,
    Heading(u8, String),
    Link(String, String),
    Control(Control),
}

pub(super) fn draft(text: &Text<'_>) -> Option<Draft> {
    let mut page = Page::default();
    let mut inside: Vec<Inside> = Vec::new();
    for piece in pieces(text.all) {
        match piece {
            Piece::Open(tag) => {
                page.tags += 1;
                page.open(&tag, &mut inside);
            }
            Piece::Close(name) => page.close(name, &mut inside),
            Piece::Text(words) => {
                page.text += words.trim().len();
                for open in &mut inside {
                    let into = match open {
                        Inside::Title => &mut page.title,
                        Inside::Heading(_, into) | Inside::Link(_, into) => into,
                        Inside::Control(control) => &mut control.name,
                    };
                    if into.len() < HEADING * 2 {
                        into.push_str(&clip(words, HEADING));
                        into.push(' ');
                    }
                }
            }
        }
    }
    if page.tags < 2 {
        return None;
    }
    page.close("", &mut inside);
    Some(page.told())
}

impl Page {
    fn open(&mut self, tag: &tags::Tag<'_>, inside: &mut Vec<Inside>) {
        // Tags that are never closed must not gather the whole page.
        if inside.len() > 16 {
            inside.clear();
        }
        let level = tag.name.as_bytes();
        match tag.name {
            "title" if self.title.is_empty() => inside.push(Inside::Title),
            "h1" | "h2" | "h3" | "h4" | "h5" | "h6" => {
                inside.push(Inside::Heading(level[1] - b'0', String::new()));
            }
            "a" => {
                if let Some(target) = tag.value("href").filter(|target| !target.starts_with('#')) {
                    inside.push(Inside::Link(target.to_owned(), String::new()));
                }
            }
            "tr" => self.rows += 1,
            "form" => {
                let action = tag
                    .value("action")
                    .or_else(|| tag.value("id"))
                    .unwrap_or_default();
                if self.forms.len() < KEPT && !action.is_empty() {
                    let method = tag.value("method").unwrap_or("get").to_ascii_uppercase();
                    self.forms.push(format!("{method} {action}"));
                }
            }
            _ => {}
        }
        let role = tag.value("role");
        let control =
            matches!(tag.name, "button" | "input" | "select" | "textarea") || tag.value("ref").is_some();
        let hidden = tag.value("type") == Some("hidden");
        if !control || hidden {
            return;
        }
        self.all_controls += 1;
        if self.controls.len() >= KEPT * 4 {
            return;
        }
        let own = tag.value("ref").map(str::to_owned);
        let address = own
            .or_else(|| tag.value("id").map(|id| format!("#{id}")))
            .or_else(|| tag.value("data-testid").map(|id| format!("[data-testid={id}]")))
            .or_else(|| tag.value("name").map(|name| format!("[name={name}]")));
        let kind = role.or_else(|| tag.value("type")).unwrap_or(tag.name).to_owned();
        let label = ["aria-label", "name", "placeholder", "value", "title", "alt"];
        let name = label
            .iter()
            .find_map(|name| tag.value(name))
            .unwrap_or_default()
            .to_owned();
        let control = Control {
            role: kind,
            name,
            address: address.unwrap_or_default(),
        };
        let labelled = !control.name.is_empty() || tag.name == "input" || tag.closed;
        if labelled {
            self.controls.push(control);
        } else {
            inside.push(Inside::Control(control));
        }
    }

    /// Ends what a tag began; the empty name ends everything.
    fn close(&mut self, name: &str, inside: &mut Vec<Inside>) {
        let ends = |open: &Inside| match open {
            Inside::Title => name == "title",
            Inside::Heading(..) => name.len() == 2 && name.starts_with('h'),
            Inside::Link(..) => name == "a",
            Inside::Control(_) => !matches!(name, "span" | "b" | "i" | "em" | "strong" | "svg" | "path"),
        };
        while let Some(last) = inside.pop_if(|last| name.is_empty() || ends(last)) {
            match last {
                Inside::Heading(level, words) if self.headings.len() < KEPT && !words.trim().is_empty() => {
                    self.headings.push((level, clip(&words, HEADING)));
                }
                Inside::Link(target, words) => {
                    self.all_links += 1;
                    if self.links.len() < KEPT {
                        self.links.push((clip(&words, 60), target));
                    }
                }
                Inside::Control(control) => self.controls.push(control),
                _ => {}
            }
            if !name.is_empty() {
                break;
            }
        }
    }

    fn told(mut self) -> Draft {
        let title = clip(&self.title, 120);
        self.headings.sort_by_key(|(level, _)| *level);
        let first = self
            .headings
            .first()
            .map(|(_, words)| words.clone())
            .unwrap_or_default();
        let named = if title.is_empty() { first } else { title };
        let counts: Vec<String> = [
            (self.all_controls, "control"),
            (self.all_links, "link"),
            (self.rows, "row"),
        ]
        .into_iter()
        .filter(|(count, _)| *count > 0)
        .map(|(count, what)| counted(count, what))
        .collect();
        let said = if named.is_empty() {
            format!("{} of markup", counted(self.tags, "tag"))
        } else {
            named.clone()
        };
        let said = if counts.is_empty() {
            said
        } else {
            format!("{said}: {}", counts.join(", "))
        };
        let mut draft = Draft::new(Kind::Html, said);
        told(&mut draft, self.controls);
        draft.list("forms", self.forms, 1);
        let headings = self.headings.into_iter().map(|(_, words)| words);
        draft.list("headings", headings.filter(|words| *words != named), 2);
        let links = self.links.into_iter().map(|(words, target)| {
            let words = if words.is_empty() {
                clip(&target, 40)
            } else {
                words
            };
            (words, target)
        });
        draft.pairs("links", links, 2);
        draft
    }
}
