//! Which fields does a file state between `---` lines at its top?

use crate::time::Date;

/// The fields of a file.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct FrontMatter {
    /// `date:` (or `day:`), when it starts with a full date.
    pub date: Option<Date>,
    /// `title:` (or `name:`).
    pub title: Option<String>,
    /// `type:`.
    pub kind: Option<String>,
    /// `tags:`, inline, separated by commas, or one `- tag` a line.
    pub tags: Vec<String>,
    /// Every scalar field, in order, as written without quotes; keys in lower case.
    pub fields: Vec<(String, String)>,
}
