//! Parts of the forms that most have: a text, a call, the result of one.
//!
//! They are read where they stand, without a map of what is in them. Whatever is not as plain as
//! that, a field that is there twice included, is an error here: the event is then read again in
//! the way that takes everything ([`AdkPart::read`]), so both always say the same.

use std::fmt;

use serde::de::{Deserialize, Deserializer, Error, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Value};

use super::AdkPart;
use super::read::Key;

/// The parts of a content.
pub(super) struct PlainParts(Vec<AdkPart>);

impl From<PlainParts> for Vec<AdkPart> {
    fn from(parts: PlainParts) -> Self {
        parts.0
    }
}

impl<'de> Deserialize<'de> for PlainParts {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct List;
        impl<'de> Visitor<'de> for List {
            type Value = PlainParts;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a list of parts")
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<PlainParts, A::Error> {
                // Nearly all have one.
                let mut parts = Vec::with_capacity(1);
                while let Some(Plain(part)) = list.next_element()? {
                    parts.push(part);
                }
                Ok(PlainParts(parts))
            }
        }
        deserializer.deserialize_seq(List)
    }
}

struct Plain(AdkPart);

impl<'de> Deserialize<'de> for Plain {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Part;
        impl<'de> Visitor<'de> for Part {
            type Value = Plain;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a part")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Plain, A::Error> {
                let (mut text, mut thought) = (None::<String>, false);
                let (mut call, mut response) = (None::<Call>, None::<Answer>);
                while let Some(Key(key)) = map.next_key()? {
                    match &*key {
                        "text" if text.is_none() => text = map.next_value()?,
                        "function_call" | "functionCall" if call.is_none() => {
                            call = map.next_value()?;
                        }
                        "function_response" | "functionResponse" if response.is_none() => {
                            response = map.next_value()?;
                        }
                        "text" | "function_call" | "functionCall" | "function_response"
                        | "functionResponse" => return Err(A::Error::custom("it is there twice")),
                        "thought" => thought = map.next_value::<Value>()? == Value::Bool(true),
                        _ => drop(map.next_value::<IgnoredAny>()?),
                    }
                }
                let part = match (call, response, text) {
                    (Some(Call { id, name, args }), ..) => {
                        AdkPart::FunctionCall { id, name, args: args.into() }
                    }
                    (None, Some(Answer { id, name, response }), _) => {
                        AdkPart::FunctionResponse { id, name, response }
                    }
                    (None, None, Some(text)) => AdkPart::Text { text, thought },
                    (None, None, None) => return Err(A::Error::custom("it is something else")),
                };
                Ok(Plain(part))
            }
        }
        deserializer.deserialize_map(Part)
    }
}

/// An object with an id, a name and something more; the last of a field counts, as in a map.
macro_rules! named {
    ($object:ident, $more:ident: $type:ty) => {
        #[derive(Default)]
        struct $object {
            id: Option<String>,
            name: String,
            $more: $type,
        }

        impl<'de> Deserialize<'de> for $object {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                struct Fields;
                impl<'de> Visitor<'de> for Fields {
                    type Value = $object;

                    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                        f.write_str("an object")
                    }

                    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<$object, A::Error> {
                        let mut object = $object::default();
                        while let Some(Key(key)) = map.next_key()? {
                            match &*key {
                                "id" => object.id = filled(map.next_value()?),
                                "name" => {
                                    object.name = filled(map.next_value()?).unwrap_or_default();
                                }
                                stringify!($more) => {
                                    let more: Option<$type> = map.next_value()?;
                                    object.$more = more.unwrap_or_default();
                                }
                                _ => drop(map.next_value::<IgnoredAny>()?),
                            }
                        }
                        Ok(object)
                    }
                }
                deserializer.deserialize_map(Fields)
            }
        }
    };
}

named!(Call, args: Map<String, Value>);
named!(Answer, response: Value);

/// An empty text is none.
fn filled(text: Option<String>) -> Option<String> {
    text.filter(|text| !text.is_empty())
}

#[cfg(test)]
mod tests {
    use serde_json::value::RawValue;

    use super::super::AdkEvent;
    use super::*;

    /// Parts as they come and as they should not, each read in both ways.
    const PARTS: &[&str] = &[
        r#"{"text": "a\nb"}"#,
        r#"{"text": ""}"#,
        r#"{"text": "a", "thought": true}"#,
        r#"{"text": "a", "thought": null, "thoughtSignature": "eA=="}"#,
        r#"{"text": "a", "text": "b"}"#,
        r#"{"text": "a", "text": null}"#,
        r#"{"text": null, "text": "b"}"#,
        r#"{"text": 1, "other": [1, 2.50]}"#,
        r#"{"functionCall": {"id": "c", "name": "n", "args": {"a": 1e400, "b": {"a": []}}}}"#,
        r#"{"function_call": {"id": "", "name": null, "args": null, "more": 1}, "text": "a"}"#,
        r#"{"functionCall": {"id": 1, "name": "n"}}"#,
        r#"{"functionCall": {"name": "n", "name": "m", "id": "c", "id": null}}"#,
        r#"{"functionCall": {"name": "n", "args": [1]}}"#,
        r#"{"functionCall": {"name": "a"}, "function_call": {"name": "b"}}"#,
        r#"{"functionCall": {"name": "a"}, "function_call": null}"#,
        r#"{"functionCall": {"name": "a"}, "function_call": 7}"#,
        r#"{"functionCall": 7, "text": "a"}"#,
        r#"{"functionCall": null, "text": null, "functionResponse": {"id": "c", "response": [1]}}"#,
        r#"{"function_response": {"name": "n", "response": null}, "function_call": {}}"#,
        r#"{"functionResponse": {"name": "n", "Name": "m", "response": "x"}}"#,
        r#"{"inlineData": {"mimeType": "image/png", "data": "eA=="}}"#,
        r#"{"codeExecutionResult": {"outcome": "OUTCOME_OK"}}"#,
        "{}",
        "null",
        "7",
        r#""text""#,
        r#"["text"]"#,
    ];

    #[test]
    fn plain_parts_are_read_as_all_others_are() {
        let lists = PARTS.iter().map(|part| format!("[{part}]"));
        let pairs = PARTS.iter().map(|part| format!(r#"[{{"text": "first"}}, {part}]"#));
        let others = ["null", "7", r#""parts""#, "{}"].map(str::to_owned);
        for parts in lists.chain(pairs).chain(others) {
            let text = format!(r#"{{"author": "a", "content": {{"parts": {parts}}}}}"#);
            let Ok(Value::Object(object)) = serde_json::from_str(&text) else { unreachable!() };
            let raw = RawValue::from_string(text).unwrap();
            assert_eq!(AdkEvent::parse(&raw).unwrap(), AdkEvent::read(object), "{parts}");
        }
    }
}
