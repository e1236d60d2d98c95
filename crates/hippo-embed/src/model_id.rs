//! Identity of an embedding model.

use std::fmt;
use std::str::FromStr;

/// Identity of an embedding model. Vectors are comparable only when their ids are equal.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct ModelId {
    /// Name of the model.
    pub name: String,
    /// Number of components of its vectors.
    pub dimension: usize,
    /// Revision of the weights.
    pub revision: String,
    /// Method of combining the token vectors into one vector.
    pub pooling: String,
    /// Prefix that is put before each text.
    pub prefix: String,
}

/// A string is not a valid [`ModelId`].
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("could not read the model id {0:?}")]
pub struct InvalidModelId(pub String);

/// The stable form, stored with every vector: `name|dimension|revision|pooling|prefix`. `%`, `|` and line ends inside a part are
/// escaped as `%25`, `%7C`, `%0A` and `%0D`.
impl fmt::Display for ModelId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            name,
            dimension,
            revision,
            pooling,
            prefix,
        } = self;
        let [name, revision, pooling, prefix] = [name, revision, pooling, prefix].map(|part| escape(part));
        write!(f, "{name}|{dimension}|{revision}|{pooling}|{prefix}")
    }
}

impl FromStr for ModelId {
    type Err = InvalidModelId;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let invalid = || InvalidModelId(text.into());
        let parts: Vec<&str> = text.split('|').collect();
        let [name, dimension, revision, pooling, prefix] = parts[..] else {
            return Err(invalid());
        };
        Ok(Self {
            name: unescape(name),
            dimension: dimension.parse().map_err(|_| invalid())?,
            revision: unescape(revision),
            pooling: unescape(pooling),
            prefix: unescape(prefix),
        })
    }
}

fn escape(part: &str) -> String {
    part.replace('%', "%25")
        .replace('|', "%7C")
        .replace('\n', "%0A")
        .replace('\r', "%0D")
}

fn unescape(part: &str) -> String {
    part.replace("%0D", "\r")
        .replace("%0A", "\n")
        .replace("%7C", "|")
        .replace("%25", "%")
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn the_string_form_of_a_model_id_is_stable() {
        let id = ModelId {
            name: "all-minilm-l6-v2".into(),
            dimension: 384,
            revision: "53aa51172d14".into(),
            pooling: "mean".into(),
            prefix: String::new(),
        };
        assert_eq!(id.to_string(), "all-minilm-l6-v2|384|53aa51172d14|mean|");
    }

    proptest! {
        #[test]
        fn every_id_survives_its_string_form(
            name in "[a-z|%\n]{0,8}", dimension in 1usize..4096, revision in ".{0,8}", prefix in "[a%|0-9ACD\r]{0,12}",
        ) {
            let id = ModelId { name, dimension, revision, pooling: "mean".into(), prefix };
            prop_assert_eq!(id.to_string().parse::<ModelId>(), Ok(id));
        }
    }

    #[test]
    fn other_strings_are_refused() {
        for text in ["", "a|b|c|d|e", "a|1|c|d", "a|1|c|d|e|f"] {
            assert!(text.parse::<ModelId>().is_err(), "{text}");
        }
    }
}
