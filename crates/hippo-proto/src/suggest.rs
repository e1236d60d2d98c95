//! Which known name did the caller most likely mean?

/// The candidate nearest to `name`, or `None` when none is near enough to be a slip (Jaro-Winkler below 0.75).
///
/// Only the first 64 characters of `name` are compared, so that a hostile name costs nothing.
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
    fn a_slip_finds_its_name_and_nonsense_finds_none() {
        let names = ["search", "status", "shutdown", "workspace.sync"];
        assert_eq!(nearest("serach", names), Some("search"));
        assert_eq!(nearest("workspace.snyc", names), Some("workspace.sync"));
        assert_eq!(nearest("zzz", names), None);
        assert_eq!(nearest("", names), None);
    }
}
