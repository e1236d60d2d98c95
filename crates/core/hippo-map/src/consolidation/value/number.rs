//! Normalized amounts, times, dates and versions.
//!
//! "5,000" equals "5000", "30s" equals "30 seconds", "2 million euros" equals "€2 million". Other words
//! with digits are kept as written: versions, addresses, names with numbers.

/// Number words. "One" is missing because it is usually an article.
const NUMBERS: &str = "\
    zero=0 two=2 three=3 four=4 five=5 six=6 seven=7 eight=8 nine=9 ten=10 eleven=11 twelve=12 thirteen=13 fourteen=14 \
    fifteen=15 sixteen=16 seventeen=17 eighteen=18 nineteen=19 twenty=20 thirty=30 forty=40 fifty=50 sixty=60 \
    hundred=100 dozen=12 twice=2 thrice=3 zwei=2 drei=3 vier=4 fünf=5";
/// Ordinal words. "Second" is missing because it is also a unit.
const ORDINALS: &str =
    "zeroth=0 first=1 third=3 fourth=4 fifth=5 sixth=6 seventh=7 eighth=8 ninth=9 tenth=10";
/// Words for the scale of a number, such as "million".
const SCALES: &str =
    "k=thousand thousand=thousand million=million millions=million mio=million billion=billion";
/// Units, each with its spellings.
#[rustfmt::skip] // keep the list compact
const UNITS: [&str; 36] = [
    "s sec secs second seconds sek sekunden", "ms msec millisecond milliseconds",
    "min mins minute minutes minuten", "h hr hrs hour hours stunden", "d day days tage tagen",
    "week weeks wk wochen", "month months monate", "year years yr yrs jahre", "b byte bytes",
    "kb kilobyte kilobytes", "mb megabyte megabytes", "gb gigabyte gigabytes gig", "tb terabyte terabytes",
    "kib", "mib", "gib", "tib", "% percent prozent", "€ eur euro euros", "$ usd dollar dollars",
    "£ gbp pound pounds", "kr nok kroner krone", "mm", "cm", "m meter meters metre metres",
    "km kilometer kilometers kilometre kilometres", "mg", "g gram grams", "kg kilo kilos kilogram kilograms",
    "ml", "l liter liters litre litres", "°c celsius", "°f fahrenheit", "px pixel pixels", "am a.m", "pm p.m",
];

/// Value in normalized form.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct StatedValue {
    /// Unit or notation. Values of the same kind could be confused, so their order matters.
    pub kind: &'static str,
    /// Number, or the whole word.
    pub number: String,
    /// Scale, such as "million" in "2 million"; empty if absent.
    pub scale: &'static str,
}

impl StatedValue {
    pub fn new(kind: &'static str, number: impl Into<String>) -> Self {
        Self {
            kind,
            number: number.into(),
            scale: "",
        }
    }

    /// Adds a word after the number as its scale or unit. Returns `true` if the word is a scale or unit.
    pub fn absorb(&mut self, lower: &str) -> bool {
        let bare = self.kind == "plain";
        let money = matches!(self.kind, "€" | "$" | "£");
        let scale = find_value(SCALES, lower);
        if let Some(scale) = scale.filter(|_| (bare || money) && self.scale.is_empty()) {
            self.scale = scale;
            return true;
        }
        let clock = self.kind == "clock" && lower.ends_with('m');
        let unit = find_unit(lower).filter(|_| bare || clock);
        self.kind = unit.unwrap_or(self.kind);
        unit.is_some()
    }
}

fn find_unit(lower: &str) -> Option<&'static str> {
    let mut groups = UNITS.iter();
    let group = groups.find(|group| group.split(' ').any(|unit| unit == lower))?;
    group.split(' ').next()
}

/// Returns the value of a number word.
pub(super) fn parse_number_word(lower: &str) -> Option<StatedValue> {
    let lists = [(NUMBERS, "plain"), (ORDINALS, "ordinal")];
    lists
        .into_iter()
        .find_map(|(list, kind)| Some(StatedValue::new(kind, find_value(list, lower)?)))
}

/// Looks up the value of a word in a list.
fn find_value(list: &'static str, word: &str) -> Option<&'static str> {
    let mut pairs = list.split(' ').filter_map(|pair| pair.split_once('='));
    pairs.find(|(known, _)| *known == word).map(|(_, value)| value)
}

/// Returns the values of a lower-case word with digits; two for a range.
pub(super) fn parse_values(lower: &str) -> Vec<StatedValue> {
    let lower = lower.trim_start_matches('#');
    let number = |part: &str| part.starts_with(|mark: char| mark.is_ascii_digit()) && is_number(part);
    for mark in ['–', '—', '-'] {
        if let Some((from, to)) = lower.split_once(mark)
            && number(from)
            && (number(to) || mark != '-' && to.starts_with(|first: char| first.is_ascii_digit()))
        {
            let mut both = parse_values(from);
            both.extend(parse_values(to));
            return both;
        }
    }
    vec![parse_value(lower)]
}

fn is_number(text: &str) -> bool {
    text.bytes()
        .all(|byte| byte.is_ascii_digit() || matches!(byte, b'.' | b',' | b':'))
}

fn parse_value(lower: &str) -> StatedValue {
    // A currency sign before the number: "€20".
    let rest = lower.strip_prefix(['€', '$', '£']).unwrap_or(lower);
    let sign = &lower[..lower.len() - rest.len()];
    let end = rest
        .char_indices()
        .find(|(at, mark)| {
            !(mark.is_ascii_digit()
                || matches!(mark, '.' | ',' | ':')
                || *at == 0 && matches!(mark, '+' | '-'))
        })
        .map_or(rest.len(), |(at, _)| at);
    let (digits, suffix) = rest.split_at(end);
    if !digits.bytes().any(|byte| byte.is_ascii_digit()) {
        // "v1.2" is version 1.2.
        let version = rest.strip_prefix('v').filter(|number| is_number(number));
        return StatedValue::new("name", version.unwrap_or(lower));
    }
    let mut value = parse_digits(digits);
    let suffix = suffix.trim_start_matches('-');
    if !sign.is_empty() {
        value.absorb(suffix);
        value.absorb(sign);
        return value;
    }
    let ordinal = matches!(suffix, "st" | "nd" | "rd" | "th");
    if suffix.is_empty() || value.absorb(suffix) {
        value
    } else if ordinal {
        StatedValue::new("ordinal", value.number)
    } else {
        StatedValue::new("name", lower)
    }
}

fn parse_digits(digits: &str) -> StatedValue {
    if digits.contains(':') {
        return StatedValue::new("clock", digits.strip_prefix('0').unwrap_or(digits));
    }
    let grouped = digits.split_once(',').is_some_and(|(head, tail)| {
        let whole = tail.split('.').next().unwrap_or_default();
        head.len() <= 3 && whole.split(',').all(|group| group.len() == 3)
    });
    if grouped {
        return StatedValue::new("plain", digits.replace(',', ""));
    }
    // Two dots mark a version or a date.
    let is_name = digits.matches('.').count() > 1;
    StatedValue::new(if is_name { "name" } else { "plain" }, digits)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Vec<StatedValue> {
        let mut found: Vec<StatedValue> = Vec::new();
        for word in text.split(' ') {
            if word.contains(|mark: char| mark.is_ascii_digit()) {
                found.extend(parse_values(word));
            } else if !found.last_mut().is_some_and(|value| value.absorb(word)) {
                found.extend(parse_number_word(word));
            }
        }
        found
    }

    #[test]
    fn spellings_of_one_amount_are_equal() {
        let table: [&[&str]; 12] = [
            &["5000", "5,000"],
            &["30s", "30 s", "30 seconds", "thirty seconds", "30-s"],
            &["2 million euros", "€2 million", "2 million €"],
            &["$20", "20 usd", "20$", "20 dollars"],
            &["50%", "50 %", "50 percent"],
            &["9:15", "09:15"],
            &["18.2.0", "v18.2.0"],
            &["3-5", "3–5", "3 to 5"],
            &["10th", "tenth"],
            &["240 °c", "240°c"],
            &["64 gb", "64gb"],
            &["#42", "42"],
        ];
        for same in table {
            for other in &same[1..] {
                assert_eq!(read(same[0]), read(other), "{} / {other}", same[0]);
            }
        }
    }

    #[test]
    fn different_amounts_differ() {
        let table = [
            ("64 mb", "64 gb"),
            ("30 s", "30 ms"),
            ("30 s", "30 min"),
            ("5", "5 million"),
            ("1.5", "15"),
            ("1,5", "15"),
            ("20 €", "20 $"),
            ("9 am", "9 pm"),
            ("v1.2", "v1.3"),
            ("-5", "5"),
            ("utf-8", "utf-16"),
            ("10.4.0.17", "10.4.0.18"),
            ("2026-04-21", "2026-04-22"),
            ("1,500", "15,000"),
        ];
        for (one, other) in table {
            assert_ne!(read(one), read(other), "{one} / {other}");
        }
    }
}
