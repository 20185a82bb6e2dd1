//! YAML as a tree in which every value knows its place.
//!
//! Files are read by hand from this tree instead of through derived types,
//! because a person who mistyped a key deserves the line of that key, and
//! derived enums lose it. Variables are filled in while the tree is made, so
//! nothing behind it has to think of them.

use std::fmt;

use serde::de::{Deserialize, Deserializer, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Number, Value};
use serde_saphyr::Spanned;

/// Largest file that is read, in bytes.
pub(crate) const MAX_FILE_BYTES: u64 = 1 << 20;

/// How deep lists and mappings may stand in each other. Each takes its part of the stack.
const MAX_DEPTH: usize = 32;

/// Values that aliases may repeat; some that repeat each other are endless otherwise.
const MAX_REPEATED: usize = 10_000;

/// Where something stands in a file. Lines and columns start at 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Place {
    pub(crate) line: u64,
    pub(crate) column: u64,
}

/// A value and its place.
#[derive(Debug, Clone)]
pub(crate) struct Node {
    pub(crate) at: Place,
    pub(crate) data: Data,
}

/// What a node holds.
#[derive(Debug, Clone)]
pub(crate) enum Data {
    Null,
    Bool(bool),
    Number(Number),
    Text(String),
    List(Vec<Node>),
    Map(Vec<(Key, Node)>),
}

/// A key and its place.
#[derive(Debug, Clone)]
pub(crate) struct Key {
    pub(crate) at: Place,
    pub(crate) name: String,
}

/// Why a text is no YAML.
#[derive(Debug)]
pub(crate) struct Unreadable {
    pub(crate) at: Option<Place>,
    pub(crate) reason: String,
}

impl Node {
    /// Reads one document.
    pub(crate) fn parse(text: &str) -> Result<Self, Unreadable> {
        // YAML 1.1 takes `n` and `on` for booleans, which nobody means.
        let options = serde_saphyr::options! {
            strict_booleans: true,
            budget: serde_saphyr::budget! { max_depth: MAX_DEPTH },
            alias_limits: serde_saphyr::alias_limits! { max_total_replayed_events: MAX_REPEATED },
        };
        serde_saphyr::from_str_with_options(text, options).map_err(|error| {
            let at = error.location().map(|at| Place { line: at.line(), column: at.column() });
            Unreadable { at, reason: plain_reason(&error) }
        })
    }

    /// What it is, with its article.
    pub(crate) fn kind(&self) -> &'static str {
        match self.data {
            Data::Null => "nothing",
            Data::Bool(_) => "a boolean",
            Data::Number(_) => "a number",
            Data::Text(_) => "a text",
            Data::List(_) => "a list",
            Data::Map(_) => "a mapping",
        }
    }

    /// The same as JSON.
    pub(crate) fn to_json(&self) -> Value {
        match &self.data {
            Data::Null => Value::Null,
            Data::Bool(flag) => Value::Bool(*flag),
            Data::Number(number) => Value::Number(number.clone()),
            Data::Text(text) => Value::String(text.clone()),
            Data::List(items) => items.iter().map(Node::to_json).collect(),
            Data::Map(entries) => Value::Object(
                entries.iter().map(|(key, node)| (key.name.clone(), node.to_json())).collect::<Map<
                    String,
                    Value,
                >>(
                ),
            ),
        }
    }

    /// Changes every text in it; the first failure ends it.
    pub(crate) fn try_map_texts<E>(
        &mut self,
        change: &mut dyn FnMut(Place, &mut String) -> Result<(), E>,
    ) -> Result<(), E> {
        match &mut self.data {
            Data::Null | Data::Bool(_) | Data::Number(_) => Ok(()),
            Data::Text(text) => change(self.at, text),
            Data::List(items) => items.iter_mut().try_for_each(|item| item.try_map_texts(change)),
            Data::Map(entries) => {
                entries.iter_mut().try_for_each(|(_, node)| node.try_map_texts(change))
            }
        }
    }
}

/// The parser's message without the place and the picture that it adds.
fn plain_reason(error: &serde_saphyr::Error) -> String {
    let text = error.without_snippet().to_string();
    let line = text.lines().next().unwrap_or_default();
    let line = line.split(" at line ").next().unwrap_or(line);
    // Advice for programmers of the parser is none for the writer of a file.
    let line = line.split(", set ").next().unwrap_or(line);
    line.trim_start_matches("error: ").trim_end_matches([',', ' ']).to_owned()
}

impl From<serde_saphyr::Location> for Place {
    fn from(at: serde_saphyr::Location) -> Self {
        Self { line: at.line(), column: at.column() }
    }
}

impl<'de> Deserialize<'de> for Node {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let spanned = Spanned::<Data>::deserialize(deserializer)?;
        Ok(Self { at: spanned.referenced.into(), data: spanned.value })
    }
}

impl<'de> Deserialize<'de> for Data {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(DataVisitor)
    }
}

struct DataVisitor;

impl<'de> Visitor<'de> for DataVisitor {
    type Value = Data;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a value")
    }

    fn visit_unit<E>(self) -> Result<Data, E> {
        Ok(Data::Null)
    }

    fn visit_none<E>(self) -> Result<Data, E> {
        Ok(Data::Null)
    }

    fn visit_bool<E>(self, flag: bool) -> Result<Data, E> {
        Ok(Data::Bool(flag))
    }

    fn visit_i64<E>(self, number: i64) -> Result<Data, E> {
        Ok(Data::Number(number.into()))
    }

    fn visit_u64<E>(self, number: u64) -> Result<Data, E> {
        Ok(Data::Number(number.into()))
    }

    fn visit_f64<E: serde::de::Error>(self, number: f64) -> Result<Data, E> {
        let number = Number::from_f64(number);
        number.map(Data::Number).ok_or_else(|| E::custom("the number is not finite"))
    }

    fn visit_str<E>(self, text: &str) -> Result<Data, E> {
        Ok(Data::Text(text.to_owned()))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Data, A::Error> {
        let mut items = Vec::new();
        while let Some(item) = list.next_element()? {
            items.push(item);
        }
        Ok(Data::List(items))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Data, A::Error> {
        let mut entries = Vec::new();
        while let Some(key) = map.next_key::<Spanned<String>>()? {
            let key = Key { at: key.referenced.into(), name: key.value };
            entries.push((key, map.next_value()?));
        }
        Ok(Data::Map(entries))
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn keys_and_values_know_their_places() {
        let node = Node::parse("a: 1\nb:\n  - x: ${V}\n").unwrap();

        assert_eq!(node.to_json(), json!({"a": 1, "b": [{"x": "${V}"}]}));
        let Data::Map(entries) = &node.data else { panic!("{node:?}") };
        assert_eq!(entries[1].0.at, Place { line: 2, column: 1 });
        let Data::List(items) = &entries[1].1.data else { panic!("{node:?}") };
        let Data::Map(inner) = &items[0].data else { panic!("{node:?}") };
        assert_eq!(inner[0].0.at, Place { line: 3, column: 5 });
        assert_eq!(inner[0].1.at, Place { line: 3, column: 8 });
    }

    #[test]
    fn only_true_and_false_are_booleans() {
        let node = Node::parse("a: [n, on, yes, true]\nb: ~\nc: 1.5\n").unwrap();
        assert_eq!(node.to_json(), json!({"a": ["n", "on", "yes", true], "b": null, "c": 1.5}));
    }

    #[test]
    fn what_is_not_yaml_is_told_with_its_place() {
        let error = Node::parse("a: [1, 2\nb: 3\n").unwrap_err();

        assert!(error.at.is_some(), "{error:?}");
        assert!(!error.reason.contains('\n'), "{error:?}");
    }
}
