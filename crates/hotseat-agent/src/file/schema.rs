//! The JSON Schema of agent.yaml, for editors.
//!
//! It is written by hand next to the reader and not derived from it: editors
//! show its descriptions, and a test holds both to the same keys.

use serde_json::{Value, json};

use crate::spec::ProviderKind;

use super::tools::TRANSPORTS;

/// The schema.
pub(super) fn json_schema() -> Value {
    json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "Hotseat agent",
        "description": "An agent that Hotseat runs without Python. ${NAME} and ${NAME:-default} in texts are variables of the environment.",
        "type": "object",
        "additionalProperties": false,
        "required": ["name", "instructions"],
        "properties": {
            "name": {"type": "string", "minLength": 1, "maxLength": 100, "description": "What the agent is called."},
            "description": {"type": "string", "description": "What it is for."},
            "author": {"type": "string", "description": "Who wrote it."},
            "model": {"$ref": "#/$defs/model"},
            "instructions": instructions(),
            "response_format": {"$ref": "#/$defs/schema", "description": "What the final answer must satisfy: a JSON Schema, or the path of one."},
            "input_schema": {"$ref": "#/$defs/schema", "description": "What a structured query must satisfy: a JSON Schema, or the path of one."},
            "output_key": {"type": "string", "description": "The key of the session's state that the final answer is kept under."},
            "tools": {"type": "array", "maxItems": 50, "items": {"oneOf": [{"$ref": "#/$defs/mcp"}, {"$ref": "#/$defs/prompt"}, {"$ref": "#/$defs/function"}]}, "description": "What the agent can do."},
            "limits": limits(),
            "seat": {"type": "string", "pattern": "^(human|model|replay:.+)$", "description": "Who answers for the model: human, model or replay:FILE."},
            "eval_set_path": {"type": "string", "description": "The EvalSet file that golden traces are written to."},
        },
        "$defs": {
            "schema": {"type": ["object", "string", "null"]},
            "text_map": {"type": "object", "additionalProperties": {"type": ["string", "number", "boolean"]}},
            "duration": {"type": ["number", "string"], "description": "Seconds, or a text such as 500ms, 30s or 5m."},
            "parameters": {"type": "object", "description": "A JSON Schema for each parameter by name, or one of an object."},
            "model": model(),
            "mcp": mcp(),
            "prompt": prompt(),
            "function": function(),
        },
    })
}

fn instructions() -> Value {
    json!({
        "description": "What the agent is told. {key} stands for a value of the session's state, {key?} for one that may be missing.",
        "oneOf": [
            {"type": "string"},
            {"type": "object", "additionalProperties": false, "required": ["inline"], "properties": {
                "inline": {"type": "string", "description": "The text itself."},
            }},
            {"type": "object", "additionalProperties": false, "required": ["file"], "properties": {
                "file": {"type": "string", "description": "A text file, relative to this one. Front matter is left out."},
            }},
        ],
    })
}

fn limits() -> Value {
    json!({
        "description": "What a run may use.",
        "type": "object",
        "additionalProperties": false,
        "properties": {
            "max_steps": {"type": ["integer", "string"], "description": "Most model requests in one run; 25."},
            "tool_timeout": {"$ref": "#/$defs/duration", "description": "How long one call of a tool may take; 2m."},
            "tool_output_bytes": {"type": ["integer", "string"], "description": "Largest result of a tool, in bytes; 1 MiB."},
            "parallel_calls": {"type": ["integer", "string"], "description": "Most tools that run at the same time in one run; 8."},
        },
    })
}

fn model() -> Value {
    let providers: Vec<&str> = ProviderKind::NAMES.iter().map(|(name, _)| *name).collect();
    json!({
        "description": "The model in the agent's seat.",
        "type": "object",
        "additionalProperties": false,
        "required": ["provider", "name"],
        "properties": {
            "provider": {"enum": providers, "description": "Whose wire format it speaks; openai is for every compatible endpoint."},
            "name": {"type": "string", "description": "The model; for Azure the deployment."},
            "endpoint": {"type": "string", "description": "Its address, where it is not the provider's own."},
            "api_key": {"type": "string", "description": "The key, usually ${NAME}."},
            "api_version": {"type": ["string", "number"], "description": "The version of Azure's API."},
            "temperature": {"type": ["number", "string"], "description": "How freely it chooses its words, from 0 to 2."},
            "max_tokens": {"type": ["integer", "string"], "description": "Most tokens of an answer."},
            "top_p": {"type": ["number", "string"], "description": "The share of likely words that it chooses among, from 0 to 1."},
            "timeout": {"$ref": "#/$defs/duration", "description": "How long a whole answer may take; 5m."},
            "idle_timeout": {"$ref": "#/$defs/duration", "description": "How long the provider may be silent within an answer; 1m."},
            "retries": {"type": ["integer", "string"], "description": "How often a request that failed for a passing reason is repeated; 3."},
            "headers": {"$ref": "#/$defs/text_map", "description": "Headers to send besides."},
            "images": {"type": ["boolean", "string"], "description": "Whether it can see images; true. One that cannot is only told the text in them."},
        },
    })
}

fn mcp() -> Value {
    json!({
        "description": "The tools of an MCP server.",
        "type": "object",
        "additionalProperties": false,
        "required": ["type", "name"],
        "oneOf": [{"required": ["command"]}, {"required": ["url"]}],
        "properties": {
            "type": {"const": "mcp"},
            "name": {"type": "string", "description": "What the server is called in messages."},
            "description": {"type": "string"},
            "transport": {"enum": TRANSPORTS},
            "command": {"type": "string", "description": "The program to start; it talks over standard input and output."},
            "args": {"type": "array", "items": {"type": ["string", "number", "boolean"]}},
            "env": {"$ref": "#/$defs/text_map", "description": "Variables that it gets. Of Hotseat's own it gets only PATH, HOME and the like."},
            "cwd": {"type": "string", "description": "Where it runs; the folder of this file."},
            "url": {"type": "string", "description": "The address of a server over streamable HTTP."},
            "headers": {"$ref": "#/$defs/text_map", "description": "Headers of every request."},
            "load_tools": {"type": ["array", "boolean"], "items": {"type": "string"}, "description": "The tools to offer; all, if missing."},
            "prefix": {"type": "string", "description": "Put before the names of its tools."},
            "request_timeout": {"$ref": "#/$defs/duration", "description": "How long one call may take; 1m."},
            "connect_timeout": {"$ref": "#/$defs/duration", "description": "How long the server may take to start; 30s."},
        },
    })
}

fn prompt() -> Value {
    json!({
        "description": "A template that a model answers.",
        "type": "object",
        "additionalProperties": false,
        "required": ["type", "name", "description"],
        "oneOf": [{"required": ["template"]}, {"required": ["file"]}],
        "properties": {
            "type": {"const": "prompt"},
            "name": {"$ref": "#/$defs/function/properties/name"},
            "description": {"type": "string", "description": "What the model is told about it."},
            "template": {"type": "string", "description": "The text, with {{parameter}} in it."},
            "file": {"type": "string", "description": "A file with the text, relative to this one."},
            "parameters": {"$ref": "#/$defs/parameters"},
            "model": {"$ref": "#/$defs/model"},
        },
    })
}

fn function() -> Value {
    json!({
        "description": "A Python function, run by the worker.",
        "type": "object",
        "additionalProperties": false,
        "required": ["type", "name", "file"],
        "properties": {
            "type": {"const": "function"},
            "name": {"type": "string", "pattern": "^[A-Za-z0-9_-]{1,64}$", "description": "The tool's name."},
            "description": {"type": "string", "description": "What the model is told about it; the function's own text, if missing."},
            "file": {"type": "string", "description": "The Python file, relative to this one."},
            "function": {"type": "string", "description": "The function in it; the tool's name, if missing."},
            "parameters": {"$ref": "#/$defs/parameters"},
        },
    })
}

#[cfg(test)]
mod tests {
    use super::super::{model, native, tools};
    use super::*;

    #[test]
    fn the_schema_has_the_keys_that_are_read() {
        let schema = json_schema();
        for (pointer, keys) in [
            ("/properties", &native::KEYS[..]),
            ("/properties/limits/properties", &native::LIMIT_KEYS[..]),
            ("/$defs/model/properties", &model::KEYS[..]),
            ("/$defs/mcp/properties", &tools::MCP_KEYS[..]),
            ("/$defs/prompt/properties", &tools::PROMPT_KEYS[..]),
            ("/$defs/function/properties", &tools::FUNCTION_KEYS[..]),
        ] {
            let described = schema.pointer(pointer).unwrap().as_object().unwrap();
            assert_eq!(described.keys().collect::<Vec<_>>(), keys, "{pointer}");
        }
    }
}
