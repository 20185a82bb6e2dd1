//! An answer that grows while the provider talks.
//!
//! Each piece is told at once and kept, and [`Answer::finish`] puts the kept ones
//! together, so pieces and answer cannot differ. A call gets its id when it
//! begins; a provider that gives none gets one of ours.

use std::collections::HashSet;

use hotseat_core::Delta;
use serde_json::{Map, Value, json};
use uuid::Uuid;

use super::refusal::cut;
use crate::{ModelError, SeatAnswer};

/// Most bytes of an answer that are kept.
const MAX_ANSWER_BYTES: usize = 64 << 20;
/// Most parts of an answer.
const MAX_PARTS: usize = 4_096;
/// What ids that we make up begin with, as ADK's do.
pub(super) const OWN_ID: &str = "adk-";

/// An answer on its way.
pub(super) struct Answer<'a> {
    provider: &'static str,
    sink: &'a mut (dyn FnMut(Delta) + Send),
    parts: Vec<Growing>,
    ids: HashSet<String>,
    bytes: usize,
    told: bool,
    /// ADK's `usage_metadata`.
    pub(super) usage: Option<Value>,
    /// ADK's name for why the answer ended.
    pub(super) finish_reason: Option<String>,
    /// What the provider says beside an answer that is none.
    pub(super) finish_message: Option<String>,
    /// The model that answered.
    pub(super) model_version: Option<String>,
}

/// What kind of words these are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Words {
    Text,
    Thought,
}

enum Growing {
    Words { words: Words, text: String, signature: Option<String>, closed: bool },
    Call { index: Option<u64>, id: String, name: String, json: String, signature: Option<String> },
    Other(Value),
}

impl<'a> Answer<'a> {
    pub(super) fn new(provider: &'static str, sink: &'a mut (dyn FnMut(Delta) + Send)) -> Self {
        Self {
            provider,
            sink,
            parts: Vec::new(),
            ids: HashSet::new(),
            bytes: 0,
            told: false,
            usage: None,
            finish_reason: None,
            finish_message: None,
            model_version: None,
        }
    }

    /// Whether somebody has seen a piece of it.
    pub(super) fn told(&self) -> bool {
        self.told
    }

    /// More text, or more of a thought.
    pub(super) fn say(&mut self, words: Words, more: &str) -> Result<(), ModelError> {
        if more.is_empty() {
            return Ok(());
        }
        let open = matches!(self.parts.last(),
            Some(Growing::Words { words: last, closed: false, .. }) if *last == words);
        if !open {
            self.begin_words(words)?;
        }
        self.count(more.len())?;
        if let Some(Growing::Words { text, .. }) = self.parts.last_mut() {
            text.push_str(more);
        }
        self.tell(match words {
            Words::Text => Delta::Text(more.to_owned()),
            Words::Thought => Delta::Thought(more.to_owned()),
        });
        Ok(())
    }

    /// Begins a part of words, even if the last part is of the same kind.
    pub(super) fn begin_words(&mut self, words: Words) -> Result<(), ModelError> {
        self.push(Growing::Words { words, text: String::new(), signature: None, closed: false })
    }

    /// Signs the last part with base64, which ends it.
    pub(super) fn sign(&mut self, signed: String) -> Result<(), ModelError> {
        self.count(signed.len())?;
        match self.parts.last_mut() {
            Some(Growing::Words { signature, closed, .. }) => {
                *signature = Some(signed);
                *closed = true;
            }
            Some(Growing::Call { signature, .. }) => *signature = Some(signed),
            Some(Growing::Other(_)) | None => {}
        }
        Ok(())
    }

    /// A part that is kept as it is, in snake_case.
    pub(super) fn keep(&mut self, part: Value) -> Result<(), ModelError> {
        self.count(part.to_string().len())?;
        self.push(Growing::Other(part))
    }

    /// A call begins. `index` is what the provider refers to it by.
    pub(super) fn begin_call(
        &mut self,
        index: Option<u64>,
        id: Option<&str>,
        name: &str,
    ) -> Result<(), ModelError> {
        if name.is_empty() {
            return Err(self.unreadable("a call without the name of a tool"));
        }
        let given = id.filter(|id| !id.is_empty() && !self.ids.contains(*id));
        let id = given.map_or_else(|| format!("{OWN_ID}{}", Uuid::new_v4()), str::to_owned);
        self.ids.insert(id.clone());
        self.count(id.len() + name.len())?;
        self.tell(Delta::Call { id: id.clone(), name: name.to_owned() });
        let (name, json) = (name.to_owned(), String::new());
        self.push(Growing::Call { index, id, name, json, signature: None })
    }

    /// Whether the call of this index has begun, and with another id than `id`.
    pub(super) fn has_call(&self, wanted: u64, other_than: Option<&str>) -> bool {
        let known = self.parts.iter().rev().find_map(|part| match part {
            Growing::Call { index: Some(index), id, .. } if *index == wanted => Some(id.as_str()),
            _ => None,
        });
        known.is_some_and(|known| {
            other_than.is_none_or(|id| id.is_empty() || id == known || known.starts_with(OWN_ID))
        })
    }

    /// More of the arguments of a call.
    pub(super) fn args(&mut self, wanted: Option<u64>, more: &str) -> Result<(), ModelError> {
        if more.is_empty() {
            return Ok(());
        }
        self.count(more.len())?;
        let call = self.parts.iter_mut().rev().find_map(|part| match part {
            Growing::Call { index, id, json, .. } if *index == wanted => Some((id, json)),
            _ => None,
        });
        let Some((id, json)) = call else {
            return Err(self.unreadable(&format!("arguments of a call that never began: {more}")));
        };
        json.push_str(more);
        let id = id.clone();
        self.tell(Delta::Args { id, json: more.to_owned() });
        Ok(())
    }

    /// A call that comes whole.
    pub(super) fn call(
        &mut self,
        id: Option<&str>,
        name: &str,
        args: Option<&Value>,
    ) -> Result<(), ModelError> {
        self.begin_call(None, id, name)?;
        let args = args.filter(|args| !args.is_null()).map(Value::to_string);
        self.args(None, args.as_deref().unwrap_or("{}"))
    }

    /// That something cannot be read, with what it is.
    pub(super) fn unreadable(&self, reason: &str) -> ModelError {
        ModelError::Unreadable { provider: self.provider, reason: cut(reason) }
    }

    /// That the provider refused in the middle of its answer.
    pub(super) fn refused(&self, status: u16, body: &Value) -> ModelError {
        let message = super::refusal::json_message(body).unwrap_or_else(|| cut(&body.to_string()));
        ModelError::Refused { provider: self.provider, status, message, retry_after: None }
    }

    /// The whole of it.
    pub(super) fn finish(mut self) -> Result<SeatAnswer, ModelError> {
        let cut_short = self.finish_reason.as_deref() == Some("MAX_TOKENS");
        let mut parts = Vec::with_capacity(self.parts.len());
        let mut broken = None;
        for part in std::mem::take(&mut self.parts) {
            match part {
                Growing::Words { words, text, signature, .. } => {
                    if !text.is_empty() || signature.is_some() {
                        parts.push(words_part(words, &text, signature));
                    }
                }
                Growing::Other(part) => parts.push(part),
                Growing::Call { id, name, json, signature, .. } => {
                    if json.is_empty() {
                        self.tell(Delta::Args { id: id.clone(), json: "{}".to_owned() });
                    }
                    match parse_args(&json) {
                        Some(args) => parts.push(call_part(&id, &name, &args, signature)),
                        None if cut_short => {
                            broken =
                                Some(format!("the answer was cut inside the call of `{name}`"));
                        }
                        None => {
                            let reason = format!("the arguments of `{name}` are no object: {json}");
                            return Err(self.unreadable(&reason));
                        }
                    }
                }
            }
        }
        // As ADK does it: an answer without content is an error that bears the reason's name.
        let reason = self.finish_reason.clone().filter(|reason| reason != "STOP");
        let failed = broken.is_some() || parts.is_empty();
        let error_code = reason.filter(|_| failed);
        let error_message = broken.or(self.finish_message).filter(|_| error_code.is_some());
        Ok(SeatAnswer {
            content: json!({"role": "model", "parts": parts}),
            usage: self.usage,
            finish_reason: self.finish_reason,
            model_version: self.model_version,
            error_code,
            error_message,
        })
    }

    fn push(&mut self, part: Growing) -> Result<(), ModelError> {
        if self.parts.len() >= MAX_PARTS {
            return Err(self.unreadable(&format!("an answer of more than {MAX_PARTS} parts")));
        }
        self.parts.push(part);
        Ok(())
    }

    fn count(&mut self, bytes: usize) -> Result<(), ModelError> {
        self.bytes += bytes;
        if self.bytes > MAX_ANSWER_BYTES {
            let reason = format!("an answer of more than {MAX_ANSWER_BYTES} bytes");
            return Err(self.unreadable(&reason));
        }
        Ok(())
    }

    fn tell(&mut self, delta: Delta) {
        self.told = true;
        (self.sink)(delta);
    }
}

fn words_part(words: Words, text: &str, signature: Option<String>) -> Value {
    let mut part = json!({"text": text});
    if words == Words::Thought {
        part["thought"] = Value::Bool(true);
    }
    signed(part, signature)
}

fn call_part(id: &str, name: &str, args: &Map<String, Value>, signature: Option<String>) -> Value {
    signed(json!({"function_call": {"id": id, "name": name, "args": args}}), signature)
}

fn signed(mut part: Value, signature: Option<String>) -> Value {
    super::fields::set(&mut part, "thought_signature", signature.map(Value::from));
    part
}

fn parse_args(json: &str) -> Option<Map<String, Value>> {
    if json.trim().is_empty() {
        return Some(Map::new());
    }
    serde_json::from_str(json).ok()
}
