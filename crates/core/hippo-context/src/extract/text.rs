//! Extraction of values from plain text.

use super::draft::Draft;
use super::lines::NumberedText;
use super::values::Values;
use super::{ContentKind, counted};
use hippo_text::literal::LiteralKind;
use hippo_text::text::clip;

/// Maximum bytes of the text's first line in the summary.
const FIRST: usize = 200;
/// Typical last characters of lines of code. A text counts as code if at least a quarter of its lines end with one.
const CODE: [char; 8] = ['{', '}', '(', ')', '[', ']', ';', ','];

pub(super) fn draft(text: &NumberedText<'_>) -> Draft {
    let mut values = Values::default();
    let (mut lines, mut code, mut first) = (0_usize, 0_usize, "");
    for line in text.lines() {
        lines += 1;
        code += usize::from(line.text.trim_end().ends_with(CODE));
        values.take(line.text);
        if first.is_empty() && line.text.chars().filter(|c| c.is_alphanumeric()).count() > 2 {
            first = line.text;
        }
    }
    let mut said = counted(lines, "line");
    // For code, leave out the first line: it is often an import or a comment.
    if code * 4 < lines {
        said.push_str(&format!(": {}", clip(first, FIRST)));
    }
    let mut draft = Draft::new(ContentKind::Text, said);
    for (key, sort, least) in [
        ("paths", LiteralKind::Path, 2),
        ("ids", LiteralKind::Id, 3),
        ("urls", LiteralKind::Url, 1),
        ("numbers", LiteralKind::Number, 2),
    ] {
        let found = values.of(&[sort]).into_iter();
        draft.list(key, found.map(|found| found.text.to_owned()), least);
    }
    draft
}
