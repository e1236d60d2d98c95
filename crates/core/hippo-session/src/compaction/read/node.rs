//! Format-independent JSON object of a transcript.
//!
//! All formats are parsed into one type. A field of an unexpected type counts as missing, and the last value of a
//! repeated field wins. Transcripts are written by other programs, and one unusual field must not lose a message.

mod field;
mod scalar;

use std::borrow::Cow;
use std::cell::Cell;
use std::fmt;
use std::sync::LazyLock;

use serde::de::{DeserializeSeed, Deserializer, Error, IgnoredAny, MapAccess, SeqAccess, Visitor};

use super::args::CallArguments;
use field::NodeField;
use scalar::ignores;
pub use scalar::{LenientFlag, LenientNumber, LenientText};

/// Maximum number of blocks of a record that are kept; further blocks are only counted. No program writes as many, and
/// a block takes more memory than its JSON text.
pub const BLOCKS: usize = 20_000;

/// Object of a transcript.
#[derive(Debug, Default)]
pub struct JsonNode<'a> {
    pub tag: LenientText<'a>,
    pub role: LenientText<'a>,
    pub name: LenientText<'a>,
    pub text: LenientText<'a>,
    pub id: LenientText<'a>,
    pub call_id: LenientText<'a>,
    pub content: NodeContent<'a>,
    pub message: SubNode<'a>,
    pub input: CallArguments<'a>,
    pub error: LenientFlag,
    /// Time of writing, in the notation of the program.
    pub at: LenientText<'a>,
    /// Fields that most blocks do not have.
    rare: Option<Box<RareFields<'a>>>,
}

/// The less frequent fields of an object.
#[derive(Debug, Default)]
pub struct RareFields<'a> {
    pub kind: LenientText<'a>,
    pub dir: LenientText<'a>,
    pub tool_name: LenientText<'a>,
    pub tool: LenientText<'a>,
    pub summary: LenientText<'a>,
    pub uuid: LenientText<'a>,
    pub parent_uuid: LenientText<'a>,
    pub parent_id: LenientText<'a>,
    pub first_kept: LenientText<'a>,
    pub stdout: LenientText<'a>,
    pub stderr: LenientText<'a>,
    pub aggregated_output: LenientText<'a>,
    pub forked_from: LenientText<'a>,
    pub output: NodeContent<'a>,
    pub tool_calls: NodeContent<'a>,
    pub items: NodeContent<'a>,
    pub payload: SubNode<'a>,
    pub msg: SubNode<'a>,
    pub item: SubNode<'a>,
    pub function: SubNode<'a>,
    pub invocation: SubNode<'a>,
    pub result: SubNode<'a>,
    pub ok: SubNode<'a>,
    pub err: SubNode<'a>,
    pub failure: SubNode<'a>,
    pub arguments: CallArguments<'a>,
    pub command: CallArguments<'a>,
    pub action: CallArguments<'a>,
    pub changes: CallArguments<'a>,
    pub sidechain: LenientFlag,
    pub meta: LenientFlag,
    pub compact_summary: LenientFlag,
    pub success: LenientFlag,
    pub exit_code: LenientNumber,
}

/// Fields of an object without rare fields.
static NO_RARE_FIELDS: LazyLock<RareFields<'static>> = LazyLock::new(RareFields::default);

/// Optional object; a string is read as an object with that text.
#[derive(Debug, Default)]
pub struct SubNode<'a>(pub Option<Box<JsonNode<'a>>>);

/// String, object, or list of strings and objects.
#[derive(Debug, Default)]
pub struct NodeContent<'a>(pub Vec<JsonNode<'a>>);

impl<'a> JsonNode<'a> {
    /// Parses an object.
    ///
    /// # Errors
    /// Fails if the bytes are not exactly one JSON object.
    pub fn parse(bytes: &'a [u8]) -> serde_json::Result<Self> {
        let left = Cell::new(BLOCKS);
        let mut from = serde_json::Deserializer::from_slice(bytes);
        let node = from.deserialize_map(NodeVisitor(&left))?;
        from.end()?;
        node.ok_or_else(|| Error::custom("no object"))
    }

    /// Creates an object from a string.
    fn from_text(text: Cow<'a, str>) -> Self {
        Self {
            tag: LenientText(Some(Cow::Borrowed("text"))),
            text: LenientText(Some(text)),
            ..Self::default()
        }
    }

    /// Returns the less frequent fields.
    pub fn rare(&self) -> &RareFields<'a> {
        self.rare.as_deref().unwrap_or(&NO_RARE_FIELDS)
    }

    /// Returns true if the object has none of the fields that are read.
    fn is_empty(&self) -> bool {
        #[rustfmt::skip] // keep the list compact
        let texts = [
            &self.tag, &self.role, &self.name, &self.text, &self.id, &self.call_id,
        ];
        texts.into_iter().all(|text| text.0.is_none())
            && self.content.0.is_empty()
            && self.message.0.is_none()
            && !self.input.is_some()
            && self.rare.is_none()
    }
}

/// Reads an object, or a string in place of one; other values yield `None`. The number of blocks that may still be
/// read is counted down in the cell.
#[derive(Clone, Copy)]
struct NodeVisitor<'c>(&'c Cell<usize>);

impl<'de> DeserializeSeed<'de> for NodeVisitor<'_> {
    type Value = Option<JsonNode<'de>>;
    fn deserialize<D: Deserializer<'de>>(self, from: D) -> Result<Self::Value, D::Error> {
        from.deserialize_any(self)
    }
}

/// Assigns a value to a field, unless the value is missing.
macro_rules! replace {
    ($field:expr, $value:expr) => {{
        let value = $value;
        if value.0.is_some() {
            $field = value;
        }
    }};
}

impl<'de> Visitor<'de> for NodeVisitor<'_> {
    type Value = Option<JsonNode<'de>>;
    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }
    fn visit_borrowed_str<E: Error>(self, text: &'de str) -> Result<Self::Value, E> {
        Ok(Some(JsonNode::from_text(Cow::Borrowed(text))))
    }
    fn visit_str<E: Error>(self, text: &str) -> Result<Self::Value, E> {
        Ok(Some(JsonNode::from_text(Cow::Owned(text.to_owned()))))
    }
    fn visit_map<A: MapAccess<'de>>(self, mut object: A) -> Result<Self::Value, A::Error> {
        let mut node = JsonNode::default();
        while let Some(key) = object.next_key()? {
            match key {
                NodeField::Other => drop(object.next_value::<IgnoredAny>()?),
                NodeField::Type => replace!(node.tag, object.next_value::<LenientText<'de>>()?),
                NodeField::Role => replace!(node.role, object.next_value::<LenientText<'de>>()?),
                NodeField::Name => replace!(node.name, object.next_value::<LenientText<'de>>()?),
                NodeField::Text => replace!(node.text, object.next_value::<LenientText<'de>>()?),
                NodeField::Id => replace!(node.id, object.next_value::<LenientText<'de>>()?),
                NodeField::CallId => replace!(node.call_id, object.next_value::<LenientText<'de>>()?),
                NodeField::Content => self.read_list(&mut node.content, &mut object)?,
                NodeField::Message => replace!(node.message, SubNode(self.read_sub(&mut object)?)),
                NodeField::Input => replace!(node.input, object.next_value::<CallArguments<'de>>()?),
                NodeField::IsError => replace!(node.error, object.next_value::<LenientFlag>()?),
                NodeField::At => replace!(node.at, object.next_value::<LenientText<'de>>()?),
                rare => self.read_rare(rare, node.rare.get_or_insert_default(), &mut object)?,
            }
        }
        Ok(Some(node))
    }
    ignores!(bool, numbers, none, list);
}

impl NodeVisitor<'_> {
    fn read_sub<'de, A: MapAccess<'de>>(
        self,
        object: &mut A,
    ) -> Result<Option<Box<JsonNode<'de>>>, A::Error> {
        Ok(object.next_value_seed(self)?.map(Box::new))
    }

    /// Replaces the list, unless the new one is empty.
    fn read_list<'de, A: MapAccess<'de>>(
        self,
        list: &mut NodeContent<'de>,
        object: &mut A,
    ) -> Result<(), A::Error> {
        let read = object.next_value_seed(NodeListVisitor(self.0))?;
        if !read.0.is_empty() {
            *list = read;
        }
        Ok(())
    }

    fn read_rare<'de, A: MapAccess<'de>>(
        self,
        field: NodeField,
        rare: &mut RareFields<'de>,
        object: &mut A,
    ) -> Result<(), A::Error> {
        let text = match field {
            NodeField::Kind => &mut rare.kind,
            NodeField::Dir => &mut rare.dir,
            NodeField::ToolName => &mut rare.tool_name,
            NodeField::Tool => &mut rare.tool,
            NodeField::Summary => &mut rare.summary,
            NodeField::Uuid => &mut rare.uuid,
            NodeField::ParentUuid => &mut rare.parent_uuid,
            NodeField::ParentId => &mut rare.parent_id,
            NodeField::FirstKept => &mut rare.first_kept,
            NodeField::Stdout => &mut rare.stdout,
            NodeField::Stderr => &mut rare.stderr,
            NodeField::AggregatedOutput => &mut rare.aggregated_output,
            NodeField::ForkedFrom => &mut rare.forked_from,
            other => return self.read_rare_value(other, rare, object),
        };
        replace!(*text, object.next_value::<LenientText<'de>>()?);
        Ok(())
    }

    fn read_rare_value<'de, A: MapAccess<'de>>(
        self,
        field: NodeField,
        rare: &mut RareFields<'de>,
        object: &mut A,
    ) -> Result<(), A::Error> {
        match field {
            NodeField::Output => self.read_list(&mut rare.output, object)?,
            NodeField::ToolCalls => self.read_list(&mut rare.tool_calls, object)?,
            NodeField::Items => self.read_list(&mut rare.items, object)?,
            NodeField::Payload => replace!(rare.payload, SubNode(self.read_sub(object)?)),
            NodeField::Msg => replace!(rare.msg, SubNode(self.read_sub(object)?)),
            NodeField::Item => replace!(rare.item, SubNode(self.read_sub(object)?)),
            NodeField::Function => replace!(rare.function, SubNode(self.read_sub(object)?)),
            NodeField::Invocation => replace!(rare.invocation, SubNode(self.read_sub(object)?)),
            NodeField::Result => replace!(rare.result, SubNode(self.read_sub(object)?)),
            NodeField::Ok => replace!(rare.ok, SubNode(self.read_sub(object)?)),
            NodeField::Err => replace!(rare.err, SubNode(self.read_sub(object)?)),
            NodeField::Failure => replace!(rare.failure, SubNode(self.read_sub(object)?)),
            NodeField::Arguments => replace!(rare.arguments, object.next_value::<CallArguments<'de>>()?),
            NodeField::Command => replace!(rare.command, object.next_value::<CallArguments<'de>>()?),
            NodeField::Action => replace!(rare.action, object.next_value::<CallArguments<'de>>()?),
            NodeField::Changes => replace!(rare.changes, object.next_value::<CallArguments<'de>>()?),
            NodeField::IsSidechain => replace!(rare.sidechain, object.next_value::<LenientFlag>()?),
            NodeField::IsMeta => replace!(rare.meta, object.next_value::<LenientFlag>()?),
            NodeField::IsCompactSummary => {
                replace!(rare.compact_summary, object.next_value::<LenientFlag>()?)
            }
            NodeField::Success => replace!(rare.success, object.next_value::<LenientFlag>()?),
            NodeField::ExitCode => replace!(rare.exit_code, object.next_value::<LenientNumber>()?),
            _ => drop(object.next_value::<IgnoredAny>()?),
        }
        Ok(())
    }
}

/// Reads a string, an object, or a list of strings and objects.
struct NodeListVisitor<'c>(&'c Cell<usize>);

impl<'de> DeserializeSeed<'de> for NodeListVisitor<'_> {
    type Value = NodeContent<'de>;
    fn deserialize<D: Deserializer<'de>>(self, from: D) -> Result<Self::Value, D::Error> {
        from.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for NodeListVisitor<'_> {
    type Value = NodeContent<'de>;
    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a text or a list of blocks")
    }
    fn visit_borrowed_str<E: Error>(self, text: &'de str) -> Result<Self::Value, E> {
        Ok(NodeContent(vec![JsonNode::from_text(Cow::Borrowed(text))]))
    }
    fn visit_str<E: Error>(self, text: &str) -> Result<Self::Value, E> {
        Ok(NodeContent(vec![JsonNode::from_text(Cow::Owned(
            text.to_owned(),
        ))]))
    }
    fn visit_map<A: MapAccess<'de>>(self, object: A) -> Result<Self::Value, A::Error> {
        Ok(NodeContent(
            NodeVisitor(self.0).visit_map(object)?.into_iter().collect(),
        ))
    }
    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Self::Value, A::Error> {
        let mut blocks = Vec::new();
        let mut more = 0_usize;
        while let Some(block) = list.next_element_seed(NodeVisitor(self.0))? {
            let Some(block) = block.filter(|block| !block.is_empty()) else {
                continue;
            };
            match self.0.get().checked_sub(1) {
                Some(left) => {
                    self.0.set(left);
                    blocks.push(block);
                }
                None => more += 1,
            }
        }
        if more > 0 {
            blocks.push(JsonNode::from_text(Cow::Owned(format!("[{more} more blocks]"))));
        }
        Ok(NodeContent(blocks))
    }
    ignores!(bool, numbers, none);
}
