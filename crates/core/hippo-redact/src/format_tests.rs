//! Tests of every published secret format in various contexts.

#[path = "../tests/secrets/planted.rs"]
mod planted;

use super::{derived::without_secrets, lines_without_secrets, redact, redact_lines};
use planted::{Dice, formats, planted};

const LIST: &str = include_str!("../../../../docs/secrets.md");

/// Contexts in which a secret may occur. `%` marks the place of the secret.
const AROUND: [&str; 14] = [
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
    "No, use % for pump3 instead",
    "pump3 --set %",
];

#[test]
fn listed_formats_are_found_in_every_context() {
    let formats = formats();
    assert!(formats.len() >= 200, "{}", formats.len());
    let (mut all, mut missed) = (0, Vec::new());
    let mut dice = Dice(0x5eed_cafe);
    for (name, template) in &formats {
        for around in AROUND {
            for _ in 0..3 {
                let secret = planted(template, &mut dice);
                let text = around.replace('%', &secret.text);
                let shown = [
                    redact(&text).into_owned(),
                    redact_lines(&text).into_owned(),
                    without_secrets(&text).into_owned(),
                    lines_without_secrets(&text, false).into_owned(),
                ];
                for shown in shown {
                    all += 1;
                    if secret.is_seen(&shown) {
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
    let block = LIST.split("```").nth(1).expect("no block of formats");
    let listed: Vec<&str> = block.split_whitespace().skip(1).collect();
    let known: Vec<&str> = formats().iter().map(|(name, _)| *name).collect();
    assert_eq!(
        listed, known,
        "docs/secrets.md lists other formats than tests/data/secret_formats.txt"
    );
}
