//! Tokens, summed for each model.

use serde_json::Value;

use crate::adk::{self, Adk};
use crate::outcome::{MAX_SAFE_INTEGER, Usage};

/// How many models are counted one by one. What more there are share an entry.
const MAX_MODELS: usize = 64;

/// The tokens of a run.
#[derive(Debug, Default)]
pub(super) struct Usages(Vec<Usage>);

impl Usages {
    pub(super) fn add(&mut self, adk: Adk<'_>) {
        let Some(counts) = adk.object("usage_metadata") else { return };
        let count = |name| adk::get(counts, name).and_then(Value::as_u64);
        let sum = |one: Option<u64>, other: Option<u64>| match (one, other) {
            (None, None) => None,
            (one, other) => Some(plus(one.unwrap_or_default(), other.unwrap_or_default())),
        };
        let thoughts = count("thoughts_token_count");
        let input = sum(count("prompt_token_count"), count("tool_use_prompt_token_count"));
        let output = sum(count("candidates_token_count"), thoughts);
        let cached = count("cached_content_token_count");
        if input.is_none() && output.is_none() {
            return;
        }
        let entry = self.entry(adk.text("model_version"));
        for (total, more) in [
            (&mut entry.input_tokens, input),
            (&mut entry.output_tokens, output),
            (&mut entry.total_tokens, sum(input, output)),
            (&mut entry.reasoning_tokens, thoughts),
            (&mut entry.cached_input_tokens, cached),
        ] {
            *total = sum(*total, more);
        }
    }

    pub(super) fn list(&self) -> Vec<Usage> {
        self.0.clone()
    }

    fn entry(&mut self, model: Option<&str>) -> &mut Usage {
        let known = self.place(model);
        let model = model.filter(|_| known.is_some() || self.0.len() < MAX_MODELS);
        let place = self.place(model).unwrap_or_else(|| {
            self.0.push(Usage { model: model.map(str::to_owned), ..Usage::default() });
            self.0.len() - 1
        });
        &mut self.0[place]
    }

    fn place(&self, model: Option<&str>) -> Option<usize> {
        self.0.iter().position(|entry| entry.model.as_deref() == model)
    }
}

fn plus(one: u64, other: u64) -> u64 {
    one.saturating_add(other).min(MAX_SAFE_INTEGER)
}
