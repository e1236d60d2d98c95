//! Stop words of questions.
//!
//! All lists are in lower case and without accents. The English list is long, because most words of a question are stop
//! words. The lists for other languages contain only pronouns, articles and question words that have no other meaning
//! in English.

use std::sync::LazyLock;

use foldhash::HashSet;

static STOP: LazyLock<HashSet<&str>> = LazyLock::new(|| {
    let lines = include_str!("stop.txt").lines();
    let lines = lines.filter(|line| !line.starts_with('#'));
    lines.flat_map(str::split_ascii_whitespace).collect()
});

/// Returns true if a folded word is a stop word.
pub fn is_stop(word: &str) -> bool {
    STOP.contains(word)
}

#[cfg(test)]
mod tests {
    use super::super::fold::fold;
    use super::*;

    #[test]
    fn the_stop_word_lists_are_folded() {
        assert!(STOP.len() > 400);
        for word in STOP.iter() {
            let mut folded = String::new();
            fold(word, &mut folded);
            assert_eq!(*word, folded);
        }
    }

    #[test]
    fn stop_words_are_removed_from_questions() {
        let says = |question: &str| -> Vec<String> {
            let words = question.split(' ').filter(|word| !is_stop(word));
            words.map(str::to_owned).collect()
        };
        assert_eq!(says("when did she go to the dentist"), ["dentist"]);
        assert_eq!(says("what is the name of her dog"), ["name", "dog"]);
        assert_eq!(
            says("wann haben wir den zahnarzt besucht"),
            ["zahnarzt", "besucht"]
        );
    }
}
