//! Suggestions for misspelt names.

/// Returns the candidate most similar to `name`, or `None` if the Jaro-Winkler similarity is below 0.75.
///
/// Only the first 64 characters of `name` are compared, which limits the time for malicious input.
pub fn nearest<'a>(name: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let name: String = name.chars().take(64).collect();
    candidates
        .into_iter()
        .map(|candidate| (strsim::jaro_winkler(&name, candidate), candidate))
        .filter(|(similarity, _)| *similarity >= 0.75)
        .max_by(|a, b| a.0.total_cmp(&b.0))
        .map(|(_, candidate)| candidate)
}

#[cfg(test)]
mod tests {
    use super::nearest;

    #[test]
    fn a_typo_finds_its_name_and_nonsense_finds_none() {
        let names = ["search", "status", "shutdown", "workspace.sync"];
        assert_eq!(nearest("serach", names), Some("search"));
        assert_eq!(nearest("workspace.snyc", names), Some("workspace.sync"));
        assert_eq!(nearest("zzz", names), None);
        assert_eq!(nearest("", names), None);
    }
}
