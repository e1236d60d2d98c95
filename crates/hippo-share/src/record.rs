//! Redacted and signed documents and passages.

use std::collections::HashMap;

use hippo_redact::{redact, redact_lines};
use hippo_text::chunk::{ContentHash, Speaker};
use hippo_text::terms::Analyzer;

use crate::device::{DeviceKey, is_signed_by};

/// A workspace as the team sees it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WorkspaceIdentity {
    /// Id of the workspace on its device.
    pub id: String,
    /// Name of the workspace.
    pub name: String,
}

/// A passage as the index contains it. It may contain secrets.
#[derive(Debug, Clone)]
pub struct LocalPassage {
    /// First and last line in the document, 1-based.
    pub lines: (u32, u32),
    /// Headings above the passage, outermost first.
    pub heading: Vec<String>,
    /// Date, `YYYY-MM-DD`.
    pub day: Option<String>,
    /// Speaker of the text.
    pub speaker: Speaker,
    /// The text.
    pub text: String,
    /// The vector of the text and the id of its model, if known.
    pub vector: Option<(String, Vec<f32>)>,
}

/// A document that can leave the machine.
#[derive(Debug, Clone)]
pub struct OutgoingDocument {
    /// Path relative to the workspace.
    pub path: String,
    /// Digest of the document, by which a change is noticed.
    pub digest: [u8; 32],
    /// The passages, in order.
    pub passages: Vec<OutgoingPassage>,
}

/// A passage that can leave the machine. Its text contains no secret that hippo-redact finds.
#[derive(Debug, Clone)]
pub struct OutgoingPassage {
    /// First and last line in the document, 1-based.
    pub lines: (u32, u32),
    /// Headings above the passage, outermost first.
    pub heading: Vec<String>,
    /// Date, `YYYY-MM-DD`.
    pub day: Option<String>,
    /// Speaker of the text.
    pub speaker: Speaker,
    /// The text.
    pub text: String,
    /// Index terms, separated by spaces.
    pub terms: String,
    /// Number of index terms.
    pub terms_count: u32,
    /// The vector and the id of its model. A redacted passage has none, because the vector of the original text could
    /// reveal the secret.
    pub vector: Option<(String, Vec<f32>)>,
    /// Hash of the text.
    pub hash: [u8; 16],
    /// Number of earlier passages of the document with the same hash.
    pub nth: u32,
    /// Signature of the device.
    pub signature: Vec<u8>,
}

/// The signed facts about a passage.
#[derive(Debug, Clone, Copy)]
pub struct SignedFacts<'a> {
    /// Name of the team.
    pub team: &'a str,
    /// Id of the workspace.
    pub workspace: &'a str,
    /// Name of the workspace.
    pub workspace_name: &'a str,
    /// Path of the document.
    pub path: &'a str,
    /// Headings above the passage.
    pub heading: &'a [String],
    /// Date.
    pub day: Option<&'a str>,
    /// The text.
    pub text: &'a str,
}

impl SignedFacts<'_> {
    /// Returns true if the device with this public key signed these facts.
    pub fn are_signed_by(&self, device: &[u8], signature: &[u8]) -> bool {
        is_signed_by(device, &self.message(), signature)
    }

    /// Returns the signed message. Each part is preceded by its length, so that different facts have different messages.
    fn message(&self) -> Vec<u8> {
        let mut message = b"hippod passage 1".to_vec();
        let mut add = |part: &str| {
            message.extend((part.len() as u64).to_le_bytes());
            message.extend(part.as_bytes());
        };
        add(self.team);
        add(self.workspace);
        add(self.workspace_name);
        add(self.path);
        add(self.day.unwrap_or_default());
        add(self.text);
        self.heading.iter().for_each(|title| add(title));
        message
    }
}

/// Returns the number by which passages name their device and workspace.
pub fn source_of(device: &[u8], workspace: &str) -> i64 {
    let hash = blake3::Hasher::new()
        .update(device)
        .update(workspace.as_bytes())
        .finalize();
    let mut first = [0; 8];
    first.copy_from_slice(&hash.as_bytes()[..8]);
    i64::from_le_bytes(first)
}

/// Redacts and signs the passages of a document. `whole` is the text of the document: a secret can begin in one passage
/// and end in another.
pub fn prepare(
    key: &DeviceKey,
    team: &str,
    workspace: &WorkspaceIdentity,
    (path, digest): (&str, [u8; 32]),
    whole: &str,
    passages: Vec<LocalPassage>,
) -> OutgoingDocument {
    let redacted = redact_lines(whole);
    let (lines, redacted): (Vec<&str>, Vec<&str>) = (whole.lines().collect(), redacted.lines().collect());
    // The model reads neighbouring passages and headings together, so their secrets are part of a vector.
    let is_clean = lines == redacted;
    let redacted_lines = |(first, last): (u32, u32)| {
        let range = (first.max(1) as usize - 1)..last as usize;
        let (before, after) = (lines.get(range.clone())?, redacted.get(range)?);
        (before != after).then(|| after.join("\n"))
    };
    let mut analyzer = Analyzer::new();
    let mut seen: HashMap<[u8; 16], u32> = HashMap::new();
    let one = |passage: LocalPassage| {
        // PostgreSQL does not store the character NUL.
        let whole_lines = redacted_lines(passage.lines);
        let text = redact_lines(whole_lines.as_deref().unwrap_or(&passage.text)).replace('\0', "\u{fffd}");
        let clean = |title: &String| redact(title).replace('\0', "\u{fffd}");
        let mut heading: Vec<String> = passage.heading.iter().map(clean).collect();
        heading.retain(|title| !title.is_empty());
        let mut terms = String::new();
        let terms_count = analyzer.index_terms(&text, &mut terms);
        let facts = SignedFacts {
            team,
            workspace: &workspace.id,
            workspace_name: &workspace.name,
            path,
            heading: &heading,
            day: passage.day.as_deref(),
            text: &text,
        };
        let signature = key.sign(&facts.message());
        let hash = ContentHash::of(text.as_bytes()).0;
        let count = seen.entry(hash).or_default();
        *count += 1;
        OutgoingPassage {
            lines: passage.lines,
            day: passage.day,
            speaker: passage.speaker,
            vector: passage.vector.filter(|_| is_clean),
            hash,
            nth: *count - 1,
            terms,
            terms_count: u32::try_from(terms_count).unwrap_or(u32::MAX),
            signature,
            heading,
            text,
        }
    };
    OutgoingDocument {
        passages: passages.into_iter().map(one).collect(),
        path: path.to_owned(),
        digest,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key() -> DeviceKey {
        DeviceKey::load(&tempfile::tempdir().unwrap().path().join("key")).unwrap()
    }

    fn passage(lines: (u32, u32), text: &str) -> LocalPassage {
        LocalPassage {
            lines,
            heading: vec!["Deploy".to_owned()],
            day: Some("2026-03-02".to_owned()),
            speaker: Speaker::None,
            text: text.to_owned(),
            vector: Some(("hash".to_owned(), vec![0.5; 4])),
        }
    }

    fn prepared(key: &DeviceKey, whole: &str, passages: Vec<LocalPassage>) -> OutgoingDocument {
        let workspace = WorkspaceIdentity {
            id: "w1".to_owned(),
            name: "project".to_owned(),
        };
        prepare(key, "core", &workspace, ("memory/a.md", [0; 32]), whole, passages)
    }

    #[test]
    fn a_secret_leaves_neither_as_text_nor_in_a_vector() {
        let secret = "ghp_16C7e42F292c6912E7710c838347Ae178B4a";
        let text = format!("- the token is {secret}");
        let whole = format!("- the pump is blue\n{text}\n");
        let passages = vec![passage((1, 1), "- the pump is blue"), passage((2, 2), &text)];
        let document = prepared(&key(), &whole, passages);
        assert!(!format!("{document:?}").contains(&secret[4..]));
        // The model reads neighbouring passages together.
        assert!(document.passages.iter().all(|passage| passage.vector.is_none()));
        let clean = vec![passage((1, 1), "- the pump is blue")];
        let document = prepared(&key(), "- the pump is blue\n", clean);
        assert!(document.passages[0].vector.is_some());
    }

    #[test]
    fn a_secret_that_spans_two_passages_is_redacted_in_both() {
        let block = "-----BEGIN OPENSSH PRIVATE KEY-----\nb3BlbnNzaC1rZXktdjEAAAAABG5vbmUAAAAEbm9uZQAAAAAAAAABAAAAMwAA\n\nAAAAtzc2gtZWQyNTUxOQAAACBqk0l2c1Zk9oZk1hbm90aGVyAAAA\n-----END OPENSSH PRIVATE KEY-----\n";
        let lines: Vec<&str> = block.lines().collect();
        let passages = vec![
            passage((1, 2), &lines[..2].join("\n")),
            passage((4, 5), &lines[3..].join("\n")),
        ];
        let document = prepared(&key(), block, passages);
        let shown = format!("{document:?}");
        assert!(
            !shown.contains("b3BlbnNza") && !shown.contains("AAAAtzc2gt"),
            "{shown}"
        );
    }

    #[test]
    fn a_signature_covers_the_text_its_place_and_its_author() {
        let key = key();
        let document = prepared(
            &key,
            "- the pump is blue\n",
            vec![passage((1, 1), "- the pump is blue")],
        );
        let signature = &document.passages[0].signature;
        let heading = ["Deploy".to_owned()];
        let facts = SignedFacts {
            team: "core",
            workspace: "w1",
            workspace_name: "project",
            path: "memory/a.md",
            heading: &heading,
            day: Some("2026-03-02"),
            text: "- the pump is blue",
        };
        assert!(facts.are_signed_by(&key.public(), signature));
        let changed = [
            SignedFacts {
                team: "cora",
                ..facts
            },
            SignedFacts {
                workspace: "w2",
                ..facts
            },
            SignedFacts {
                path: "memory/b.md",
                ..facts
            },
            SignedFacts {
                heading: &[],
                ..facts
            },
            SignedFacts { day: None, ..facts },
            SignedFacts {
                text: "- the pump is red",
                ..facts
            },
            SignedFacts {
                workspace: "w1project",
                workspace_name: "",
                ..facts
            },
        ];
        for facts in changed {
            assert!(!facts.are_signed_by(&key.public(), signature), "{facts:?}");
        }
    }

    #[test]
    fn equal_passages_of_a_document_are_numbered() {
        let whole = "- again\n- again\n";
        let document = prepared(
            &key(),
            whole,
            vec![passage((1, 1), "- again"), passage((2, 2), "- again")],
        );
        let numbers: Vec<u32> = document.passages.iter().map(|passage| passage.nth).collect();
        assert_eq!(numbers, [0, 1]);
        assert_eq!(document.passages[0].hash, document.passages[1].hash);
    }
}
