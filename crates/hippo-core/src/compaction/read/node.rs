//! Which fields of a JSON object may belong to a message, whatever program wrote it?
//!
//! Every format is read into one shape, in which a field of an unexpected type counts as missing, and of a field that stands twice
//! the last one counts: a transcript is the work of another program, and one odd field is no reason to lose a message.

mod field;
mod scalar;

use std::borrow::Cow;
use std::cell::Cell;
use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, Error, IgnoredAny, MapAccess, SeqAccess, Visitor};

use super::args::Args;
use field::{Field, Key};
use scalar::ignores;
pub use scalar::{Flag, Number, Text};

/// Blocks of one record that are kept; more are counted. No program writes as many, and a block takes more than the bytes it is
/// written with.
pub const BLOCKS: usize = 20_000;

/// An object of a transcript.
#[derive(Debug, Default)]
pub struct Node<'a> {
    pub tag: Text<'a>,
    pub role: Text<'a>,
    pub name: Text<'a>,
    pub text: Text<'a>,
    pub id: Text<'a>,
    pub call_id: Text<'a>,
    pub content: Content<'a>,
    pub message: Sub<'a>,
    pub input: Args<'a>,
    pub error: Flag,
    /// When it was written, in any of the ways in which programs write that.
    pub at: Text<'a>,
    /// Fields that most blocks do not have.
    rare: Option<Box<Rare<'a>>>,
}

/// The other fields of an object.
#[derive(Debug, Default)]
pub struct Rare<'a> {
    pub kind: Text<'a>,
    pub dir: Text<'a>,
    pub tool_name: Text<'a>,
    pub tool: Text<'a>,
    pub summary: Text<'a>,
    pub uuid: Text<'a>,
    pub parent_uuid: Text<'a>,
    pub parent_id: Text<'a>,
    pub first_kept: Text<'a>,
    pub stdout: Text<'a>,
    pub stderr: Text<'a>,
    pub aggregated_output: Text<'a>,
    pub forked_from: Text<'a>,
    pub output: Content<'a>,
    pub tool_calls: Content<'a>,
    pub items: Content<'a>,
    pub payload: Sub<'a>,
    pub msg: Sub<'a>,
    pub item: Sub<'a>,
    pub function: Sub<'a>,
    pub invocation: Sub<'a>,
    pub result: Sub<'a>,
    pub ok: Sub<'a>,
    pub err: Sub<'a>,
    pub failure: Sub<'a>,
    pub arguments: Args<'a>,
    pub command: Args<'a>,
    pub action: Args<'a>,
    pub changes: Args<'a>,
    pub sidechain: Flag,
    pub meta: Flag,
    pub compact_summary: Flag,
    pub success: Flag,
    pub exit_code: Number,
}

/// What an object without rare fields has of them.
static NONE: Rare<'static> = {
    const TEXT: Text<'static> = Text(None);
    const CONTENT: Content<'static> = Content(Vec::new());
    const SUB: Sub<'static> = Sub(None);
    const ARGS: Args<'static> = Args(None);
    const FLAG: Flag = Flag(None);
    Rare {
        kind: TEXT,
        dir: TEXT,
        tool_name: TEXT,
        tool: TEXT,
        summary: TEXT,
        uuid: TEXT,
        parent_uuid: TEXT,
        parent_id: TEXT,
        first_kept: TEXT,
        stdout: TEXT,
        stderr: TEXT,
        aggregated_output: TEXT,
        forked_from: TEXT,
        output: CONTENT,
        tool_calls: CONTENT,
        items: CONTENT,
        payload: SUB,
        msg: SUB,
        item: SUB,
        function: SUB,
        invocation: SUB,
        result: SUB,
        ok: SUB,
        err: SUB,
        failure: SUB,
        arguments: ARGS,
        command: ARGS,
        action: ARGS,
        changes: ARGS,
        sidechain: FLAG,
        meta: FLAG,
        compact_summary: FLAG,
        success: FLAG,
        exit_code: Number(None),
    }
};

/// An object, or nothing; a text stands for an object with that text.
#[derive(Debug, Default)]
pub struct Sub<'a>(pub Option<Box<Node<'a>>>);

/// A text, an object, or a list of these.
#[derive(Debug, Default)]
pub struct Content<'a>(pub Vec<Node<'a>>);

impl<'a> Content<'a> {
    /// Takes the place of another one, if it says something.
    fn put(self, field: &mut Content<'a>) {
        if !self.0.is_empty() {
            *field = self;
        }
    }
}

impl<'a> Node<'a> {
    /// Reads an object.
    ///
    /// # Errors
    /// The bytes are no JSON object, or not one alone.
    pub fn read(bytes: &'a [u8]) -> serde_json::Result<Self> {
        let left = Cell::new(BLOCKS);
        let mut from = serde_json::Deserializer::from_slice(bytes);
        let node = from.deserialize_map(Object(&left))?;
        from.end()?;
        node.ok_or_else(|| Error::custom("no object"))
    }

    /// A text that stands where an object may stand.
    fn plain(text: Cow<'a, str>) -> Self {
        Self {
            tag: Text(Some(Cow::Borrowed("text"))),
            text: Text(Some(text)),
            ..Self::default()
        }
    }

    /// The fields that most objects do not have.
    pub fn rare(&self) -> &Rare<'a> {
        match &self.rare {
            Some(rare) => rare,
            None => &NONE,
        }
    }

    /// Whether none of the fields that are read is there.
    fn says_nothing(&self) -> bool {
        let texts = [
            &self.tag,
            &self.role,
            &self.name,
            &self.text,
            &self.id,
            &self.call_id,
        ];
        texts.into_iter().all(|text| text.0.is_none())
            && self.content.0.is_empty()
            && self.message.0.is_none()
            && !self.input.is_some()
            && self.rare.is_none()
    }
}

/// Reads an object, or a text in its place; anything else is nothing. What it holds is counted against the blocks that are left.
#[derive(Clone, Copy)]
struct Object<'c>(&'c Cell<usize>);

impl<'de> DeserializeSeed<'de> for Object<'_> {
    type Value = Option<Node<'de>>;
    fn deserialize<D: Deserializer<'de>>(self, from: D) -> Result<Self::Value, D::Error> {
        from.deserialize_any(self)
    }
}

/// Takes a value over the one that a field has already, if it says something.
macro_rules! replace {
    ($field:expr, $value:expr) => {{
        let value = $value;
        if value.0.is_some() {
            $field = value;
        }
    }};
}

impl<'de> Visitor<'de> for Object<'_> {
    type Value = Option<Node<'de>>;
    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }
    fn visit_borrowed_str<E: Error>(self, text: &'de str) -> Result<Self::Value, E> {
        Ok(Some(Node::plain(Cow::Borrowed(text))))
    }
    fn visit_str<E: Error>(self, text: &str) -> Result<Self::Value, E> {
        Ok(Some(Node::plain(Cow::Owned(text.to_owned()))))
    }
    fn visit_map<A: MapAccess<'de>>(self, mut object: A) -> Result<Self::Value, A::Error> {
        let mut node = Node::default();
        while let Some(Key(key)) = object.next_key()? {
            match key {
                Field::Other => drop(object.next_value::<IgnoredAny>()?),
                Field::Type => replace!(node.tag, object.next_value::<Text<'de>>()?),
                Field::Role => replace!(node.role, object.next_value::<Text<'de>>()?),
                Field::Name => replace!(node.name, object.next_value::<Text<'de>>()?),
                Field::Text => replace!(node.text, object.next_value::<Text<'de>>()?),
                Field::Id => replace!(node.id, object.next_value::<Text<'de>>()?),
                Field::CallId => replace!(node.call_id, object.next_value::<Text<'de>>()?),
                Field::Content => object.next_value_seed(List(self.0))?.put(&mut node.content),
                Field::Message => replace!(node.message, Sub(self.sub(&mut object)?)),
                Field::Input => replace!(node.input, object.next_value::<Args<'de>>()?),
                Field::IsError => replace!(node.error, object.next_value::<Flag>()?),
                Field::At => replace!(node.at, object.next_value::<Text<'de>>()?),
                rare => self.rare(rare, node.rare.get_or_insert_default(), &mut object)?,
            }
        }
        Ok(Some(node))
    }
    ignores!(bool, numbers, none, list);
}

impl Object<'_> {
    fn sub<'de, A: MapAccess<'de>>(self, object: &mut A) -> Result<Option<Box<Node<'de>>>, A::Error> {
        Ok(object.next_value_seed(self)?.map(Box::new))
    }

    fn rare<'de, A: MapAccess<'de>>(
        self,
        field: Field,
        rare: &mut Rare<'de>,
        object: &mut A,
    ) -> Result<(), A::Error> {
        let text = match field {
            Field::Kind => &mut rare.kind,
            Field::Dir => &mut rare.dir,
            Field::ToolName => &mut rare.tool_name,
            Field::Tool => &mut rare.tool,
            Field::Summary => &mut rare.summary,
            Field::Uuid => &mut rare.uuid,
            Field::ParentUuid => &mut rare.parent_uuid,
            Field::ParentId => &mut rare.parent_id,
            Field::FirstKept => &mut rare.first_kept,
            Field::Stdout => &mut rare.stdout,
            Field::Stderr => &mut rare.stderr,
            Field::AggregatedOutput => &mut rare.aggregated_output,
            Field::ForkedFrom => &mut rare.forked_from,
            other => return self.rare_value(other, rare, object),
        };
        replace!(*text, object.next_value::<Text<'de>>()?);
        Ok(())
    }

    fn rare_value<'de, A: MapAccess<'de>>(
        self,
        field: Field,
        rare: &mut Rare<'de>,
        object: &mut A,
    ) -> Result<(), A::Error> {
        match field {
            Field::Output => object.next_value_seed(List(self.0))?.put(&mut rare.output),
            Field::ToolCalls => object.next_value_seed(List(self.0))?.put(&mut rare.tool_calls),
            Field::Items => object.next_value_seed(List(self.0))?.put(&mut rare.items),
            Field::Payload => replace!(rare.payload, Sub(self.sub(object)?)),
            Field::Msg => replace!(rare.msg, Sub(self.sub(object)?)),
            Field::Item => replace!(rare.item, Sub(self.sub(object)?)),
            Field::Function => replace!(rare.function, Sub(self.sub(object)?)),
            Field::Invocation => replace!(rare.invocation, Sub(self.sub(object)?)),
            Field::Result => replace!(rare.result, Sub(self.sub(object)?)),
            Field::Ok => replace!(rare.ok, Sub(self.sub(object)?)),
            Field::Err => replace!(rare.err, Sub(self.sub(object)?)),
            Field::Failure => replace!(rare.failure, Sub(self.sub(object)?)),
            Field::Arguments => replace!(rare.arguments, object.next_value::<Args<'de>>()?),
            Field::Command => replace!(rare.command, object.next_value::<Args<'de>>()?),
            Field::Action => replace!(rare.action, object.next_value::<Args<'de>>()?),
            Field::Changes => replace!(rare.changes, object.next_value::<Args<'de>>()?),
            Field::IsSidechain => replace!(rare.sidechain, object.next_value::<Flag>()?),
            Field::IsMeta => replace!(rare.meta, object.next_value::<Flag>()?),
            Field::IsCompactSummary => replace!(rare.compact_summary, object.next_value::<Flag>()?),
            Field::Success => replace!(rare.success, object.next_value::<Flag>()?),
            Field::ExitCode => replace!(rare.exit_code, object.next_value::<Number>()?),
            _ => drop(object.next_value::<IgnoredAny>()?),
        }
        Ok(())
    }
}

/// Reads a text, an object, or a list of these.
struct List<'c>(&'c Cell<usize>);

impl<'de> DeserializeSeed<'de> for List<'_> {
    type Value = Content<'de>;
    fn deserialize<D: Deserializer<'de>>(self, from: D) -> Result<Self::Value, D::Error> {
        from.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for List<'_> {
    type Value = Content<'de>;
    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a text or a list of blocks")
    }
    fn visit_borrowed_str<E: Error>(self, text: &'de str) -> Result<Self::Value, E> {
        Ok(Content(vec![Node::plain(Cow::Borrowed(text))]))
    }
    fn visit_str<E: Error>(self, text: &str) -> Result<Self::Value, E> {
        Ok(Content(vec![Node::plain(Cow::Owned(text.to_owned()))]))
    }
    fn visit_map<A: MapAccess<'de>>(self, object: A) -> Result<Self::Value, A::Error> {
        Ok(Content(Object(self.0).visit_map(object)?.into_iter().collect()))
    }
    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Self::Value, A::Error> {
        let mut blocks = Vec::new();
        let mut more = 0_usize;
        while let Some(block) = list.next_element_seed(Object(self.0))? {
            let Some(block) = block.filter(|block| !block.says_nothing()) else {
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
            blocks.push(Node::plain(Cow::Owned(format!("[{more} more blocks]"))));
        }
        Ok(Content(blocks))
    }
    ignores!(bool, numbers, none);
}
