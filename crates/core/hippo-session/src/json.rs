//! Lenient parser of JSON values that other programs wrote.
//!
//! One unusual field must not make a whole message unreadable. A field of an unexpected type counts as missing. If a
//! field is repeated, the last value counts. Texts are borrowed from the input where possible.

use std::borrow::Cow;
use std::cell::Cell;
use std::fmt;

use jiff::tz::TimeZone;
use serde::de::{DeserializeSeed, Deserializer, Error, IgnoredAny, MapAccess, SeqAccess, Visitor};

use hippo_types::time::Timestamp;

/// Maximum number of JSON values that are kept from one record. Further values are skipped, because a parsed value
/// takes more RAM than its JSON text. Known programs write fewer values.
pub const VALUES: usize = 250_000;

/// A JSON value.
#[derive(Debug)]
pub enum Json<'a> {
    Null,
    Bool(bool),
    /// A number, formatted as text.
    Number(Box<str>),
    Text(Cow<'a, str>),
    List(Vec<Json<'a>>),
    /// The fields in the order of the input.
    Object(Vec<(Cow<'a, str>, Json<'a>)>),
}

impl<'a> Json<'a> {
    /// Parses a JSON object.
    ///
    /// # Errors
    /// Fails if the bytes are not exactly one JSON object.
    pub fn parse(bytes: &'a [u8]) -> serde_json::Result<Self> {
        match Self::parse_any(bytes, VALUES)? {
            object @ Self::Object(_) => Ok(object),
            _ => Err(Error::custom("it is not an object")),
        }
    }

    /// Parses a value of any type, and keeps at most `most` of the values inside it.
    ///
    /// # Errors
    /// Fails if the bytes are not exactly one JSON value.
    pub fn parse_any(bytes: &'a [u8], most: usize) -> serde_json::Result<Self> {
        let mut from = serde_json::Deserializer::from_slice(bytes);
        let value = JsonReader(&Cell::new(most)).deserialize(&mut from)?;
        from.end()?;
        Ok(value)
    }

    /// Calls `read` with the fields that have one of these names, last field first, and returns the first result that
    /// is not `None`.
    fn find<'s, T>(&'s self, names: &[&str], read: impl Fn(&'s Self) -> Option<T>) -> Option<T> {
        let Self::Object(fields) = self else {
            return None;
        };
        let mut named = fields.iter().rev().filter(|(name, _)| names.contains(&&**name));
        named.find_map(|(_, value)| read(value))
    }

    /// Returns the last text or number in a field with one of these names.
    pub fn find_text(&self, names: &[&str]) -> Option<&str> {
        self.find(names, |value| match value {
            Self::Text(text) => Some(&**text),
            Self::Number(number) => Some(&**number),
            _ => None,
        })
    }

    /// Returns the text or number in the field `name`; empty if there is none.
    pub fn text(&self, name: &str) -> &str {
        self.find_text(&[name]).unwrap_or_default()
    }

    /// Returns true if the field `name` contains a text or a number.
    pub fn has_text(&self, name: &str) -> bool {
        self.find_text(&[name]).is_some()
    }

    /// Returns the time in a field with one of these names. Accepts RFC 3339, a date with or without a time (UTC), and
    /// seconds or milliseconds since 1970.
    pub fn time(&self, names: &[&str]) -> Option<Timestamp> {
        let text = self.find_text(names)?.trim();
        if let Ok(number) = text.split('.').next().unwrap_or_default().parse::<i64>() {
            return Timestamp::from_clock(number);
        }
        let civil = || TimeZone::UTC.to_timestamp(text.parse().ok()?).ok();
        let moment = text.parse::<jiff::Timestamp>().ok().or_else(civil)?;
        Some(Timestamp(moment.as_millisecond()))
    }

    /// Returns the id of the tool call that this object belongs to.
    pub fn call_id(&self) -> Option<&str> {
        self.find_text(&["call_id", "tool_use_id", "toolCallId", "tool_call_id"])
    }

    /// Returns true if the last boolean in a field with one of these names is true.
    pub fn flag(&self, names: &[&str]) -> bool {
        let flag = |value: &Self| match value {
            Self::Bool(flag) => Some(*flag),
            _ => None,
        };
        self.find(names, flag) == Some(true)
    }

    /// Returns true if the object reports the failure of a tool.
    pub fn is_error(&self) -> bool {
        self.flag(&["isError", "is_error"])
    }

    /// Returns the field `name` if it is an object or a text.
    pub fn object(&self, name: &str) -> Option<&Self> {
        self.find(&[name], |value| value.is_block().then_some(value))
    }

    /// Returns the last value that is not null in a field with one of these names.
    pub fn value(&self, names: &[&str]) -> Option<&Self> {
        self.find(names, |value| (!matches!(value, Self::Null)).then_some(value))
    }

    /// Returns the content blocks in a field with one of these names. The field is a text, an object, or a list of
    /// texts and objects.
    pub fn blocks(&self, names: &[&str]) -> &[Self] {
        let blocks = self.find(names, |value| match value {
            Self::List(items) if items.iter().any(Self::is_block) => Some(&items[..]),
            Self::Text(_) | Self::Object(_) => Some(std::slice::from_ref(value)),
            _ => None,
        });
        blocks.unwrap_or_default()
    }

    /// Returns the list in a field with one of these names.
    pub fn list(&self, names: &[&str]) -> Option<&[Self]> {
        self.find(names, |value| match value {
            Self::List(items) => Some(&items[..]),
            _ => None,
        })
    }

    /// Returns true for a text or an object, which can be a content block.
    pub fn is_block(&self) -> bool {
        matches!(self, Self::Text(_) | Self::Object(_))
    }

    /// Returns the text itself, or the field `text` of an object.
    pub fn said(&self) -> &str {
        match self {
            Self::Text(text) => text,
            other => other.text("text"),
        }
    }

    /// Parses JSON inside a text. For example, OpenAI writes the arguments of a call in this form.
    pub fn parse_inner(&self) -> Option<Json<'_>> {
        match self {
            Self::Text(text) if text.starts_with(['{', '[']) => Json::parse_any(text.as_bytes(), VALUES).ok(),
            _ => None,
        }
    }

    /// Formats the arguments of a call on one line: `key=value, key=value` for an object, the items of a list, a text
    /// as it is.
    pub fn to_arguments(&self) -> String {
        let mut out = String::new();
        self.parse_inner().as_ref().unwrap_or(self).write(&mut out, true);
        out
    }

    /// Appends a value. A list or an object at the top level has no brackets.
    fn write(&self, out: &mut String, top: bool) {
        let (open, close, between) = match self {
            Self::List(_) if top => ("", "", " "),
            Self::List(_) => ("[", "]", ", "),
            Self::Object(_) if !top => ("{", "}", ", "),
            _ => ("", "", ", "),
        };
        out.push_str(open);
        let start = out.len();
        match self {
            Self::Null => out.push_str("null"),
            Self::Bool(flag) => out.push_str(if *flag { "true" } else { "false" }),
            Self::Number(text) => out.push_str(text),
            Self::Text(text) => out.push_str(text),
            Self::List(items) => {
                for item in items {
                    out.push_str(if out.len() > start { between } else { "" });
                    item.write(out, false);
                }
            }
            Self::Object(fields) => {
                for (name, value) in fields {
                    out.push_str(if out.len() > start { between } else { "" });
                    out.push_str(&format!("{name}="));
                    value.write(out, false);
                }
            }
        }
        out.push_str(close);
    }
}

/// Formats a number. A very large number has the exponent notation instead of hundreds of zeros.
fn format_float(number: f64) -> String {
    if number.abs() < 1e15 && number.fract() == 0.0 {
        return number.to_string();
    }
    format!("{number:?}")
}

/// Reader of a JSON value. The cell contains the number of values that may still be kept.
#[derive(Clone, Copy)]
struct JsonReader<'c>(&'c Cell<usize>);

impl JsonReader<'_> {
    /// Deducts one value from the number of values that may still be kept. Returns false if this number was 0.
    fn take_room(self) -> bool {
        let left = self.0.get();
        self.0.set(left.saturating_sub(1));
        left > 0
    }
}

impl<'de> DeserializeSeed<'de> for JsonReader<'_> {
    type Value = Json<'de>;

    fn deserialize<D: Deserializer<'de>>(self, from: D) -> Result<Self::Value, D::Error> {
        from.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for JsonReader<'_> {
    type Value = Json<'de>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a value")
    }

    fn visit_unit<E: Error>(self) -> Result<Self::Value, E> {
        Ok(Json::Null)
    }

    fn visit_bool<E: Error>(self, flag: bool) -> Result<Self::Value, E> {
        Ok(Json::Bool(flag))
    }

    fn visit_i64<E: Error>(self, number: i64) -> Result<Self::Value, E> {
        Ok(Json::Number(number.to_string().into()))
    }

    fn visit_u64<E: Error>(self, number: u64) -> Result<Self::Value, E> {
        Ok(Json::Number(number.to_string().into()))
    }

    fn visit_f64<E: Error>(self, number: f64) -> Result<Self::Value, E> {
        Ok(Json::Number(format_float(number).into()))
    }

    fn visit_borrowed_str<E: Error>(self, text: &'de str) -> Result<Self::Value, E> {
        Ok(Json::Text(Cow::Borrowed(text)))
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<Self::Value, E> {
        Ok(Json::Text(Cow::Owned(text.to_owned())))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Self::Value, A::Error> {
        let (mut items, mut more) = (Vec::new(), 0_usize);
        while self.take_room() {
            match list.next_element_seed(self)? {
                Some(item) => items.push(item),
                None => return Ok(Json::List(items)),
            }
        }
        while list.next_element::<IgnoredAny>()?.is_some() {
            more += 1;
        }
        items.push(Json::Text(Cow::Owned(format!("[{more} more blocks]"))));
        Ok(Json::List(items))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut object: A) -> Result<Self::Value, A::Error> {
        let mut fields = Vec::new();
        while let Some(key) = object.next_key_seed(self)? {
            match key {
                Json::Text(name) if self.take_room() => fields.push((name, object.next_value_seed(self)?)),
                _ => drop(object.next_value::<IgnoredAny>()?),
            }
        }
        Ok(Json::Object(fields))
    }
}
