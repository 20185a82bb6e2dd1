//! A look at an event that arrives, for the usual case: everything is as it should be.
//!
//! Nothing is made of the event but what the log says beside it, so this takes a fraction of what
//! reading it as a tree does. Whoever sees nothing here has to look properly: something may be
//! wrong, or only unusual. What is passed over is read as strictly as what is kept, with the same
//! limit to its depth, because somebody will read it one day.

use std::borrow::Cow;
use std::fmt;
use std::marker::PhantomData;

use serde::de::{Deserialize, Deserializer, Error, MapAccess, SeqAccess, Visitor};

use super::AdkHead;
use super::read::Key;
use crate::alias;

/// The head of an event of which every field has its type and stands there once.
pub(super) fn head(text: &str) -> Option<AdkHead> {
    let mut json = serde_json::Deserializer::from_str(text);
    let head = json.deserialize_map(Fields(PhantomData)).ok()?;
    json.end().ok()?;
    Seen::into_head(head)
}

/// What was seen of an event.
#[derive(Default)]
struct Seen<'a> {
    /// One bit for each field of [`NAMES`] that was there.
    fields: u16,
    id: Option<Cow<'a, str>>,
    author: Option<Cow<'a, str>>,
    invocation_id: Option<Cow<'a, str>>,
    branch: Option<Cow<'a, str>>,
}

/// The fields that have to have a type.
const NAMES: [&str; 11] = [
    "id",
    "author",
    "invocation_id",
    "branch",
    "error_code",
    "error_message",
    "timestamp",
    "partial",
    "long_running_tool_ids",
    "actions",
    "content",
];

/// Events that have it follow other rules.
const TYPE: &str = "type";

/// The key under which a number comes with all its digits.
const NUMBER: &str = "$serde_json::private::Number";

/// How it begins, and others of its kind. Whoever writes one of them into an object themselves is
/// looked at properly.
const PRIVATE: &str = "$serde_json::private::";

impl Seen<'_> {
    fn into_head(self) -> Option<AdkHead> {
        let text = |seen: Option<Cow<'_, str>>| seen.map(Cow::into_owned);
        let given = |seen| text(seen).filter(|text| !text.is_empty());
        Some(AdkHead {
            author: text(self.author).filter(|author| !author.trim().is_empty())?,
            id: given(self.id),
            invocation_id: given(self.invocation_id),
            branch: given(self.branch),
        })
    }
}

struct Fields<'a>(PhantomData<Seen<'a>>);

impl<'de> Visitor<'de> for Fields<'de> {
    type Value = Seen<'de>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an event")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Seen<'de>, A::Error> {
        let mut seen = Seen::default();
        while let Some(Key(key)) = map.next_key()? {
            if key == TYPE || key.starts_with(PRIVATE) {
                return Err(A::Error::custom("it is no plain event"));
            }
            let Some(place) = NAMES.iter().position(|name| is_spelling(&key, name)) else {
                map.next_value::<Skip>()?;
                continue;
            };
            if seen.fields & (1 << place) != 0 {
                return Err(A::Error::custom("a field stands there twice"));
            }
            seen.fields |= 1 << place;
            match NAMES[place] {
                "id" => seen.id = text(&mut map)?,
                "author" => seen.author = text(&mut map)?,
                "invocation_id" => seen.invocation_id = text(&mut map)?,
                "branch" => seen.branch = text(&mut map)?,
                "timestamp" => pass::<f64, A>(&mut map)?,
                "partial" => pass::<bool, A>(&mut map)?,
                "long_running_tool_ids" => pass::<Vec<Skip>, A>(&mut map)?,
                "actions" => pass::<Object, A>(&mut map)?,
                "content" => pass::<Content, A>(&mut map)?,
                _ => pass::<Key<'de>, A>(&mut map)?,
            }
        }
        Ok(seen)
    }
}

fn is_spelling(key: &str, name: &str) -> bool {
    key == name || alias::is_camel_of(key, name)
}

fn text<'de, A: MapAccess<'de>>(map: &mut A) -> Result<Option<Cow<'de, str>>, A::Error> {
    Ok(map.next_value::<Option<Key<'de>>>()?.map(|Key(text)| text))
}

/// Passes over a value of this type, or none.
fn pass<'de, T: Deserialize<'de>, A: MapAccess<'de>>(map: &mut A) -> Result<(), A::Error> {
    map.next_value::<Option<T>>().map(|_| ())
}

/// Any value, of which nothing is kept.
struct Skip;

impl<'de> Deserialize<'de> for Skip {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(Skipping)
    }
}

struct Skipping;

impl<'de> Visitor<'de> for Skipping {
    type Value = Skip;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("anything")
    }

    fn visit_unit<E>(self) -> Result<Skip, E> {
        Ok(Skip)
    }

    fn visit_bool<E>(self, _: bool) -> Result<Skip, E> {
        Ok(Skip)
    }

    fn visit_i64<E>(self, _: i64) -> Result<Skip, E> {
        Ok(Skip)
    }

    fn visit_u64<E>(self, _: u64) -> Result<Skip, E> {
        Ok(Skip)
    }

    fn visit_f64<E>(self, _: f64) -> Result<Skip, E> {
        Ok(Skip)
    }

    fn visit_str<E>(self, _: &str) -> Result<Skip, E> {
        Ok(Skip)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Skip, A::Error> {
        while list.next_element::<Skip>()?.is_some() {}
        Ok(Skip)
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Skip, A::Error> {
        let mut number = false;
        while let Some(Key(key)) = map.next_key()? {
            if number {
                return Err(A::Error::custom("a number, and more"));
            }
            number = key == NUMBER;
            if number {
                let Key(digits) = map.next_value()?;
                digits.parse::<serde_json::Number>().map_err(A::Error::custom)?;
            } else if key.starts_with(PRIVATE) {
                return Err(A::Error::custom("it may be something else"));
            } else {
                map.next_value::<Skip>()?;
            }
        }
        Ok(Skip)
    }
}

/// An object, and nothing else.
struct Object;

impl<'de> Deserialize<'de> for Object {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(Members { lists: &[] }).map(|Skip| Self)
    }
}

/// The content of an event, whose parts are a list.
struct Content;

impl<'de> Deserialize<'de> for Content {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(Members { lists: &["parts"] }).map(|Skip| Self)
    }
}

/// What is in an object; some of it has to be lists.
struct Members {
    lists: &'static [&'static str],
}

impl<'de> Visitor<'de> for Members {
    type Value = Skip;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Skip, A::Error> {
        while let Some(Key(key)) = map.next_key()? {
            if key.starts_with(PRIVATE) {
                return Err(A::Error::custom("it may be something else"));
            }
            if self.lists.contains(&&*key) {
                pass::<Vec<Skip>, A>(&mut map)?;
            } else {
                map.next_value::<Skip>()?;
            }
        }
        Ok(Skip)
    }
}
