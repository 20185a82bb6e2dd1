//! Reading an ADK event in one go.
//!
//! A log has thousands of them, and most of what is in one is not asked for. So the fields go
//! where they belong while the text is read, and no map of them is made on the way. The rules are
//! those of [`alias`](crate::alias): either spelling, snake_case before camelCase, `null` is
//! absent, and what has another type than expected is left out.

use std::borrow::Cow;
use std::fmt;
use std::marker::PhantomData;

use serde::de::{Deserialize, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Number, Value};

use super::{AdkEvent, AdkPart};
use crate::alias;
use crate::record::read_time;

/// Reads an event; fails if it is no object, or no JSON.
pub(super) fn event<'de, D: Deserializer<'de>>(deserializer: D) -> Result<AdkEvent, D::Error> {
    let event: Event = deserializer.deserialize_map(Reader(PhantomData))?;
    let content = inside(event.content);
    let actions = inside(event.actions);
    let usage = inside(event.usage);
    Ok(AdkEvent {
        id: text(event.id),
        author: text(event.author).unwrap_or_default(),
        invocation_id: text(event.invocation_id),
        branch: text(event.branch),
        timestamp: time(event.timestamp),
        partial: flag(event.partial),
        error_code: text(event.error_code),
        error_message: text(event.error_message),
        parts: list(content.parts).into_iter().map(AdkPart::read).collect(),
        long_running_tool_ids: list(event.long_running_tool_ids)
            .into_iter()
            .filter_map(|id| id.as_str().map(str::to_owned))
            .collect(),
        transfer_to_agent: text(actions.transfer_to_agent),
        skip_summarization: flag(actions.skip_summarization),
        state_delta: object(actions.state_delta).unwrap_or_default(),
        waiting_call_ids: [actions.confirmations, actions.auth_configs]
            .into_iter()
            .filter_map(object)
            .flat_map(|requested| requested.into_iter().map(|(call_id, _)| call_id))
            .collect(),
        typed: matches!(event.kind.take(), Some(Value::String(kind)) if !kind.is_empty()),
        prompt_tokens: tokens(usage.prompt),
        output_tokens: tokens(usage.candidates) + tokens(usage.thoughts),
    })
}

/// A field in its two spellings.
struct Slot<T> {
    snake: Option<T>,
    camel: Option<T>,
}

impl<T> Slot<T> {
    fn take(self) -> Option<T> {
        self.snake.or(self.camel)
    }
}

impl<T> Default for Slot<T> {
    fn default() -> Self {
        Self { snake: None, camel: None }
    }
}

/// An object whose fields are known.
trait Fields: Default {
    /// Takes the value of this field, which is the next of `map`. False if it is none of them.
    fn take<'de, A: MapAccess<'de>>(&mut self, key: &str, map: &mut A) -> Result<bool, A::Error>;
}

/// An object that has these fields, by their snake_case names.
macro_rules! fields {
    ($name:ident { $($field:ident: $type:ty = $key:literal),+ $(,)? }) => {
        #[derive(Default)]
        struct $name { $($field: Slot<$type>),+ }

        impl Fields for $name {
            fn take<'de, A: MapAccess<'de>>(
                &mut self,
                key: &str,
                map: &mut A,
            ) -> Result<bool, A::Error> {
                $(
                    if key == $key {
                        self.$field.snake = map.next_value::<Option<$type>>()?;
                        return Ok(true);
                    }
                    if alias::is_camel_of(key, $key) {
                        self.$field.camel = map.next_value::<Option<$type>>()?;
                        return Ok(true);
                    }
                )+
                Ok(false)
            }
        }
    };
}

fields!(Event {
    content: Within<Content> = "content",
    actions: Within<Actions> = "actions",
    usage: Within<Usage> = "usage_metadata",
    id: Value = "id",
    author: Value = "author",
    invocation_id: Value = "invocation_id",
    branch: Value = "branch",
    timestamp: Value = "timestamp",
    partial: Value = "partial",
    error_code: Value = "error_code",
    error_message: Value = "error_message",
    long_running_tool_ids: Value = "long_running_tool_ids",
    kind: Value = "type",
});

fields!(Content { parts: Value = "parts" });

fields!(Actions {
    transfer_to_agent: Value = "transfer_to_agent",
    skip_summarization: Value = "skip_summarization",
    state_delta: Value = "state_delta",
    confirmations: Value = "requested_tool_confirmations",
    auth_configs: Value = "requested_auth_configs",
});

fields!(Usage {
    prompt: Value = "prompt_token_count",
    candidates: Value = "candidates_token_count",
    thoughts: Value = "thoughts_token_count",
});

/// An object in a field, or something else that stands there. A number with all its digits comes
/// as a map with a key of its own; without any of the fields it is as good as none.
#[derive(Default)]
struct Within<T>(T);

impl<'de, T: Fields> Deserialize<'de> for Within<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(Reader(PhantomData)).map(Self)
    }
}

struct Reader<T>(PhantomData<T>);

impl<'de, T: Fields> Visitor<'de> for Reader<T> {
    type Value = T;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<T, A::Error> {
        let mut fields = T::default();
        while let Some(Key(key)) = map.next_key()? {
            if !fields.take(&key, &mut map)? {
                map.next_value::<IgnoredAny>()?;
            }
        }
        Ok(fields)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<T, A::Error> {
        while list.next_element::<IgnoredAny>()?.is_some() {}
        Ok(T::default())
    }

    fn visit_str<E>(self, _: &str) -> Result<T, E> {
        Ok(T::default())
    }

    fn visit_bool<E>(self, _: bool) -> Result<T, E> {
        Ok(T::default())
    }

    fn visit_i64<E>(self, _: i64) -> Result<T, E> {
        Ok(T::default())
    }

    fn visit_u64<E>(self, _: u64) -> Result<T, E> {
        Ok(T::default())
    }

    fn visit_f64<E>(self, _: f64) -> Result<T, E> {
        Ok(T::default())
    }
}

/// A key, where it stands unless something in it is escaped.
struct Key<'a>(Cow<'a, str>);

impl<'de> Deserialize<'de> for Key<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct KeyVisitor;
        impl<'de> Visitor<'de> for KeyVisitor {
            type Value = Key<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a key")
            }

            fn visit_borrowed_str<E>(self, key: &'de str) -> Result<Key<'de>, E> {
                Ok(Key(Cow::Borrowed(key)))
            }

            fn visit_str<E>(self, key: &str) -> Result<Key<'de>, E> {
                Ok(Key(Cow::Owned(key.to_owned())))
            }
        }
        deserializer.deserialize_str(KeyVisitor)
    }
}

fn inside<T: Default>(slot: Slot<Within<T>>) -> T {
    slot.take().unwrap_or_default().0
}

/// A text; absent if it is empty.
fn text(slot: Slot<Value>) -> Option<String> {
    match slot.take()? {
        Value::String(text) if !text.is_empty() => Some(text),
        _ => None,
    }
}

fn flag(slot: Slot<Value>) -> bool {
    slot.take() == Some(Value::Bool(true))
}

fn list(slot: Slot<Value>) -> Vec<Value> {
    match slot.take() {
        Some(Value::Array(items)) => items,
        _ => Vec::new(),
    }
}

fn object(slot: Slot<Value>) -> Option<Map<String, Value>> {
    match slot.take()? {
        Value::Object(object) => Some(object),
        _ => None,
    }
}

fn tokens(slot: Slot<Value>) -> u64 {
    slot.take().as_ref().and_then(Value::as_u64).unwrap_or_default()
}

/// Seconds since 1970, as they are written where they are a number.
fn time(slot: Slot<Value>) -> Option<Number> {
    match slot.take()? {
        Value::Number(seconds) => Some(seconds),
        text => {
            read_time(&text).and_then(|time| Number::from_f64(time.as_duration().as_secs_f64()))
        }
    }
}
