//! Every format of the published list, in every place of a text.

use super::{derived::without_secrets, lines_without_secrets, redact, redact_lines};

const FORMATS: &str = include_str!("../../tests/data/secret_formats.txt");
const LIST: &str = include_str!("../../../../docs/secrets.md");

/// Text around a secret.
const AROUND: [&str; 12] = [
    "%",
    "- %\n- the pump is blue\n",
    "the pump is blue. %",
    "> % and then",
    "`%`",
    "1. noted: %\n",
    "| pump | % |\n",
    "    %\n",
    "export %\n",
    "```\n%\n```\n",
    "see (%), please",
    "* **note**: %",
];

/// A generator of numbers from a fixed seed.
struct Dice(u64);

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
        // What is short must not be a word by chance.
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

/// A secret of the format, and the parts of it that must not be seen.
fn made(template: &str, dice: &mut Dice) -> (String, Vec<String>) {
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
        // Short parts, an id or a version, are no secret by themselves.
        if part.len() >= 12 {
            parts.push(part);
        }
        rest = after;
    }
    text.push_str(rest);
    (text, parts)
}

fn formats() -> Vec<(&'static str, &'static str)> {
    FORMATS.lines().map(|row| row.split_once('|').unwrap()).collect()
}

#[test]
fn formats_of_the_list_are_found_wherever_they_stand() {
    let formats = formats();
    assert!(formats.len() >= 200, "{}", formats.len());
    let (mut all, mut missed) = (0, Vec::new());
    let mut dice = Dice(0x5eed_cafe);
    for (name, template) in &formats {
        for around in AROUND {
            for _ in 0..3 {
                let (secret, parts) = made(template, &mut dice);
                let text = around.replace('%', &secret);
                let shown = [
                    redact(&text).into_owned(),
                    redact_lines(&text).into_owned(),
                    without_secrets(&text).into_owned(),
                    lines_without_secrets(&text, false).into_owned(),
                ];
                for shown in shown {
                    all += 1;
                    // A quarter of a part is as much as may be seen.
                    let seen = parts.iter().any(|part| {
                        shown.contains(&part[..part.len() / 2]) || shown.contains(&part[part.len() / 2..])
                    });
                    if seen || shown.contains(&secret) {
                        missed.push(format!("{name}: {text:?}\n   {shown:?}"));
                    }
                }
            }
        }
    }
    assert!(
        missed.len() * 100 <= all,
        "{} of {all}:\n{}",
        missed.len(),
        missed
            .iter()
            .step_by(1 + missed.len() / 40)
            .cloned()
            .collect::<Vec<_>>()
            .join("\n")
    );
}

#[test]
fn the_document_lists_every_format() {
    let listed: Vec<&str> = LIST
        .lines()
        .filter_map(|line| line.strip_prefix("- `")?.strip_suffix('`'))
        .collect();
    let known: Vec<&str> = formats().iter().map(|(name, _)| *name).collect();
    assert_eq!(
        listed, known,
        "docs/secrets.md lists other formats than tests/data/secret_formats.txt"
    );
}
