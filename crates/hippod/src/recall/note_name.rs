//! Files that `get` finds by their name or an alias.

use hippo_proto::{RpcError, Viewer};
use hippo_text::chunk;
use hippo_text::source::{is_markdown, stem};
use hippo_text::speaker::is_speaker_term;
use hippo_text::terms;

use crate::view::WorkspaceView;

/// Maximum number of paths in the hint about an ambiguous name.
const MOST_PATHS: usize = 12;

/// Parses a link of Obsidian, such as `[[Name#Heading|text]]`, into the name and the heading. A target without brackets
/// is a name.
pub fn parse_link(target: &str) -> (&str, Option<&str>) {
    let link = target.strip_prefix('!').unwrap_or(target);
    let Some(link) = link.strip_prefix("[[").and_then(|link| link.strip_suffix("]]")) else {
        return (target, None);
    };
    let link = link.split_once('|').map_or(link, |(link, _)| link);
    let (name, heading) = match link.split_once('#') {
        // Of nested headings, such as `Name#Bread#Rye`, the last one is the section.
        Some((name, headings)) => (name, headings.rsplit('#').next()),
        None => (link, None),
    };
    let name = if is_markdown(name) {
        &name[..name.rfind('.').unwrap_or_default()]
    } else {
        name
    };
    (name.trim(), heading.filter(|heading| !heading.starts_with('^')))
}

/// Returns the path of the indexed file with this name: the name of the file without its extension, with or without the
/// last of its folders. If no file has the name, returns the path of the file with this alias. Case is ignored.
///
/// # Errors
/// Returns `bad-request` if several files have the name, and `internal` if the index cannot be read.
pub fn find(view: &WorkspaceView, viewer: &Viewer, name: &str) -> Result<Option<String>, RpcError> {
    let wanted = name.trim_start_matches("./").to_lowercase();
    if wanted.is_empty() || is_markdown(&wanted) {
        return Ok(None);
    }
    let is_named = |path: &str| {
        let path = path.to_lowercase();
        let folders = &path[..path.len() - path.rsplit('/').next().map_or(0, str::len)];
        let path = format!("/{folders}{}", stem(&path));
        path.strip_suffix(&wanted).is_some_and(|rest| rest.ends_with('/'))
    };
    let snapshot = view.snapshot();
    let documents = snapshot.documents(viewer);
    let mut paths: Vec<String> = documents
        .map(|(_, document)| document.path.to_string())
        .filter(|path| is_named(path))
        .collect();
    drop(snapshot);
    if paths.is_empty() {
        paths = aliased(view, viewer, &wanted)?;
    }
    if paths.len() > 1 {
        paths.sort();
        let some = paths[..paths.len().min(MOST_PATHS)].join(", ");
        let more = if paths.len() > MOST_PATHS { ", …" } else { "" };
        return Err(
            RpcError::bad_request(format!("{} files have the name: {name}", paths.len()))
                .hint(format!("give the path of one of them: {some}{more}")),
        );
    }
    Ok(paths.pop())
}

/// Returns the paths of the files with an alias. Reads only the files that contain all words of the alias.
fn aliased(view: &WorkspaceView, viewer: &Viewer, wanted: &str) -> Result<Vec<String>, RpcError> {
    let terms = terms::query_terms(wanted);
    let words = terms.iter().filter(|term| !is_speaker_term(&term.term));
    let expressions: Vec<String> = words.map(terms::fts_query).collect();
    let snapshot = view.snapshot();
    let postings = view
        .postings(&snapshot, &expressions)
        .map_err(|error| RpcError::internal(format!("could not search the index: {error}")))?;
    let Some((first, others)) = postings.split_first() else {
        return Ok(Vec::new());
    };
    // The aliases are indexed together with the first chunk of a file.
    let paths: Vec<String> = first
        .iter()
        .filter(|chunk| others.iter().all(|ids| ids.contains(chunk)))
        .filter_map(|chunk| snapshot.corpus.place(*chunk))
        .filter(|place| place.ordinal == 0 && viewer.sees(snapshot.scope(place.document)))
        .filter_map(|place| snapshot.corpus.document(place.document))
        .map(|document| document.path.to_string())
        .collect();
    drop(snapshot);
    let limit = view.config.sources.max_file_bytes;
    let has_alias = |path: &String| {
        let Ok(bytes) = hippo_fs::read_source(&view.root, path, limit) else {
            return false;
        };
        let aliases = chunk::chunk(&bytes).front_matter.aliases;
        aliases.iter().any(|alias| alias.to_lowercase() == wanted)
    };
    Ok(paths.into_iter().filter(has_alias).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_of_obsidian_are_parsed() {
        for (target, expected) in [
            ("Sourdough", ("Sourdough", None)),
            ("[[Sourdough]]", ("Sourdough", None)),
            ("![[Food/Sourdough.md|bread]]", ("Food/Sourdough", None)),
            ("[[Sourdough#Starter|how]]", ("Sourdough", Some("Starter"))),
            ("[[Sourdough#Starter#Feed it]]", ("Sourdough", Some("Feed it"))),
            ("[[Sourdough#^a1b2]]", ("Sourdough", None)),
            ("[[Sourdough", ("[[Sourdough", None)),
        ] {
            assert_eq!(parse_link(target), expected, "{target}");
        }
    }
}
