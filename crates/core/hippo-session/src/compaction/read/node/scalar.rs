//! Lenient deserialization of strings, booleans and numbers.

use std::borrow::Cow;
use std::fmt;

use serde::de::{Deserialize, Deserializer, Error, IgnoredAny, MapAccess, SeqAccess, Visitor};

use crate::compaction::read::args;

/// Optional string; numbers are converted.
#[derive(Debug, Default, Clone)]
pub struct LenientText<'a>(pub Option<Cow<'a, str>>);

impl LenientText<'_> {
    /// Returns the string; empty if missing.
    pub fn get(&self) -> &str {
        self.0.as_deref().unwrap_or_default()
    }
}

/// Optional boolean; other types count as missing.
#[derive(Debug, Default, Clone, Copy)]
pub struct LenientFlag(pub Option<bool>);

impl LenientFlag {
    /// Returns true if the value is present and true.
    pub fn is_set(self) -> bool {
        self.0 == Some(true)
    }
}

/// Optional integer; other types count as missing.
#[derive(Debug, Default, Clone, Copy)]
pub struct LenientNumber(pub Option<i64>);

/// Generates the visitor methods that ignore unwanted types.
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
pub(super) use ignores;

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
lenient!(LenientText<'a>, TextVisitor);
impl<'de> Visitor<'de> for TextVisitor {
    type Value = LenientText<'de>;
    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a text")
    }
    fn visit_borrowed_str<E: Error>(self, text: &'de str) -> Result<Self::Value, E> {
        Ok(LenientText(Some(Cow::Borrowed(text))))
    }
    fn visit_str<E: Error>(self, text: &str) -> Result<Self::Value, E> {
        Ok(LenientText(Some(Cow::Owned(text.to_owned()))))
    }
    fn visit_i64<E: Error>(self, number: i64) -> Result<Self::Value, E> {
        Ok(LenientText(Some(Cow::Owned(number.to_string()))))
    }
    fn visit_u64<E: Error>(self, number: u64) -> Result<Self::Value, E> {
        Ok(LenientText(Some(Cow::Owned(number.to_string()))))
    }
    fn visit_f64<E: Error>(self, number: f64) -> Result<Self::Value, E> {
        Ok(LenientText(Some(Cow::Owned(args::format_float(number)))))
    }
    ignores!(bool, none, list, object);
}

struct FlagVisitor;
lenient!(LenientFlag, FlagVisitor, plain);
impl<'de> Visitor<'de> for FlagVisitor {
    type Value = LenientFlag;
    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("true or false")
    }
    fn visit_bool<E: Error>(self, flag: bool) -> Result<Self::Value, E> {
        Ok(LenientFlag(Some(flag)))
    }
    ignores!(numbers, text, none, list, object);
}

struct NumberVisitor;
lenient!(LenientNumber, NumberVisitor, plain);
impl<'de> Visitor<'de> for NumberVisitor {
    type Value = LenientNumber;
    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a number")
    }
    fn visit_i64<E: Error>(self, number: i64) -> Result<Self::Value, E> {
        Ok(LenientNumber(Some(number)))
    }
    fn visit_u64<E: Error>(self, number: u64) -> Result<Self::Value, E> {
        Ok(LenientNumber(i64::try_from(number).ok()))
    }
    fn visit_f64<E: Error>(self, _: f64) -> Result<Self::Value, E> {
        Ok(LenientNumber(None))
    }
    ignores!(bool, text, none, list, object);
}
