//! JSON as text: where a piece of it is, without reading the rest.
//!
//! What belongs to others is changed by cutting into its text, never by parsing
//! and writing it again, so that every byte beside the cut stays.

use std::fmt;
use std::ops::Range;

use serde::Deserialize;
use serde::de::{Deserializer, MapAccess, Visitor};
use serde_json::value::RawValue;

/// Where `part`, a slice of `text`, is in it.
pub(crate) fn span(text: &str, part: &str) -> Range<usize> {
    let start = part.as_ptr().addr() - text.as_ptr().addr();
    start..start + part.len()
}

/// The value of a JSON string.
pub(crate) fn text_of(json: &str) -> Option<String> {
    serde_json::from_str(json).ok()
}

/// The items of a list as text; none if it is no list.
pub(crate) fn items(json: &str) -> Vec<&str> {
    let items: Vec<&RawValue> = serde_json::from_str(json).unwrap_or_default();
    items.into_iter().map(RawValue::get).collect()
}

/// The fields of an object, the values as text; none if it is no object.
pub(crate) fn members(json: &str) -> Vec<(String, &str)> {
    let read = |(key, value)| Some((text_of(key)?, value));
    raw_members(json).into_iter().filter_map(read).collect()
}

/// The same with the keys as text, quotes and all.
pub(crate) fn raw_members(json: &str) -> Vec<(&str, &str)> {
    let members: Members<'_> = serde_json::from_str(json).unwrap_or_default();
    members.0.into_iter().map(|(key, value)| (key.get(), value.get())).collect()
}

#[derive(Default)]
struct Members<'a>(Vec<(&'a RawValue, &'a RawValue)>);

impl<'de> Deserialize<'de> for Members<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(MembersVisitor)
    }
}

struct MembersVisitor;

impl<'de> Visitor<'de> for MembersVisitor {
    type Value = Members<'de>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Members<'de>, A::Error> {
        let mut members = Vec::new();
        while let Some(member) = map.next_entry()? {
            members.push(member);
        }
        Ok(Members(members))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_are_where_they_stand() {
        let json = r#" {"a" : [1.50, "x"], "\u0062":null, "a":2} "#;
        assert_eq!(
            members(json),
            [("a".to_owned(), r#"[1.50, "x"]"#), ("b".to_owned(), "null"), ("a".to_owned(), "2")]
        );
        let keys: Vec<_> = raw_members(json).into_iter().map(|(key, _)| key).collect();
        assert_eq!(keys, [r#""a""#, r#""\u0062""#, r#""a""#]);
        assert_eq!(&json[span(json, keys[1])], r#""\u0062""#);
        assert_eq!(items(members(json)[0].1), ["1.50", r#""x""#]);
        assert!(members("[]").is_empty() && items("{}").is_empty());
    }
}
