//! How does a text become memory: `remember`?

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::{IndexEntry, IndexPriority, Validate, no_empty, one_of};
use crate::error::{ErrorKind, RpcError};

/// Longest text that one request may give, in bytes.
pub const MAX_TEXT_BYTES: usize = 64 * 1024;

/// What kind of memory a text is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum MemoryType {
    /// What happens in a project.
    Project,
    /// What somebody wants to be done differently; never fades.
    Feedback,
    /// Who the user is and what they like; never fades.
    User,
    /// Where something is to be found; doubtful after a month.
    Reference,
}

impl MemoryType {
    /// All of them.
    pub const ALL: [Self; 4] = [Self::Project, Self::Feedback, Self::User, Self::Reference];

    /// Its name on the wire.
    pub fn name(self) -> &'static str {
        match self {
            MemoryType::Project => "project",
            MemoryType::Feedback => "feedback",
            MemoryType::User => "user",
            MemoryType::Reference => "reference",
        }
    }
}

/// Parameters of `remember`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct RememberRequest {
    /// Path of the workspace, or of anything below it.
    pub workspace: String,
    /// What is to be remembered, markdown of one line or several; at most [`MAX_TEXT_BYTES`].
    #[serde(default)]
    pub text: String,
    /// What it is about, one line; without it the daemon takes it from the text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub topic: Option<String>,
    /// What kind of memory it is.
    #[serde(default, rename = "type", skip_serializing_if = "Option::is_none")]
    pub type_: Option<MemoryType>,
    /// Words that it is to be known by.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tags: Option<Vec<String>>,
    /// How its entry resists decay.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub priority: Option<IndexPriority>,
    /// What was asked for. With this field or one of those below the text is a structured entry, and `text` may be empty.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub request: Option<String>,
    /// What was found out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub analysis: Option<String>,
    /// What was chosen.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub decision: Option<String>,
    /// What was done.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub outcome: Option<String>,
    /// What the user said of it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub feedback: Option<String>,
    /// Files and addresses.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub references: Option<String>,
}

impl RememberRequest {
    /// The fields of a structured entry, by name.
    fn fields(&self) -> [(&'static str, Option<&str>); 6] {
        [
            ("request", self.request.as_deref()),
            ("analysis", self.analysis.as_deref()),
            ("decision", self.decision.as_deref()),
            ("outcome", self.outcome.as_deref()),
            ("feedback", self.feedback.as_deref()),
            ("references", self.references.as_deref()),
        ]
    }
}

impl Validate for RememberRequest {
    fn check_raw(params: &Map<String, Value>) -> Result<(), RpcError> {
        one_of(
            params,
            ["type", "type", "types"],
            &MemoryType::ALL.map(MemoryType::name),
        )?;
        IndexPriority::check(params)
    }

    fn validate(&self) -> Result<(), RpcError> {
        no_empty("workspace", Some(&self.workspace))?;
        let mut bytes = self.text.len();
        for (name, said) in self.fields() {
            no_empty(name, said)?;
            bytes += said.map_or(0, str::len);
        }
        if bytes == self.text.len() {
            no_empty("text", Some(&self.text))?;
        }
        if bytes > MAX_TEXT_BYTES {
            let what = format!("the text is longer than {MAX_TEXT_BYTES} bytes");
            return Err(RpcError::new(ErrorKind::TooLarge, what)
                .hint("remember its gist, or keep it as a file of its own in the workspace"));
        }
        no_empty("topic", self.topic.as_deref())?;
        if self
            .topic
            .as_deref()
            .is_some_and(|topic| topic.contains(['\n', '\r']))
        {
            return Err(RpcError::bad_request("the field \"topic\" has several lines")
                .hint("a topic is a heading: put the rest into \"text\""));
        }
        for tag in self.tags.iter().flatten() {
            no_empty("tags", Some(tag))?;
        }
        Ok(())
    }
}

/// Answer to `remember`: the text is on disk.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct RememberResponse {
    /// The log that it was appended to, relative to the workspace.
    pub path: String,
    /// Its first line there, from 1.
    pub start_line: u32,
    /// Its last line, inclusive.
    pub end_line: u32,
    /// Its entry in the index file; null where the index file is switched off.
    pub entry: Option<IndexEntry>,
    /// What kinds of secrets seem to be in what was given, by their names, never their values; `notes` say what to do.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub secrets: Vec<String>,
    /// What the reader should know about this, such as why there is no entry.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_names_of_types_are_those_on_the_wire() {
        for type_ in MemoryType::ALL {
            assert_eq!(serde_json::to_value(type_).unwrap(), type_.name());
        }
    }
}
