//! Templates of an Obsidian vault, which are not memory.

use std::path::Path;

use hippo_text::source::is_markdown;

/// Reason for which templates are left out, as a phrase that follows a number of files.
pub const REASON: &str = "with placeholders of a template";
/// Beginnings of the placeholders that Obsidian and its plugin Templater replace.
const PLACEHOLDERS: [&str; 4] = ["{{date", "{{time", "{{title", "<% tp."];
/// Maximum size of a template in bytes.
const LARGEST: u64 = 64 << 10;

/// Returns whether a path is a template: a markdown file that contains placeholders, below a folder `Templates` of a
/// vault, beside the vault's folder `.obsidian`.
pub fn is_template(root: &Path, rel: &str) -> bool {
    let is_in_folder = || {
        rel.match_indices('/').any(|(end, _)| {
            let folder = Path::new(&rel[..end]);
            let is_named = folder
                .file_name()
                .is_some_and(|name| name.eq_ignore_ascii_case("templates"));
            let vault = folder.parent().unwrap_or(Path::new("")).join(".obsidian");
            is_named && hippo_fs::exists(root, vault)
        })
    };
    is_markdown(rel)
        && is_in_folder()
        && hippo_fs::read_source(root, rel, LARGEST).is_ok_and(|bytes| {
            let text = String::from_utf8_lossy(&bytes);
            PLACEHOLDERS.iter().any(|mark| text.contains(mark))
        })
}
