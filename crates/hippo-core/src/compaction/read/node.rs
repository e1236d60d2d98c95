//! Which fields of a JSON object may belong to a message, whatever program wrote it?
//!
//! Every format is read into one shape, in which a field of an unexpected type counts as missing: a transcript is the work of
//! another program, and one odd field is no reason to lose a message.

use std::borrow::Cow;
use std::fmt;

use serde::de::value::MapAccessDeserializer;
use serde::de::{Deserialize, Deserializer, Error, IgnoredAny, MapAccess, SeqAccess, Visitor};

use super::args::Args;

/// An object of a transcript.
#[derive(Debug, Default, serde::Deserialize)]
#[serde(default)]
pub struct Node<'a> {
    #[serde(borrow, rename = "type")]
    pub tag: Text<'a>,
    #[serde(borrow)]
    pub role: Text<'a>,
    #[serde(borrow)]
    pub kind: Text<'a>,
    #[serde(borrow)]
    pub subtype: Text<'a>,
    #[serde(borrow)]
    pub dir: Text<'a>,
    #[serde(borrow)]
    pub name: Text<'a>,
    #[serde(borrow, rename = "toolName")]
    pub tool_name: Text<'a>,
    #[serde(borrow)]
    pub tool: Text<'a>,
    #[serde(borrow)]
    pub text: Text<'a>,
    #[serde(borrow)]
    pub summary: Text<'a>,
    #[serde(borrow)]
    pub uuid: Text<'a>,
    #[serde(borrow, rename = "parentUuid")]
    pub parent_uuid: Text<'a>,
    #[serde(borrow)]
    pub id: Text<'a>,
    #[serde(borrow, rename = "parentId")]
    pub parent_id: Text<'a>,
    #[serde(borrow, rename = "firstKeptEntryId")]
    pub first_kept: Text<'a>,
    #[serde(borrow, alias = "tool_use_id", alias = "toolCallId", alias = "tool_call_id")]
    pub call_id: Text<'a>,
    #[serde(borrow)]
    pub stdout: Text<'a>,
    #[serde(borrow)]
    pub stderr: Text<'a>,
    #[serde(borrow)]
    pub aggregated_output: Text<'a>,
    #[serde(borrow)]
    pub content: Content<'a>,
    #[serde(borrow)]
    pub output: Content<'a>,
    #[serde(borrow, alias = "toolCalls")]
    pub tool_calls: Content<'a>,
    #[serde(borrow)]
    pub items: Content<'a>,
    #[serde(borrow)]
    pub message: Sub<'a>,
    #[serde(borrow)]
    pub payload: Sub<'a>,
    #[serde(borrow)]
    pub msg: Sub<'a>,
    #[serde(borrow)]
    pub item: Sub<'a>,
    #[serde(borrow)]
    pub function: Sub<'a>,
    #[serde(borrow)]
    pub invocation: Sub<'a>,
    #[serde(borrow)]
    pub input: Args<'a>,
    #[serde(borrow)]
    pub arguments: Args<'a>,
    #[serde(borrow)]
    pub command: Args<'a>,
    #[serde(borrow)]
    pub action: Args<'a>,
    #[serde(borrow)]
    pub changes: Args<'a>,
    #[serde(rename = "isSidechain")]
    pub sidechain: Flag,
    #[serde(rename = "isMeta")]
    pub meta: Flag,
    #[serde(rename = "isCompactSummary")]
    pub compact_summary: Flag,
    #[serde(rename = "isError", alias = "is_error")]
    pub error: Flag,
    pub success: Flag,
    #[serde(alias = "exitCode")]
    pub exit_code: Number,
}

impl<'a> Node<'a> {
    /// A text that stands where an object may stand.
    fn plain(text: Cow<'a, str>) -> Self {
        Self {
            tag: Text(Some(Cow::Borrowed("text"))),
            text: Text(Some(text)),
            ..Self::default()
        }
    }
}

/// A text, or nothing; a number is a text.
#[derive(Debug, Default, Clone)]
pub struct Text<'a>(pub Option<Cow<'a, str>>);

impl Text<'_> {
    /// The text; empty for none.
    pub fn get(&self) -> &str {
        self.0.as_deref().unwrap_or_default()
    }
}

/// A truth value; false for anything else.
#[derive(Debug, Default, Clone, Copy)]
pub struct Flag(pub Option<bool>);

impl Flag {
    /// Whether it is there and true.
    pub fn is_set(self) -> bool {
        self.0 == Some(true)
    }
}

/// A whole number, or nothing.
#[derive(Debug, Default, Clone, Copy)]
pub struct Number(pub Option<i64>);

/// An object, or nothing; a text stands for an object with that text.
#[derive(Debug, Default)]
pub struct Sub<'a>(pub Option<Box<Node<'a>>>);

/// A text, an object, or a list of these.
#[derive(Debug, Default)]
pub struct Content<'a>(pub Vec<Node<'a>>);

/// Writes the parts of a lenient visitor that ignore what is not wanted.
macro_rules! ignores {
    ($($what:ident),*) => {$(ignores!(@ $what);)*};
    (@ bool) => { fn visit_bool<E: Error>(self, _: bool) -> Result<Self::Value, E> { Ok(Self::Value::default()) } };
    (@ numbers) => {
        fn visit_i64<E: Error>(self, _: i64) -> Result<Self::Value, E> { Ok(Self::Value::default()) }
        fn visit_u64<E: Error>(self, _: u64) -> Result<Self::Value, E> { Ok(Self::Value::default()) }
        fn visit_f64<E: Error>(self, _: f64) -> Result<Self::Value, E> { Ok(Self::Value::default()) }
    };
    (@ text) => { fn visit_str<E: Error>(self, _: &str) -> Result<Self::Value, E> { Ok(Self::Value::default()) } };
    (@ none) => { fn visit_unit<E: Error>(self) -> Result<Self::Value, E> { Ok(Self::Value::default()) } };
    (@ list) => {
        fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Self::Value, A::Error> {
            while list.next_element::<IgnoredAny>()?.is_some() {}
            Ok(Self::Value::default())
        }
    };
    (@ object) => {
        fn visit_map<A: MapAccess<'de>>(self, mut object: A) -> Result<Self::Value, A::Error> {
            while object.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
            Ok(Self::Value::default())
        }
    };
}

macro_rules! lenient {
    ($type:ty, $visitor:ident, plain) => {
        impl<'de> Deserialize<'de> for $type {
            fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
                from.deserialize_any($visitor)
            }
        }
    };
    ($type:ty, $visitor:ident) => {
        impl<'de: 'a, 'a> Deserialize<'de> for $type {
            fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
                from.deserialize_any($visitor)
            }
        }
    };
}

struct TextVisitor;
lenient!(Text<'a>, TextVisitor);
impl<'de> Visitor<'de> for TextVisitor {
    type Value = Text<'de>;
    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a text")
    }
    fn visit_borrowed_str<E: Error>(self, text: &'de str) -> Result<Self::Value, E> {
        Ok(Text(Some(Cow::Borrowed(text))))
    }
    fn visit_str<E: Error>(self, text: &str) -> Result<Self::Value, E> {
        Ok(Text(Some(Cow::Owned(text.to_owned()))))
    }
    fn visit_i64<E: Error>(self, number: i64) -> Result<Self::Value, E> {
        Ok(Text(Some(Cow::Owned(number.to_string()))))
    }
    fn visit_u64<E: Error>(self, number: u64) -> Result<Self::Value, E> {
        Ok(Text(Some(Cow::Owned(number.to_string()))))
    }
    fn visit_f64<E: Error>(self, number: f64) -> Result<Self::Value, E> {
        Ok(Text(Some(Cow::Owned(number.to_string()))))
    }
    ignores!(bool, none, list, object);
}

struct SubVisitor;
lenient!(Sub<'a>, SubVisitor);
impl<'de> Visitor<'de> for SubVisitor {
    type Value = Sub<'de>;
    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }
    fn visit_borrowed_str<E: Error>(self, text: &'de str) -> Result<Self::Value, E> {
        Ok(Sub(Some(Box::new(Node::plain(Cow::Borrowed(text))))))
    }
    fn visit_str<E: Error>(self, text: &str) -> Result<Self::Value, E> {
        Ok(Sub(Some(Box::new(Node::plain(Cow::Owned(text.to_owned()))))))
    }
    fn visit_map<A: MapAccess<'de>>(self, object: A) -> Result<Self::Value, A::Error> {
        let node = Node::deserialize(MapAccessDeserializer::new(object))?;
        Ok(Sub(Some(Box::new(node))))
    }
    ignores!(bool, numbers, none, list);
}

struct ContentVisitor;
lenient!(Content<'a>, ContentVisitor);
impl<'de> Visitor<'de> for ContentVisitor {
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
        Ok(Content(vec![Node::deserialize(MapAccessDeserializer::new(
            object,
        ))?]))
    }
    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Self::Value, A::Error> {
        let mut blocks = Vec::new();
        while let Some(Sub(block)) = list.next_element()? {
            blocks.extend(block.map(|block| *block));
        }
        Ok(Content(blocks))
    }
    ignores!(bool, numbers, none);
}

struct FlagVisitor;
lenient!(Flag, FlagVisitor, plain);
impl<'de> Visitor<'de> for FlagVisitor {
    type Value = Flag;
    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("true or false")
    }
    fn visit_bool<E: Error>(self, flag: bool) -> Result<Self::Value, E> {
        Ok(Flag(Some(flag)))
    }
    ignores!(numbers, text, none, list, object);
}

struct NumberVisitor;
lenient!(Number, NumberVisitor, plain);
impl<'de> Visitor<'de> for NumberVisitor {
    type Value = Number;
    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a number")
    }
    fn visit_i64<E: Error>(self, number: i64) -> Result<Self::Value, E> {
        Ok(Number(Some(number)))
    }
    fn visit_u64<E: Error>(self, number: u64) -> Result<Self::Value, E> {
        Ok(Number(i64::try_from(number).ok()))
    }
    fn visit_f64<E: Error>(self, _: f64) -> Result<Self::Value, E> {
        Ok(Number(None))
    }
    ignores!(bool, text, none, list, object);
}
