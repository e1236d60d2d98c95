//! The extension's compaction formula, as a baseline.
//!
//! The scores are those of hippo-session, with these differences: a message counts as referenced if a later one
//! contains its first 30 characters. Kept content is cut at 500 characters. The sparse index is filled from the
//! beginning. No line has an id.

use std::fmt::Write as _;

use hippo_session::compaction::{
    CompactionConfig, EntryType, Message, Role, ScoreFacts, Tier, classify, importance, retention, tier,
};

/// Maximum number of characters of a message that is kept.
const KEPT: usize = 500;

/// Returns the summary.
pub fn summary(messages: &[Message<'_>]) -> String {
    let config = CompactionConfig::default();
    let (mut kept, mut compressed, mut sparse, mut goals) =
        (String::new(), String::new(), String::new(), String::new());
    let mut sparse_tokens = 0;
    for (index, message) in messages.iter().enumerate() {
        let text = &*message.text;
        let kind = classify(message);
        let beginning = first(text, 30);
        let facts = ScoreFacts {
            age: messages.len() - 1 - index,
            tokens: text.chars().count().div_ceil(4),
            referenced: messages[index + 1..]
                .iter()
                .any(|later| later.text.contains(beginning)),
        };
        let retention = retention(&config, kind, importance(kind, facts), facts.age);
        let line = line(message, kind, facts.tokens);
        let _ = match tier(&config, retention) {
            Tier::Keep => writeln!(
                kept,
                "### [{}] (r={retention:.2})\n{}\n",
                kind.name(),
                first(text, KEPT)
            ),
            Tier::Compress => writeln!(compressed, "• (r={retention:.2}) {line}"),
            Tier::Sparse => {
                let tokens = line.chars().count().div_ceil(4);
                if sparse_tokens + tokens <= config.max_sparse_index_tokens {
                    sparse_tokens += tokens;
                    writeln!(sparse, "{line}")
                } else {
                    Ok(())
                }
            }
        };
        let goal = first(text, 120).replace('\n', " ");
        if kind == EntryType::UserIntent && retention >= config.sparse_threshold && goal.chars().count() > 10
        {
            let _ = writeln!(goals, "- {goal}");
        }
    }
    format!(
        "# hippocampus.md Compaction\n<!-- decay, thresholds -->\n<!-- entries -->\n\n## Goal\n{goals}\n## Active Context (high retention)\n{kept}\n\
         ## Compressed (mid retention — re-fetch if needed)\n{compressed}\n## Sparse Index (decayed — pointers only)\n{sparse}\n<!-- stats -->"
    )
}

fn line(message: &Message<'_>, kind: EntryType, tokens: usize) -> String {
    let text = &*message.text;
    match kind {
        EntryType::ToolResult => format!("[TOOL:{}] {tokens}tok → \"{}\"", message.name, first(text, 80)),
        EntryType::UserIntent => format!("[USER] \"{}\"", first(text, 100)),
        EntryType::Decision => format!("[DECISION] \"{}\"", first(text, 100)),
        EntryType::Ephemeral => format!("[EPHEMERAL] {}", first(text, 40)),
        EntryType::Context | EntryType::Unknown => {
            let role = if message.role == Role::Assistant {
                "ASSISTANT"
            } else {
                "SYSTEM"
            };
            format!("[{role}] {}", first(text, 80))
        }
    }
}

fn first(text: &str, characters: usize) -> &str {
    let end = text.char_indices().nth(characters);
    end.map_or(text, |(at, _)| &text[..at])
}
