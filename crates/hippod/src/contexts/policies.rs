//! Lifecycle policies of a workspace.

use std::borrow::Cow;
use std::fmt::Display;
use std::path::Path;

use hippo_context::policy::{self, PolicyRule};
use hippo_proto::folder::Trust;

use crate::trust::POLICIES;

/// Maximum size of the file in bytes.
const LARGEST: u64 = 1 << 20;

/// The policy rules in effect, and the reason if the policy file is not used.
type ActivePolicies = (Cow<'static, [PolicyRule]>, Option<String>);

/// Returns the policies of a workspace: the built-in rules, and the rules of the policy file if it is valid and
/// trusted.
pub fn read(root: &Path, trust: &Trust) -> ActivePolicies {
    let bytes = match hippo_fs::read(root, POLICIES, LARGEST) {
        Ok(bytes) => bytes,
        Err(error) if hippo_fs::is_absence(&error) => Vec::new(),
        Err(error) => return unused(&error),
    };
    if bytes.is_empty() {
        return (policy::built_in_rules().into(), None);
    }
    if !trust.covers(POLICIES, &bytes) {
        let why = format!(
            "{POLICIES} is not trusted, so the built-in policies are used; to accept the file: hippoctl workspace \
             trust {}",
            root.display()
        );
        return (policy::built_in_rules().into(), Some(why));
    }
    match std::str::from_utf8(&bytes) {
        Ok(text) => {
            policy::load_rules(text).map_or_else(|error| unused(&error), |rules| (rules.into(), None))
        }
        Err(error) => unused(&error),
    }
}

/// Returns whether the workspace has a trusted policy file.
pub fn is_trusted(root: &Path, trust: &Trust) -> bool {
    hippo_fs::read(root, POLICIES, LARGEST).is_ok_and(|bytes| trust.covers(POLICIES, &bytes))
}

fn unused(why: &dyn Display) -> ActivePolicies {
    let why =
        format!("{POLICIES} is not used: {why}; the built-in policies are used until the file is corrected");
    (policy::built_in_rules().into(), Some(why))
}
