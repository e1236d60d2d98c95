//! Formatting of tool call arguments on one line.

use std::borrow::Cow;
use std::fmt::{self, Write as _};

use serde::de::{Deserialize, DeserializeSeed, Deserializer, Error, MapAccess, SeqAccess, Visitor};

/// Arguments as text: `key=value, key=value` for an object, the items of a list, a string as it is.
#[derive(Debug, Default, Clone)]
pub struct CallArguments<'a>(pub Option<Cow<'a, str>>);

impl CallArguments<'_> {
    /// Returns the arguments as text. JSON inside a string, as OpenAI writes it, is parsed once more.
    pub fn to_text(&self) -> Cow<'_, str> {
        let text = self.0.as_deref().unwrap_or_default();
        if text.starts_with(['{', '['])
            && let Ok(inner) = serde_json::from_str::<CallArguments<'_>>(text)
        {
            return Cow::Owned(inner.0.map(Cow::into_owned).unwrap_or_default());
        }
        Cow::Borrowed(text)
    }

    /// Returns true if there are arguments.
    pub fn is_some(&self) -> bool {
        self.0.is_some()
    }
}

impl<'de: 'a, 'a> Deserialize<'de> for CallArguments<'a> {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        from.deserialize_any(ArgumentsVisitor)
    }
}

struct ArgumentsVisitor;

impl<'de> Visitor<'de> for ArgumentsVisitor {
    type Value = CallArguments<'de>;
    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("arguments")
    }
    fn visit_borrowed_str<E: Error>(self, text: &'de str) -> Result<Self::Value, E> {
        Ok(CallArguments(Some(Cow::Borrowed(text))))
    }
    fn visit_str<E: Error>(self, text: &str) -> Result<Self::Value, E> {
        Ok(CallArguments(Some(Cow::Owned(text.to_owned()))))
    }
    fn visit_unit<E: Error>(self) -> Result<Self::Value, E> {
        Ok(CallArguments(None))
    }
    fn visit_bool<E: Error>(self, flag: bool) -> Result<Self::Value, E> {
        Ok(CallArguments(Some(Cow::Owned(flag.to_string()))))
    }
    fn visit_i64<E: Error>(self, number: i64) -> Result<Self::Value, E> {
        Ok(CallArguments(Some(Cow::Owned(number.to_string()))))
    }
    fn visit_u64<E: Error>(self, number: u64) -> Result<Self::Value, E> {
        Ok(CallArguments(Some(Cow::Owned(number.to_string()))))
    }
    fn visit_f64<E: Error>(self, number: f64) -> Result<Self::Value, E> {
        Ok(CallArguments(Some(Cow::Owned(format_float(number)))))
    }
    fn visit_seq<A: SeqAccess<'de>>(self, list: A) -> Result<Self::Value, A::Error> {
        let mut out = String::new();
        ValueWriter(&mut out, true).visit_seq(list)?;
        Ok(CallArguments(Some(Cow::Owned(out))))
    }
    fn visit_map<A: MapAccess<'de>>(self, object: A) -> Result<Self::Value, A::Error> {
        let mut out = String::new();
        ValueWriter(&mut out, true).visit_map(object)?;
        Ok(CallArguments(Some(Cow::Owned(out))))
    }
}

/// Formats a number. Very large numbers use the exponent notation instead of hundreds of zeros.
pub fn format_float(number: f64) -> String {
    if number.abs() < 1e15 && number.fract() == 0.0 {
        return number.to_string();
    }
    format!("{number:?}")
}

/// Writer of one value.
///
/// The flag is set at the top level, which needs no brackets.
struct ValueWriter<'s>(&'s mut String, bool);

impl<'de> DeserializeSeed<'de> for ValueWriter<'_> {
    type Value = ();
    fn deserialize<D: Deserializer<'de>>(self, from: D) -> Result<(), D::Error> {
        from.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for ValueWriter<'_> {
    type Value = ();
    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a value")
    }
    fn visit_str<E: Error>(self, text: &str) -> Result<(), E> {
        self.0.push_str(text);
        Ok(())
    }
    fn visit_unit<E: Error>(self) -> Result<(), E> {
        self.0.push_str("null");
        Ok(())
    }
    fn visit_bool<E: Error>(self, flag: bool) -> Result<(), E> {
        self.0.push_str(if flag { "true" } else { "false" });
        Ok(())
    }
    fn visit_i64<E: Error>(self, number: i64) -> Result<(), E> {
        write!(self.0, "{number}").map_err(E::custom)
    }
    fn visit_u64<E: Error>(self, number: u64) -> Result<(), E> {
        write!(self.0, "{number}").map_err(E::custom)
    }
    fn visit_f64<E: Error>(self, number: f64) -> Result<(), E> {
        self.0.push_str(&format_float(number));
        Ok(())
    }
    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<(), A::Error> {
        let Self(out, top) = self;
        let (open, close, between) = if top { ("", "", " ") } else { ("[", "]", ", ") };
        out.push_str(open);
        let start = out.len();
        loop {
            let before = out.len();
            if before > start {
                out.push_str(between);
            }
            if list.next_element_seed(ValueWriter(out, false))?.is_none() {
                out.truncate(before);
                break;
            }
        }
        out.push_str(close);
        Ok(())
    }
    fn visit_map<A: MapAccess<'de>>(self, mut object: A) -> Result<(), A::Error> {
        let Self(out, top) = self;
        let (open, close) = if top { ("", "") } else { ("{", "}") };
        out.push_str(open);
        let start = out.len();
        loop {
            let before = out.len();
            if before > start {
                out.push_str(", ");
            }
            if object.next_key_seed(ValueWriter(out, false))?.is_none() {
                out.truncate(before);
                break;
            }
            out.push('=');
            object.next_value_seed(ValueWriter(out, false))?;
        }
        out.push_str(close);
        Ok(())
    }
}
