//! The schemas of tools, all as JSON Schema.
//!
//! Newer ADK versions and MCP declare parameters as JSON Schema, which is kept
//! as it is, with `$defs`, references and recursion. Older ones use genai's own
//! `Schema` with upper-case types, which is converted. The other direction
//! would lose recursion, tuples and open objects, so everything downstream
//! (forms, validation) speaks JSON Schema 2020-12 only.

mod genai;

use serde_json::{Map, Value, json};

use crate::alias;

/// Why a schema cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum SchemaError {
    /// The declaration or a schema in it has the wrong JSON type.
    #[error("a schema must be an object, not {found}")]
    NotASchema {
        /// What is there instead.
        found: &'static str,
    },
    /// Arguments are always an object, so no call could satisfy this schema.
    #[error("parameters must be of type object, not {found}")]
    NotForArguments {
        /// The type that is declared.
        found: String,
    },
    /// A genai constraint that should be a number is not.
    #[error("{keyword} must be a number, not {found}")]
    NotANumber {
        /// Its JSON Schema name.
        keyword: String,
        /// What is there instead.
        found: String,
    },
    /// It is not valid JSON Schema, or refers to something outside of itself.
    #[error("the schema is not valid JSON Schema")]
    Invalid(#[source] Box<jsonschema::ValidationError<'static>>),
}

/// The parameters of a function declaration as a JSON Schema for an object.
///
/// Takes `parameters_json_schema` (ADK), `input_schema` (MCP) or `parameters`
/// (genai or JSON Schema), in that order. A declaration without any of them has
/// no parameters.
pub fn normalise(declaration: &Value) -> Result<Value, SchemaError> {
    let Value::Object(declaration) = declaration else {
        return Err(SchemaError::NotASchema { found: json_type(declaration) });
    };
    let schema = ["parameters_json_schema", "input_schema", "parameters"]
        .into_iter()
        .find_map(|name| alias::get(declaration, name));
    match schema {
        Some(schema) => for_arguments(normalise_schema(schema)?),
        None => Ok(json!({"type": "object", "properties": {}})),
    }
}

/// A single schema as JSON Schema: converted if it is genai's, else as it is.
pub fn normalise_schema(schema: &Value) -> Result<Value, SchemaError> {
    match schema {
        Value::Object(object) if genai::is_genai(object) => genai::convert(object),
        Value::Object(_) | Value::Bool(_) => Ok(schema.clone()),
        _ => Err(SchemaError::NotASchema { found: json_type(schema) }),
    }
}

/// Says that the schema is one for objects, where it does not say so itself.
fn for_arguments(schema: Value) -> Result<Value, SchemaError> {
    let mut schema = match schema {
        Value::Object(schema) => schema,
        // `true` allows everything; `false` allows no call at all.
        Value::Bool(true) => Map::new(),
        other => return Err(SchemaError::NotForArguments { found: other.to_string() }),
    };
    let object_allowed = match schema.get("type") {
        Some(Value::String(name)) => name == "object",
        Some(Value::Array(names)) => names.iter().any(|name| name == "object"),
        Some(_) => false,
        None => {
            let composed = ["$ref", "allOf", "anyOf", "oneOf"];
            if !composed.into_iter().any(|keyword| schema.contains_key(keyword)) {
                schema.insert("type".to_owned(), Value::from("object"));
            }
            true
        }
    };
    if object_allowed {
        return Ok(Value::Object(schema));
    }
    let found = schema.get("type").map(ToString::to_string).unwrap_or_default();
    Err(SchemaError::NotForArguments { found })
}

/// The JSON type of a value, with its article.
pub(crate) fn json_type(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "a boolean",
        Value::Number(_) => "a number",
        Value::String(_) => "a string",
        Value::Array(_) => "an array",
        Value::Object(_) => "an object",
    }
}
