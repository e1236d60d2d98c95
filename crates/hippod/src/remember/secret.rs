//! Secrets in a `remember` request, and notes about them.

use std::collections::BTreeSet;

use hippo_proto::RememberRequest;
use hippo_redact::{SecretKind, find_kinds};

use super::AppendResult;

/// Kinds of secrets found in a request, without their values.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Secrets {
    /// Kinds in the text, which is stored unchanged in the log.
    text: BTreeSet<SecretKind>,
    /// Kinds in the topic and the tags, which are stored without the secrets.
    beside: BTreeSet<SecretKind>,
}

impl Secrets {
    /// Finds the secrets of a request.
    pub fn of(request: &RememberRequest) -> Self {
        let tags = request.tags.iter().flatten();
        let beside = tags.chain(&request.topic).flat_map(|said| find_kinds(said));
        Self {
            text: find_kinds(&request.text),
            beside: beside.collect(),
        }
    }

    /// Returns the names of all kinds found.
    pub fn names(&self) -> Vec<String> {
        let all = self.text.union(&self.beside);
        all.map(|kind| kind.name().to_owned()).collect()
    }

    /// Returns the notes for the user, with instructions.
    pub fn notes(&self, appended: &AppendResult) -> Vec<String> {
        let mut notes = Vec::new();
        let AppendResult {
            path,
            start_line,
            end_line,
            ..
        } = appended;
        if !self.text.is_empty() {
            notes.push(format!(
                "the text seems to contain a secret ({}): the log contains the secret unchanged, and \
                 everything derived from the log shows … instead; to remove the secret, delete it from \
                 {path}, lines {start_line} to {end_line}; if others can read that file, also change the \
                 secret wherever it is used",
                words(&self.text)
            ));
        }
        if !self.beside.is_empty() {
            notes.push(format!(
                "the topic or a tag was omitted, because it looks like a secret ({})",
                words(&self.beside)
            ));
        }
        notes
    }
}

fn words(kinds: &BTreeSet<SecretKind>) -> String {
    let names: Vec<String> = kinds.iter().map(|kind| kind.name().replace('-', " ")).collect();
    names.join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_secret_is_reported_by_kind_without_its_value() {
        let request = RememberRequest {
            text: "the NAS password is hunter2".into(),
            topic: Some("Token glpat-1234567890abcdefghij".into()),
            tags: Some(vec!["nas".into()]),
            ..RememberRequest::default()
        };
        let appended = AppendResult {
            path: "memory/2026-03-02.md".into(),
            topic: "Token …".into(),
            section: "Token …".into(),
            start_line: 3,
            end_line: 5,
            repeated: false,
        };
        let secrets = Secrets::of(&request);
        assert_eq!(secrets.names(), ["password", "provider-token"]);
        let notes = secrets.notes(&appended);
        assert!(
            notes[0].contains("(password)")
                && notes[0].contains("delete it from memory/2026-03-02.md, lines 3 to 5"),
            "{notes:?}"
        );
        assert!(notes[1].contains("(provider token)"), "{notes:?}");
        let shown = notes.concat();
        assert!(
            !shown.contains("hunter2") && !shown.contains("1234567890"),
            "{shown}"
        );
        let plain = Secrets::of(&RememberRequest {
            text: "the pump is blue".into(),
            ..RememberRequest::default()
        });
        assert_eq!((plain.names(), plain.notes(&appended)), (vec![], vec![]));
    }
}
