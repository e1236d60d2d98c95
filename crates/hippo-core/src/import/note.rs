//! What is a note of basic-memory: a markdown file with front matter?

use super::{Fields, Memory, Trouble, front_matter, id, moment, text, words};

/// The note, which stays the file that it is. One whose front matter cannot be read is a text without.
pub(super) fn memory(path: &str, whole: String) -> Result<Memory, Trouble> {
    let read = front_matter::split(&whole);
    let (fields, body) = read.unwrap_or_else(|_| (Fields::new(), &whole));
    if body.trim().is_empty() && (fields.is_empty() || whole.trim().is_empty()) {
        return Err(Trouble::at(1, "there is nothing in it"));
    }
    let permalink = id(&fields, "permalink");
    Ok(Memory {
        id: if permalink.is_empty() {
            path.to_owned()
        } else {
            permalink
        },
        kind: text(&fields, "type").unwrap_or("note").to_owned(),
        title: text(&fields, "title").map(str::to_owned),
        created: moment(fields.get("created")),
        tags: words(&fields, "tags"),
        note: Some(path.to_owned()),
        text: whole,
        ..Memory::default()
    })
}
