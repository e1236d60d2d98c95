//! Advice by the size of a memory (v1 §9.3).

/// Number of entries from which search is needed to find most of the memory.
const BY_SEARCH: u64 = 1_000;
/// Number of entries at which light cycles stop creating entries. Archived entries and entries that queries created do
/// not count.
pub const MOST_LIVE: usize = 10_000;
const FULL: u64 = MOST_LIVE as u64;

/// Returns what helps an agent to find its way in a memory with this number of entries.
#[must_use]
pub const fn advise(entries: u64) -> &'static str {
    match entries {
        ..BY_SEARCH => "HIPPOCAMPUS.md and its topics files name each file; nothing else is needed",
        BY_SEARCH..FULL => "HIPPOCAMPUS.md is an overview, and search finds the rest; nothing else is needed",
        _ => {
            "the map is full, and search finds all files; PostgreSQL shares the memory with a team, but makes no \
             search faster"
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_advice_follows_the_size() {
        for (entries, word) in [
            (0, "topics files"),
            (999, "topics files"),
            (1_000, "overview"),
            (10_000, "PostgreSQL"),
        ] {
            assert!(advise(entries).contains(word), "{entries}");
        }
    }
}
