//! Sentences: their ends, their content and their score.

use super::words::{ScannedWord, WordCounts};
use crate::chunk::Speaker;
use crate::terms::is_unspaced;

/// Words of greetings, agreement and transitions, which can begin a sentence and have no content.
const FILLER: &str = "\
    absolutely again agree agreed ah also alright amazing anyway anyways appreciate aw awesome aww btw but bye by cheers \
    congrats congratulations cool course dear definitely dude exactly for fantastic glad gosh great guess ha haha hello \
    hey hi hmm hmmm honestly i'm it lol lot lots love luck man me mean meantime much my nah nice of oh okay ok ooh perfect plus \
    really right see so sounds super sure sweet take talk thank thanks that that's the then to too totally true ugh very way \
    well whoa wonderful wow yay yea yeah yep yes you you're yup good job soon later and care";

/// Exponent that is applied to the rarity of a word.
const COMMON: f32 = 0.8;
/// Maximum number of words of a greeting.
const MOST_FILLERS: usize = 6;
/// Punctuation marks that may begin a sentence.
pub const OPENING: [char; 10] = ['"', '“', '„', '«', '「', '$', '€', '£', '(', '['];
/// Words at the start of a sentence that refer to an earlier sentence.
const REFERRING: [&str; 20] = [
    "it", "it's", "its", "that", "that's", "this", "these", "those", "they", "they're", "they've", "them",
    "he", "he's", "she", "she's", "his", "her", "their", "it'll",
];

/// Abbreviations, without the point at their end, that do not end a sentence.
const ABBREVIATIONS: [&str; 9] = ["Dr", "Mr", "Mrs", "Ms", "St", "No", "vs", "e.g", "i.e"];

/// German names of months, which can follow an ordinal number: `am 21. Dezember`.
#[rustfmt::skip] // a list is read in lines
const MONTHS: [&str; 13] = [
    "Januar", "Jänner", "Februar", "März", "April", "Mai", "Juni", "Juli", "August", "September", "Oktober", "November",
    "Dezember",
];

/// Splits a line into sentences.
pub fn split_sentences(line: &str) -> impl Iterator<Item = &str> {
    let mut rest = line;
    std::iter::from_fn(move || {
        rest = rest.trim_start();
        if rest.is_empty() {
            return None;
        }
        let mut end = rest.len();
        for (at, mark) in rest.char_indices() {
            let behind = at + mark.len_utf8();
            let wide = matches!(mark, '。' | '！' | '？');
            let ends = matches!(mark, '.' | '!' | '?')
                && rest[behind..].starts_with(' ')
                && !rest[behind + 1..].starts_with(char::is_lowercase)
                && rest[..at].chars().count() > 12
                && !is_abbreviation(&rest[..at], &rest[behind + 1..]);
            if wide || ends {
                end = behind;
                break;
            }
        }
        let (sentence, tail) = rest.split_at(end);
        rest = tail;
        Some(sentence.trim())
    })
}

/// Returns `true` if the last word of `before` is an abbreviation, or the number of a day in the month that begins `after`.
fn is_abbreviation(before: &str, after: &str) -> bool {
    let word = before.rsplit([' ', '(']).next().unwrap_or_default();
    let is_day = (1..=2).contains(&word.len()) && word.bytes().all(|byte| byte.is_ascii_digit());
    let next = after.split(|mark: char| !mark.is_alphabetic()).next();
    ABBREVIATIONS.contains(&word) || is_day && next.is_some_and(|next| MONTHS.contains(&next))
}

fn bare(word: &str) -> String {
    word.trim_matches(|mark: char| !mark.is_alphanumeric())
        .replace('’', "'")
        .to_lowercase()
}

/// Returns a sentence without the greetings, agreement and transitions at its start. The result is empty if the
/// sentence has no other content.
pub fn telling(sentence: &str) -> &str {
    let mut rest = sentence;
    let mut filled = false;
    loop {
        let ends = |(at, mark): &(usize, char)| {
            matches!(mark, ',' | '!' | '.' | '?' | '–' | '—' | '-' | ':')
                && !rest[at + mark.len_utf8()..].starts_with(char::is_alphanumeric)
        };
        let end = rest.char_indices().find(ends);
        let end = end.map_or(rest.len(), |(at, mark)| at + mark.len_utf8());
        let segment = &rest[..end];
        let words = segment.split_whitespace().map(bare);
        let words = words.filter(|word| !word.is_empty()).take(MOST_FILLERS + 1);
        let words: Vec<String> = words.collect();
        let is_filler = |word: &String| FILLER.split_ascii_whitespace().any(|known| known == word);
        let fills = words.iter().filter(|word| is_filler(word)).count();
        // The name of a person who is addressed: `Wow, Caroline!`
        let last = segment.split_whitespace().last();
        let addressed = (filled || fills > 0)
            && words.len() == fills + 1
            && last.is_some_and(|last| last.starts_with(char::is_uppercase));
        if words.len() > MOST_FILLERS || !(fills == words.len() || addressed) {
            return rest;
        }
        filled = true;
        rest = rest[end..].trim_start_matches(|mark: char| {
            !mark.is_alphanumeric() && !matches!(mark, '"' | '“' | '$' | '€' | '£' | '(' | '[')
        });
        if rest.is_empty() {
            return rest;
        }
    }
}

/// Returns true if a sentence starts with a word that refers to an earlier sentence. Such a sentence is unclear alone.
pub fn refers_back(sentence: &str) -> bool {
    let first = sentence.split_whitespace().next().map(bare).unwrap_or_default();
    REFERRING.contains(&first.as_str())
}

/// First words of questions and requests.
#[rustfmt::skip] // a list is read in lines
const REQUESTS: [&str; 20] = [
    "add", "afterward", "brainstorm", "can", "could", "create", "explain", "give", "how", "make", "please", "provide",
    "tell", "what", "when", "where", "which", "who", "why", "write",
];

/// First words of orders to an assistant, besides [`REQUESTS`]. In notes, they begin a rule or a task.
#[rustfmt::skip] // a list is read in lines
const ORDERS: [&str; 22] = [
    "act", "answer", "continue", "describe", "ensure", "focus", "generate", "guess", "help", "imagine", "incorporate", "let", "let's",
    "lets", "list", "respond", "rewrite", "suggest", "summarize", "translate", "use", "now",
];

/// Returns `true` if a user asks an assistant for something with this sentence.
pub fn is_order(sentence: &str) -> bool {
    let first = sentence.split_whitespace().next().map(bare).unwrap_or_default();
    is_request(sentence) || ORDERS.contains(&first.as_str())
}

/// Returns `true` for a question or a request, which contains a wish and not a fact.
fn is_request(sentence: &str) -> bool {
    let said = sentence.split_once(": ").map_or(sentence, |(_, said)| said);
    let first = said.split_whitespace().next().map(bare).unwrap_or_default();
    REQUESTS.contains(&first.as_str())
}

/// Separators after a clause that is clear without the rest of its sentence.
const CLAUSE_ENDS: [&str; 10] = [
    ", ",
    "; ",
    " - ",
    " – ",
    " — ",
    " (",
    " but ",
    " because ",
    " and I ",
    " so ",
];

/// Words that begin a subordinate clause, which is unclear without its main clause.
#[rustfmt::skip] // a list is read in lines
const LEADS: [&str; 25] = [
    "for", "as", "in", "if", "when", "while", "after", "before", "since", "although", "though", "to", "with", "on", "at",
    "by", "because", "from", "given", "during", "whenever", "once", "until", "unless", "where",
];

/// Maximum bytes of the name in `name: value`.
const NAME: usize = 40;

/// Returns the sentence, or as many of its first clauses as fit in `most` bytes. Returns `None` if neither a clause of
/// plain words nor a pair `name: value` fits.
pub fn clause(sentence: &str, most: usize) -> Option<&str> {
    const MARKS: [char; 8] = ['.', '!', ' ', ',', ':', ';', '-', '–'];
    let whole = sentence.trim_end_matches(MARKS);
    let cut = |end: &str| whole[..whole.floor_char_boundary(most)].rfind(end);
    let end = if whole.len() <= most {
        whole.len()
    } else {
        CLAUSE_ENDS.iter().filter_map(|end| cut(end)).max()?
    };
    let clause = whole[..end].trim_end_matches(MARKS);
    let plain = |word: &&str| word.len() > 1 && word.starts_with(char::is_lowercase);
    let (all, plain) = (clause.split(' ').count(), clause.split(' ').filter(plain).count());
    let tells = all > 3 && plain > 1 && !is_reading(clause);
    let count = |mark: char| clause.matches(mark).count();
    let closed = count('(') == count(')') && count('“') == count('”') && count('"') % 2 == 0;
    let pair = all > 2 && plain > 0 && !is_reading(clause) && clause.find(": ").is_some_and(|at| at <= NAME);
    let leads = |word: Option<&str>| word.is_some_and(|word| LEADS.contains(&bare(word).as_str()));
    let waits = end < whole.len() && leads(clause.split(' ').next()) || leads(clause.split(' ').next_back());
    ((tells || pair || clause.contains(is_unspaced)) && closed && !waits).then_some(clause)
}

/// Returns `true` for a text with more numbers than plain words, such as the reading of a meter (`Swap: 2.0 GiB`) or a
/// line of a price list.
pub fn is_reading(text: &str) -> bool {
    let of = |meant: fn(&str) -> bool| text.split([' ', '/', '(']).filter(|word| meant(word)).count();
    let numbers = of(|word| word.contains(|mark: char| mark.is_ascii_digit()));
    numbers > 0
        && numbers
            > of(|word| {
                let word = word.trim_end_matches(|mark: char| !mark.is_alphanumeric());
                word.chars().count() > 1 && word.chars().all(char::is_lowercase)
            })
}

/// The words of a sentence with their weights, and features of its form.
#[derive(Debug, Default)]
pub struct SentenceScan {
    /// Distinct words by id, with their weights.
    pub words: Vec<(u32, f32)>,
    /// Number of all words.
    count: usize,
    names: usize,
    /// Counts of words with a meaning of their own, and of numbers.
    telling: (usize, usize),
    own: bool,
    /// True if the sentence addresses the listener.
    pub addressed: bool,
    /// True if the sentence contains a pronoun that may refer to another sentence.
    refers: bool,
    unspaced: bool,
}

impl SentenceScan {
    /// Scans a sentence or, if `listed` is true, a name in a list. Rare words, names and numbers weigh more.
    pub fn of(words: &mut WordCounts, text: &str, listed: bool) -> Self {
        let mut out = Self::default();
        let mut scanned: Vec<(ScannedWord<'_>, bool)> = Vec::new();
        let mut after_name = false;
        words.for_each_word(text, |word| {
            out.see(&word);
            if word.is_significant() {
                let is_name = is_name(&word) || (word.capital && after_name);
                scanned.push((word, is_name && !listed));
                after_name = is_name;
            }
        });
        for (word, is_name) in scanned {
            out.names += usize::from(is_name);
            let rarity = if word.is_number() && !listed {
                words.rarest()
            } else {
                words.rarity(word.id).powf(COMMON)
            };
            out.words.push((word.id, rarity * kind_of_word(&word, is_name)));
        }
        out.words
            .sort_unstable_by(|a, b| a.0.cmp(&b.0).then(b.1.total_cmp(&a.1)));
        out.words.dedup_by_key(|(id, _)| *id);
        out
    }

    fn see(&mut self, word: &ScannedWord<'_>) {
        self.count += 1;
        self.telling.0 += usize::from(word.is_taggable());
        self.telling.1 += usize::from(word.is_number());
        self.unspaced |= word.text.contains(is_unspaced);
        let head = word.text.split(['\'', '’']).next().unwrap_or(word.text);
        let is = |words: &[&str]| words.iter().any(|own| head.eq_ignore_ascii_case(own));
        self.own |= is(&["I", "my", "mine", "we", "our", "me", "myself"]);
        self.addressed |= is(&["you", "your", "yours"]);
        self.refers |= is(&["it", "them", "they", "those"]);
    }

    /// Returns the score of the sentence as a title for the text around it.
    pub fn score(&self, text: &str, speaker: Speaker, aside: bool) -> f32 {
        let sum: f32 = self.words.iter().map(|(_, weight)| weight).sum();
        let sum = sum * (1.0 + 0.5 * self.names.min(3) as f32);
        let alone = if self.refers || is_request(text) { 0.5 } else { 1.0 };
        sum * alone * self.form_factor(text, speaker, aside) / (text.len() as f32 + 25.0).powf(0.8)
    }

    /// Returns true if the sentence has words with a meaning of their own.
    pub fn tells(&self) -> bool {
        self.unspaced || (self.telling.0 > 0 && self.telling.0 + self.telling.1 > 1)
    }

    /// Returns true if the sentence is about something in particular: it has a name or a number besides other words, or
    /// at least four words with a meaning of their own.
    pub fn is_specific(&self) -> bool {
        self.unspaced || self.telling.0 > 3 || self.telling.0 > 1 && self.names + self.telling.1 > 0
    }

    /// Returns the score factor for the form of the sentence. `aside` is true for a part of a table or a quote.
    pub fn form_factor(&self, text: &str, speaker: Speaker, aside: bool) -> f32 {
        let mut factor = match speaker {
            _ if self.own => 1.5,
            Speaker::User | Speaker::Other => 0.9,
            _ => 1.0,
        };
        if text.ends_with(['?', '？']) {
            factor *= 0.45;
        } else if self.addressed {
            factor *= 0.65;
        }
        if aside || text.starts_with('(') {
            factor *= 0.55;
        }
        // Titles in quotation marks and prices increase the score.
        if text.contains(['"', '“', '«', '「', '《', '$', '€', '£', '¥']) {
            factor *= 1.2;
        }
        if self.count < 4 && !self.unspaced {
            factor *= 0.85;
        }
        factor
    }
}

/// Returns true if a word is spelled as a name.
fn is_name(word: &ScannedWord<'_>) -> bool {
    (word.capital && word.joined && word.is_taggable()) || word.text.chars().skip(1).any(char::is_uppercase)
}

/// Returns the weight factor for the kind of a word. The rarity of the word is a separate factor.
fn kind_of_word(word: &ScannedWord<'_>, is_name: bool) -> f32 {
    let unspaced = word.text.chars().filter(|mark| is_unspaced(*mark)).count();
    if unspaced > 1 {
        // A run of a script without spaces contains several words.
        return (unspaced.min(40) as f32 / 2.0).max(1.0);
    }
    if is_name {
        2.0
    } else if word.is_number() {
        1.6
    } else if word.is_taggable() {
        1.0
    } else {
        0.3
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn abbreviations_and_days_of_a_month_do_not_end_a_sentence() {
        let split = |line| split_sentences(line).collect::<Vec<_>>();
        for line in [
            "We will ask Dr. Weber about it",
            "Die Fähre kommt am 21. Dezember an",
        ] {
            assert_eq!(split(line), [line]);
        }
        assert_eq!(split("The ferry uses gate 21. Ada opens it").len(), 2);
    }

    #[test]
    fn greetings_and_transitions_before_a_sentence_are_removed() {
        let table = [
            (
                "Yeah, I painted that lake sunrise!",
                "I painted that lake sunrise!",
            ),
            ("Wow, Caroline! What happened?", "What happened?"),
            ("By the way, I moved to Porto.", "I moved to Porto."),
            ("Thanks, Mel! That's really sweet.", ""),
            ("Paris is great.", "Paris is great."),
            ("My dog is three.", "My dog is three."),
            ("", ""),
        ];
        for (sentence, expected) in table {
            assert_eq!(telling(sentence), expected, "{sentence}");
        }
    }

    #[test]
    fn a_clause_has_plain_words_and_waits_for_no_other() {
        let long = "I bought a red kayak in Porto because the old one had a hole in its hull";
        let table = [
            (long, Some("I bought a red kayak in Porto")),
            ("I bought a red kayak.", Some("I bought a red kayak")),
            ("For my sister's birthday, I bought a red kayak in Porto", None),
            ("Main, MetaController, Mute, NVM, Negative", None),
            ("Focus all of the efforts on", None),
            ("Swap: Total: 2.0 GiB", None),
            ("Gas (2 swaps): 40,000 gas = $0.0009", None),
            ("Database engine: PostgreSQL", Some("Database engine: PostgreSQL")),
            (
                "Staging port of the gate: 8443",
                Some("Staging port of the gate: 8443"),
            ),
            ("Use numbers (1, 2, 3, 4 and so on) for each of the items", None),
        ];
        for (sentence, expected) in table {
            assert_eq!(clause(sentence, 40), expected, "{sentence}");
        }
    }

    #[test]
    fn pronouns_refer_back() {
        assert!(refers_back("It's so tranquil.") && refers_back("They help us"));
        assert!(!refers_back("Italy is warm.") && !refers_back(""));
    }
}
