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

use super::plain::PlainParts;
use super::{AdkEvent, AdkPart};
use crate::alias;
use crate::record::read_time;

/// Reads an event; fails if it is no object, or no JSON.
pub(super) fn event<'de, D: Deserializer<'de>>(deserializer: D) -> Result<AdkEvent, D::Error> {
    read::<AnyParts, D>(deserializer)
}

/// The same for an event whose parts have the forms that most have; fails for any other.
pub(super) fn plain_event<'de, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<AdkEvent, D::Error> {
    read::<PlainParts, D>(deserializer)
}

fn read<'de, P, D>(deserializer: D) -> Result<AdkEvent, D::Error>
where
    P: Deserialize<'de> + Into<Vec<AdkPart>>,
    D: Deserializer<'de>,
{
    let event: Event<P> = deserializer.deserialize_map(Reader(PhantomData))?;
    let parts = event.content.and_then(|content| content.0.parts);
    let actions = event.actions.unwrap_or_default().0;
    let usage = event.usage.take().unwrap_or_default().0;
    Ok(AdkEvent {
        id: text(event.id),
        author: text(event.author).unwrap_or_default(),
        invocation_id: text(event.invocation_id.take()),
        branch: text(event.branch),
        timestamp: event.timestamp.and_then(|time| time.0),
        partial: flag(event.partial),
        error_code: text(event.error_code.take()),
        error_message: text(event.error_message.take()),
        parts: parts.map(Into::into).unwrap_or_default(),
        long_running_tool_ids: event
            .long_running_tool_ids
            .take()
            .map_or_else(Vec::new, |ids| ids.0),
        transfer_to_agent: text(actions.transfer_to_agent.take()),
        skip_summarization: flag(actions.skip_summarization.take()),
        state_delta: object(actions.state_delta).unwrap_or_default(),
        waiting_call_ids: [actions.confirmations, actions.auth_configs]
            .into_iter()
            .filter_map(object)
            .flat_map(|requested| requested.into_iter().map(|(call_id, _)| call_id))
            .collect(),
        event_type: text(event.kind),
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
trait Fields<'de>: Default {
    /// Takes the value of this field, which is the next of `map`. False if it is none of them.
    fn take<A: MapAccess<'de>>(&mut self, key: &str, map: &mut A) -> Result<bool, A::Error>;

    /// What a text is that stands where the object should.
    fn of_text(_: Cow<'_, str>) -> Self {
        Self::default()
    }
}

/// An object that has these fields, by their snake_case names: those of one word, which have one
/// spelling, and those of several, which have two.
macro_rules! fields {
    ($name:ident $(<$generic:ident>)? {
        $($one:ident: $one_type:ty = $one_key:literal),* $(,)?;
        $($two:ident: $two_type:ty = $two_key:literal),* $(,)?
    }) => {
        struct $name $(<$generic>)? {
            $($one: Option<$one_type>,)*
            $($two: Slot<$two_type>,)*
        }

        impl $(<$generic>)? Default for $name $(<$generic>)? {
            fn default() -> Self {
                Self { $($one: None,)* $($two: Slot::default(),)* }
            }
        }

        impl<'de $(, $generic: Deserialize<'de>)?> Fields<'de> for $name $(<$generic>)? {
            fn take<A: MapAccess<'de>>(
                &mut self,
                key: &str,
                map: &mut A,
            ) -> Result<bool, A::Error> {
                $(
                    if key == $one_key {
                        self.$one = map.next_value()?;
                        return Ok(true);
                    }
                )*
                $(
                    if key == $two_key {
                        self.$two.snake = map.next_value()?;
                        return Ok(true);
                    }
                    if alias::is_camel_of(key, $two_key) {
                        self.$two.camel = map.next_value()?;
                        return Ok(true);
                    }
                )*
                Ok(false)
            }
        }
    };
}

fields!(Event<P> {
    content: Within<Content<P>> = "content",
    actions: Within<Actions> = "actions",
    id: Text = "id",
    author: Text = "author",
    branch: Text = "branch",
    timestamp: Time = "timestamp",
    partial: Flag = "partial",
    kind: Text = "type";
    invocation_id: Text = "invocation_id",
    usage: Within<Usage> = "usage_metadata",
    error_code: Text = "error_code",
    error_message: Text = "error_message",
    long_running_tool_ids: Texts = "long_running_tool_ids",
});

fields!(Content<P> { parts: P = "parts"; });

fields!(Actions {
    ;
    transfer_to_agent: Text = "transfer_to_agent",
    skip_summarization: Flag = "skip_summarization",
    state_delta: Object = "state_delta",
    confirmations: Object = "requested_tool_confirmations",
    auth_configs: Object = "requested_auth_configs",
});

fields!(Usage {
    ;
    prompt: Tokens = "prompt_token_count",
    candidates: Tokens = "candidates_token_count",
    thoughts: Tokens = "thoughts_token_count",
});

/// An object in a field, or something else that stands there. A number with all its digits comes
/// as a map with a key of its own; without any of the fields it is as good as none.
#[derive(Default)]
struct Within<T>(T);

impl<'de, T: Fields<'de>> Deserialize<'de> for Within<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(Reader(PhantomData)).map(Self)
    }
}

struct Reader<T>(PhantomData<T>);

impl<'de, T: Fields<'de>> Visitor<'de> for Reader<T> {
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

    fn visit_str<E>(self, text: &str) -> Result<T, E> {
        Ok(T::of_text(Cow::Borrowed(text)))
    }

    fn visit_string<E>(self, text: String) -> Result<T, E> {
        Ok(T::of_text(Cow::Owned(text)))
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
pub(super) struct Key<'a>(pub(super) Cow<'a, str>);

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

/// A text; absent if it is empty, or something else. Most fields are texts, so it is read without
/// a value in between.
#[derive(Default)]
struct Text(Option<String>);

impl<'de> Fields<'de> for Text {
    fn take<A: MapAccess<'de>>(&mut self, _: &str, _: &mut A) -> Result<bool, A::Error> {
        Ok(false)
    }

    fn of_text(text: Cow<'_, str>) -> Self {
        Self((!text.is_empty()).then(|| text.into_owned()))
    }
}

impl<'de> Deserialize<'de> for Text {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(Reader(PhantomData))
    }
}

/// What a field is kept as, made of whatever stands there: a whole value takes more room than
/// what is left of it, and every field waits until the event is read to its end.
macro_rules! made_of_values {
    ($($(#[$doc:meta])* $name:ident($type:ty) = $make:expr;)+) => {$(
        $(#[$doc])*
        struct $name($type);

        impl<'de> Deserialize<'de> for $name {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                let make: fn(Value) -> $type = $make;
                Value::deserialize(deserializer).map(|value| Self(make(value)))
            }
        }
    )+};
}

made_of_values! {
    /// Those of a list that are texts.
    Texts(Vec<String>) = |value| {
        list(value).into_iter().filter_map(|id| id.as_str().map(str::to_owned)).collect()
    };
    Flag(bool) = |value| value == Value::Bool(true);
    /// Elsewhere, because most are empty.
    Object(Option<Box<Map<String, Value>>>) = |value| match value {
        Value::Object(object) if !object.is_empty() => Some(Box::new(object)),
        _ => None,
    };
    Tokens(u64) = |value| value.as_u64().unwrap_or_default();
    /// Seconds since 1970, as they are written where they are a number.
    Time(Option<Number>) = |value| match value {
        Value::Number(seconds) => Some(seconds),
        text => {
            read_time(&text).and_then(|time| Number::from_f64(time.as_duration().as_secs_f64()))
        }
    };
    /// The parts of a content, whatever they are.
    AnyParts(Vec<AdkPart>) = |value| list(value).into_iter().map(AdkPart::read).collect();
}

impl From<AnyParts> for Vec<AdkPart> {
    fn from(parts: AnyParts) -> Self {
        parts.0
    }
}

fn list(value: Value) -> Vec<Value> {
    match value {
        Value::Array(items) => items,
        _ => Vec::new(),
    }
}

fn text(field: Option<Text>) -> Option<String> {
    field.and_then(|text| text.0)
}

fn flag(field: Option<Flag>) -> bool {
    field.is_some_and(|flag| flag.0)
}

fn object(slot: Slot<Object>) -> Option<Map<String, Value>> {
    slot.take().and_then(|object| object.0).map(|object| *object)
}

fn tokens(slot: Slot<Tokens>) -> u64 {
    slot.take().map_or(0, |tokens| tokens.0)
}
