//! Lifecycle policies of a workspace.

use std::path::Path;
use std::sync::{Arc, Mutex};

use hippo_core::context::policy::{self, PolicyRule};
use hippo_proto::folder::Trust;

/// Policies of a workspace, below its root.
pub const FILE: &str = ".hippocampus/policies.yaml";
/// A larger file is refused.
const LARGEST: u64 = 1 << 20;

/// The rules of a workspace as they were read last.
#[derive(Default)]
pub struct Policies(Mutex<Option<(Vec<u8>, Read)>>);

type Read = (Arc<[PolicyRule]>, Option<String>);

impl Policies {
    /// The built-in rules and those of the file; where that cannot be used or is not trusted, the built-in ones, and why.
    pub fn of(&self, root: &Path, trust: &Trust) -> Read {
        let bytes = match hippo_fs::read(root, FILE, LARGEST) {
            Ok(bytes) => bytes,
            Err(error) if hippo_fs::is_absence(&error) => Vec::new(),
            Err(error) => return built_in(Some(error.to_string())),
        };
        if !bytes.is_empty() && !trust.covers(FILE, &bytes) {
            let why = format!(
                "{FILE} is not trusted; the built-in policies hold; to accept it: hippoctl workspace trust {}",
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

/// Whether the file of a workspace is trusted as it is now.
pub fn is_trusted(root: &Path, trust: &Trust) -> bool {
    hippo_fs::read(root, FILE, LARGEST).is_ok_and(|bytes| trust.covers(FILE, &bytes))
}

fn built_in(why: Option<String>) -> Read {
    let why =
        why.map(|why| format!("{FILE} is not used: {why}; the built-in policies hold until it is mended"));
    (policy::built_in_rules().into(), why)
}
