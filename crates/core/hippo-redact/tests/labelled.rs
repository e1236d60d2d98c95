//! Recall and precision of redaction on labelled data.

#[path = "secrets/labelled.rs"]
#[allow(dead_code, reason = "other crates use the rest of this module")]
mod labelled;

use hippo_redact::{REDACTED, redact};
use labelled::{labelled, secrets};

#[test]
fn redaction_finds_99_percent_of_secrets_with_1_percent_false_positives() {
    let (with, without) = (labelled("+ "), labelled("- "));
    assert!(with.len() >= 150 && without.len() >= 150);
    let (mut all, mut found, mut exact) = (0, 0, 0);
    let mut wrong = Vec::new();
    for line in &with {
        let text = line.replace(['⟦', '⟧'], "");
        let shown = redact(&text);
        let wanted = secrets(line)
            .into_iter()
            .fold(text.clone(), |text, secret| text.replacen(secret, REDACTED, 1));
        exact += usize::from(shown == wanted);
        for secret in secrets(line) {
            all += 1;
            // A secret of several lines counts as found if none of its lines remains.
            if secret
                .lines()
                .map(str::trim)
                .any(|part| !part.is_empty() && shown.contains(part))
            {
                wrong.push(format!("missed: {text}\n     as: {shown}"));
            } else {
                found += 1;
            }
        }
        if shown != wanted {
            println!("not exact: {text}\n       as: {shown}");
        }
    }
    let changed = without.iter().filter(|line| redact(line) != line.as_str());
    let changed: Vec<String> = changed
        .map(|line| format!("no secret: {line}\n       as: {}", redact(line)))
        .collect();
    let figures = format!(
        "{found} of {all} secrets found, {exact} of {} lines exactly; {} of {} other lines changed",
        with.len(),
        changed.len(),
        without.len()
    );
    println!("{figures}");
    let enough = found * 100 >= all * 99 && changed.len() * 100 <= without.len();
    wrong.extend(changed);
    println!("{}", wrong.join("\n"));
    assert!(enough, "{figures}\n{}", wrong.join("\n"));
}
