//! Secrets of the formats in docs/secrets.md, generated from a seed.

const FORMATS: &str = include_str!("../data/secret_formats.txt");

/// A generator of random numbers from a fixed seed.
pub(crate) struct Dice(pub(crate) u64);

impl Dice {
    fn below(&mut self, most: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 % most as u64).unwrap()
    }

    fn run(&mut self, class: char, length: usize) -> String {
        let letters: &[u8] = match class {
            'h' => b"0123456789abcdef",
            'd' => b"0123456789",
            'A' => b"ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789",
            'a' => b"abcdefghijklmnopqrstuvwxyz0123456789",
            _ => b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789",
        };
        let mut run: String = (0..length)
            .map(|_| char::from(letters[self.below(letters.len())]))
            .collect();
        // Include a digit, so that a random part is not a word by chance.
        if length >= 8 && class != 'd' {
            run.replace_range(1..4, "7k4");
            if class == 'h' {
                run.replace_range(1..4, "7c4");
            }
            if class == 'A' {
                run.replace_range(1..4, "7K4");
            }
        }
        run
    }
}

/// A generated secret.
pub(crate) struct Planted {
    /// The text that a test writes into a document.
    pub(crate) text: String,
    /// The random parts of the secret that are long enough to be secrets on their own.
    parts: Vec<String>,
}

impl Planted {
    /// Returns true if a text contains the secret, or half of one of its parts.
    pub(crate) fn is_seen(&self, shown: &str) -> bool {
        let half_is_seen = |part: &String| {
            let (first, second) = part.split_at(part.len() / 2);
            shown.contains(first) || shown.contains(second)
        };
        self.parts.iter().any(half_is_seen) || shown.contains(&self.text)
    }
}

/// Generates a secret from a template in docs/secrets.md.
pub(crate) fn planted(template: &str, dice: &mut Dice) -> Planted {
    const WORDS: [&str; 8] = [
        "abandon", "ability", "absent", "velvet", "tunnel", "orbit", "lemon", "garage",
    ];
    let template = template.replace('·', "").replace("\\n", "\n");
    let (mut text, mut parts, mut rest) = (String::new(), Vec::new(), template.as_str());
    while let Some((before, after)) = rest.split_once('{') {
        let (class, after) = after.split_once('}').unwrap();
        text.push_str(before);
        let part = if class == "u" {
            [8, 4, 4, 4, 12].map(|length| dice.run('h', length)).join("-")
        } else if let Some(count) = class.strip_prefix("words") {
            let count: usize = count.parse().unwrap();
            let words: Vec<&str> = (0..count).map(|_| WORDS[dice.below(WORDS.len())]).collect();
            words.join(" ")
        } else {
            let (class, length) = class.split_at(1);
            dice.run(class.chars().next().unwrap(), length.parse().unwrap())
        };
        text.push_str(&part);
        // A short part, such as an id or a version, is not a secret on its own.
        if part.len() >= 12 {
            parts.push(part);
        }
        rest = after;
    }
    text.push_str(rest);
    Planted { text, parts }
}

/// Returns the name and the template of each format in docs/secrets.md.
pub(crate) fn formats() -> Vec<(&'static str, &'static str)> {
    FORMATS.lines().map(|row| row.split_once('|').unwrap()).collect()
}
