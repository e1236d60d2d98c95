//! Extraction of the controls in an accessibility tree of a page.

use super::draft::Draft;
use super::lines::NumberedText;
use super::{ContentKind, counted};
use hippo_text::text::{clip, start};

/// Maximum number of elements kept.
const KEPT: usize = 4_000;
/// Groups of roles whose elements are counted together. Elements beyond [`KEPT`] count as well.
#[rustfmt::skip] // keep the list compact
const GROUPS: [(&str, &[&str]); 5] = [
    ("button", &["button"]), ("link", &["link"]),
    ("field", &["textbox", "searchbox", "combobox", "checkbox", "radio"]),
    ("row", &["row"]), ("item", &["listitem"]),
];
/// Number of bytes at the start of a line that are examined.
const LINE: usize = 1_000;
/// Maximum bytes of the name under which a control is listed.
const NAME: usize = 40;

/// A control on a page.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct PageControl {
    /// `button`, `textbox`, `link`, …
    pub role: String,
    /// Label of the control.
    pub name: String,
    /// Address of the control: a ref or a selector.
    pub address: String,
}

/// Returns the rank of a control: actions first, then inputs, links and text.
fn rank(control: &PageControl) -> usize {
    let name = control.name.to_ascii_lowercase();
    let role = match control.role.to_ascii_lowercase().as_str() {
        "submit" | "button" => 1,
        "textbox" | "searchbox" | "text" | "email" | "password" | "search" | "combobox" | "input"
        | "textarea" | "select" | "spinbutton" | "number" | "tel" | "url" | "date" => 1,
        "checkbox" | "radio" | "switch" | "tab" | "menuitem" | "option" | "slider" => 2,
        "nav" | "navigation" | "form" | "dialog" | "alert" | "alertdialog" => 3,
        "link" | "a" => 4,
        "heading" => 5,
        _ => 6,
    };
    let telling = [
        "submit", "save", "sign in", "log in", "login", "search", "send", "next", "continue", "confirm",
        "delete", "checkout", "add", "create", "ok", "apply", "accept",
    ];
    let tells = telling.iter().any(|word| {
        name.split(|c: char| !c.is_alphanumeric()).any(|own| own == *word)
            || (word.contains(' ') && name.contains(word))
    });
    let unnamed = if name.trim().is_empty() { 3 } else { 0 };
    (role + unnamed) * 2 - usize::from(tells)
}

/// Adds the address of each control to the draft, named by the label of the control.
pub(super) fn told(draft: &mut Draft, mut controls: Vec<PageControl>) {
    controls.retain(|control| !control.address.is_empty());
    controls.sort_by_key(rank);
    let refs = controls.into_iter().map(|control| {
        let name = Some(slug(&control.name)).filter(|name| !name.is_empty());
        (name.unwrap_or_else(|| slug(&control.role)), control.address)
    });
    draft.pairs("refs", refs, 8);
}

/// Returns a name in lower case with `_` between its words.
fn slug(name: &str) -> String {
    let mut out = String::new();
    let words = name.split(|c: char| !c.is_alphanumeric());
    for word in words.filter(|word| !word.is_empty()) {
        if out.len() + word.len() > NAME {
            break;
        }
        if !out.is_empty() {
            out.push('_');
        }
        out.push_str(&word.to_lowercase());
    }
    out
}

/// Returns the element that a line of an accessibility tree describes, or `None`.
pub(super) fn element(line: &str) -> Option<PageControl> {
    let line = start(line, LINE);
    let text = line.trim_start().trim_start_matches("- ").trim_start();
    let (address, text) = address(text)?;
    let text = text.trim_start_matches(|c: char| c.is_whitespace() || c == ':' || c == '*');
    let role: String = text
        .chars()
        .take_while(|c| c.is_alphanumeric() || matches!(c, '-' | '_'))
        .collect();
    let name = match text.split_once('"') {
        Some((_, rest)) => rest.split_once('"').map_or(rest, |(name, _)| name),
        None => match text.split_once(": ") {
            Some((_, words)) => words,
            None => text[role.len()..].split('[').next().unwrap_or_default(),
        },
    };
    (!role.is_empty()).then(|| PageControl {
        name: clip(name, 100),
        address: address.to_owned(),
        role,
    })
}

/// Returns the ref of the element in a line, and the part of the line that contains its role.
fn address(text: &str) -> Option<(&str, &str)> {
    let short = |address: &str| (1..=32).contains(&address.len()) && !address.contains(char::is_whitespace);
    if let Some((before, rest)) = text.split_once("[ref=") {
        let address = rest.split_once(']')?.0;
        return short(address).then_some((address, before));
    }
    if let Some(rest) = text.strip_prefix("uid=") {
        let (address, rest) = rest.split_once(' ')?;
        return short(address).then_some((address, rest));
    }
    // `[12] button "Save"`, `[12]<button>Save</button>`
    let (address, rest) = text.strip_prefix('[')?.split_once(']')?;
    let digits = address.bytes().any(|byte| byte.is_ascii_digit())
        && address.bytes().all(|b| b.is_ascii_alphanumeric());
    let rest = rest.trim_start_matches([' ', '<', ':']);
    (digits && short(address) && rest.starts_with(|c: char| c.is_alphabetic())).then_some((address, rest))
}

pub(super) fn draft(text: &NumberedText<'_>) -> Option<Draft> {
    let (mut title, mut url, mut heading) = (String::new(), String::new(), String::new());
    let (mut elements, mut headings, mut count) = (Vec::new(), Vec::new(), 0_usize);
    let mut groups = [0_usize; GROUPS.len()];
    for line in text.lines() {
        let bare = line.text.trim().trim_start_matches("- ");
        let told = |marks: &[&str]| marks.iter().find_map(|mark| bare.strip_prefix(mark));
        if let Some(value) = told(&["Page Title: ", "Title: ", "title: "]).filter(|_| title.is_empty()) {
            title = clip(value, 120);
        }
        if let Some(value) = told(&["Page URL: ", "URL: ", "url: "]).filter(|_| url.is_empty()) {
            url = clip(value, 120);
        }
        let Some(found) = element(line.text) else { continue };
        count += 1;
        for (count, (_, roles)) in groups.iter_mut().zip(GROUPS) {
            *count += usize::from(roles.contains(&found.role.as_str()));
        }
        match found.role.as_str() {
            "heading" if heading.is_empty() => heading.clone_from(&found.name),
            "heading" if headings.len() < KEPT => headings.push(found.name.clone()),
            "RootWebArea" | "document" if title.is_empty() => title.clone_from(&found.name),
            _ => {}
        }
        if elements.len() < KEPT {
            elements.push(found);
        }
    }
    if count < 2 {
        return None;
    }
    let named = [&title, &heading].into_iter().find(|name| !name.is_empty());
    let counts = groups.into_iter().zip(GROUPS).filter(|(count, _)| *count > 0);
    let counts = counts.map(|(count, (what, _))| counted(count, what));
    let counts: Vec<String> = counts.collect();
    let mut said = named.map_or_else(|| "page".to_owned(), |name| clip(name, 100));
    said.push_str(&format!(": {}", counted(count, "element")));
    if !counts.is_empty() {
        said.push_str(&format!(", {}", counts.join(", ")));
    }
    let mut draft = Draft::new(ContentKind::Snapshot, said);
    if !title.is_empty() && !heading.is_empty() {
        draft.say(heading);
    }
    told(&mut draft, elements);
    draft.one("url", url);
    draft.list("headings", headings, 2);
    Some(draft)
}
