//! Lifecycle policies of a workspace.

use std::path::Path;
use std::sync::{Arc, Mutex};

use hippo_context::policy::{self, PolicyRule};
use hippo_proto::folder::Trust;

use crate::trust::POLICIES;

/// Maximum size of the file, in bytes.
const LARGEST: u64 = 1 << 20;

/// The rules of a workspace, as last read from the file.
#[derive(Default)]
pub struct Policies(Mutex<Option<(Vec<u8>, ParsedPolicies)>>);

type ParsedPolicies = (Arc<[PolicyRule]>, Option<String>);

impl Policies {
    /// Returns the built-in rules and those of the file. If the file is invalid or untrusted, returns the built-in
    /// rules and the reason.
    pub fn of(&self, root: &Path, trust: &Trust) -> ParsedPolicies {
        let bytes = match hippo_fs::read(root, POLICIES, LARGEST) {
            Ok(bytes) => bytes,
            Err(error) if hippo_fs::is_absence(&error) => Vec::new(),
            Err(error) => return built_in(Some(error.to_string())),
        };
        if !bytes.is_empty() && !trust.covers(POLICIES, &bytes) {
            let why = format!(
                "{POLICIES} is not trusted, so the built-in policies are used; to accept the file: hippoctl workspace \
                 trust {}",
                root.display()
            );
            return (policy::built_in_rules().into(), Some(why));
        }
        let mut last = super::lock(&self.0);
        if let Some((known, read)) = &*last
            && *known == bytes
        {
            return read.clone();
        }
        let read = match std::str::from_utf8(&bytes) {
            Ok(text) => match policy::load_rules(text) {
                Ok(rules) => (rules.into(), None),
                Err(error) => built_in(Some(error.to_string())),
            },
            Err(error) => built_in(Some(error.to_string())),
        };
        *last = Some((bytes, read.clone()));
        read
    }
}

/// Returns whether the current policy file of a workspace is trusted.
pub fn is_trusted(root: &Path, trust: &Trust) -> bool {
    hippo_fs::read(root, POLICIES, LARGEST).is_ok_and(|bytes| trust.covers(POLICIES, &bytes))
}

fn built_in(why: Option<String>) -> ParsedPolicies {
    let why = why.map(|why| {
        format!("{POLICIES} is not used: {why}; the built-in policies are used until the file is corrected")
    });
    (policy::built_in_rules().into(), why)
}
