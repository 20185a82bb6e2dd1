//! Whether a final answer is what the agent promises.

use hotseat_core::violations;
use serde_json::{Value, json};

use crate::file::AgentFile;
use crate::host::RunError;
use crate::model::SeatAnswer;

/// Most violations in one message.
const MAX_TOLD: usize = 5;

/// Checks the final answer and gives the change of the session's state that it
/// makes, if the file names a key for it.
pub(super) fn check(file: &AgentFile, answer: &SeatAnswer) -> Result<Option<Value>, RunError> {
    if file.output_schema.is_none() && file.output_key.is_none() {
        return Ok(None);
    }
    let text = text(answer);
    let output = match &file.output_schema {
        None => Value::String(text),
        Some(schema) => {
            let wrong = |reason| RunError::Output { agent: file.name.clone(), reason };
            let output: Value = serde_json::from_str(&text)
                .map_err(|error| wrong(format!("it is not JSON: {error}")))?;
            let found = violations(schema, &output).map_err(|error| wrong(error.to_string()))?;
            if !found.is_empty() {
                let told = found.iter().take(MAX_TOLD);
                let told: Vec<String> =
                    told.map(|wrong| format!("{} {}", place(&wrong.path), wrong.message)).collect();
                return Err(wrong(told.join("; ")));
            }
            output
        }
    };
    Ok(file.output_key.as_ref().map(|key| json!({key: output})))
}

fn place(pointer: &str) -> &str {
    if pointer.is_empty() { "the whole answer:" } else { pointer }
}

/// What the answer says, thoughts left out.
fn text(answer: &SeatAnswer) -> String {
    let parts = answer.content.get("parts").and_then(Value::as_array);
    parts
        .into_iter()
        .flatten()
        .filter(|part| part.get("thought").and_then(Value::as_bool) != Some(true))
        .filter_map(|part| part.get("text")?.as_str())
        .collect()
}
