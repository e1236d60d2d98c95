//! Wording of counts.

/// Returns a count with its noun: `1 file`, `3 files`.
pub(in crate::extract) fn counted(count: usize, what: &str) -> String {
    let plural = if count == 1 { "" } else { "s" };
    format!("{count} {what}{plural}")
}
