//! The keys of agent.yaml.

use std::path::Path;

use hotseat_core::AgentName;
use serde_json::Value;

use super::fields::{Fields, text, wrong};
use super::model;
use super::problem::Problem;
use super::text_file::{read as read_text, without_front_matter};
use super::tools;
use super::yaml::{Data, Node};
use super::{AgentFile, AgentLimits, Surroundings};

/// The keys at the top.
pub(super) const KEYS: [&str; 12] = [
    "name",
    "description",
    "author",
    "model",
    "instructions",
    "response_format",
    "input_schema",
    "output_key",
    "tools",
    "limits",
    "seat",
    "eval_set_path",
];
/// The keys of `instructions`.
pub(super) const INSTRUCTION_KEYS: [&str; 2] = ["inline", "file"];
/// The keys of `limits`.
pub(super) const LIMIT_KEYS: [&str; 4] =
    ["max_steps", "tool_timeout", "tool_output_bytes", "parallel_calls"];

/// Most model requests that a file may allow in one run.
const MAX_STEPS: u32 = 1_000;
/// Largest result of a tool that a file may allow, in bytes.
const MAX_TOOL_OUTPUT: u32 = 64 << 20;
/// Most tools that a file may let run at the same time.
const MAX_PARALLEL: u32 = 256;

/// Reads agent.yaml.
pub(super) fn read(root: Node, around: &Surroundings<'_>) -> Result<AgentFile, Problem> {
    let mut fields = Fields::of(root, "an agent file", &KEYS)?;
    Ok(AgentFile {
        path: around.folder.to_owned(),
        name: name(&mut fields)?,
        description: fields.text("description")?.unwrap_or_default(),
        author: fields.text("author")?,
        model: fields.take("model").map(|node| model::read(node, around)).transpose()?,
        instruction: instructions(&mut fields, around)?,
        output_schema: schema(&mut fields, "response_format", around)?,
        input_schema: schema(&mut fields, "input_schema", around)?,
        output_key: fields.text("output_key")?,
        tools: tools::read(fields.take("tools"), around)?,
        limits: limits(&mut fields)?,
        seat: seat(&mut fields)?,
        eval_set_path: fields.text("eval_set_path")?.map(|path| around.folder.join(path)),
    })
}

/// The agent's name.
pub(super) fn name(fields: &mut Fields) -> Result<String, Problem> {
    let place = fields.place("name");
    let name = fields.required_text("name")?;
    let name = AgentName::parse(&name).map_err(|error| Problem::at(place, error.to_string()))?;
    Ok(name.as_str().to_owned())
}

fn instructions(fields: &mut Fields, around: &Surroundings<'_>) -> Result<String, Problem> {
    let place = fields.place("instructions");
    let Some(node) = fields.take("instructions") else {
        return Err(Problem::at(place, "`instructions` is missing")
            .hint("add `instructions: {inline: …}` or `instructions: {file: …}`"));
    };
    if matches!(node.data, Data::Text(_)) {
        return text(node, "instructions");
    }
    let mut source = Fields::of(node, "`instructions`", &INSTRUCTION_KEYS)?;
    source.exactly_one(&INSTRUCTION_KEYS)?;
    let place = source.place("file");
    match (source.text("inline")?, source.text("file")?) {
        (Some(text), _) => Ok(text),
        (None, Some(file)) => {
            let text = read_text(&around.folder.join(&file))
                .map_err(|error| Problem::at(place, format!("the file `{file}` {error}")))?;
            Ok(without_front_matter(&text).to_owned())
        }
        (None, None) => Err(Problem::at(place, "`instructions` says nothing")),
    }
}

/// A JSON Schema, inline or in a file of JSON or YAML.
pub(super) fn schema(
    fields: &mut Fields,
    key: &str,
    around: &Surroundings<'_>,
) -> Result<Option<Value>, Problem> {
    let Some(node) = fields.take(key) else { return Ok(None) };
    let at = node.at;
    let schema = match &node.data {
        Data::Map(_) => node.to_json(),
        Data::Text(file) => schema_file(&around.folder.join(file))
            .map_err(|error| Problem::at(at, format!("the schema file `{file}` {error}")))?,
        _ => return Err(wrong(&node, key, "a JSON Schema or the path of one")),
    };
    usable_schema(schema)
        .map(Some)
        .map_err(|error| Problem::at(at, format!("`{key}` is no JSON Schema: {error}")))
}

/// The schema, if it can be used to check anything.
pub(super) fn usable_schema(schema: Value) -> Result<Value, String> {
    match hotseat_core::violations(&schema, &Value::Null) {
        Ok(_) => Ok(schema),
        Err(error) => {
            let cause = std::error::Error::source(&error).map(ToString::to_string);
            Err(cause.unwrap_or_else(|| error.to_string()))
        }
    }
}

fn schema_file(path: &Path) -> Result<Value, String> {
    let text = read_text(path)?;
    // JSON is YAML too, but only the JSON reader keeps large numbers.
    if path.extension().is_some_and(|extension| extension == "json") {
        return serde_json::from_str(&text).map_err(|error| format!("is not JSON: {error}"));
    }
    Node::parse(&text)
        .map(|node| node.to_json())
        .map_err(|error| format!("is not YAML: {}", error.reason))
}

fn limits(fields: &mut Fields) -> Result<AgentLimits, Problem> {
    let usual = AgentLimits::default();
    let Some(node) = fields.take("limits") else { return Ok(usual) };
    let mut fields = Fields::of(node, "`limits`", &LIMIT_KEYS)?;
    let whole = |number: Option<u32>, usual: usize| number.map_or(usual, |n| n as usize);
    Ok(AgentLimits {
        max_steps: fields.count("max_steps", 1, MAX_STEPS)?.unwrap_or(usual.max_steps),
        tool_timeout: fields.duration("tool_timeout")?.unwrap_or(usual.tool_timeout),
        tool_output_bytes: whole(
            fields.count("tool_output_bytes", 1, MAX_TOOL_OUTPUT)?,
            usual.tool_output_bytes,
        ),
        parallel_calls: whole(
            fields.count("parallel_calls", 1, MAX_PARALLEL)?,
            usual.parallel_calls,
        ),
    })
}

fn seat(fields: &mut Fields) -> Result<Option<String>, Problem> {
    let place = fields.place("seat");
    let Some(seat) = fields.text("seat")? else { return Ok(None) };
    let known = matches!(seat.as_str(), "human" | "model")
        || seat.strip_prefix("replay:").is_some_and(|file| !file.is_empty());
    if known {
        return Ok(Some(seat));
    }
    Err(Problem::at(place, format!("`{seat}` is no seat"))
        .hint("write `human`, `model` or `replay:FILE`"))
}
