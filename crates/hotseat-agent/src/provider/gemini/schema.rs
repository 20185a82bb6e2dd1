//! JSON Schema as far as Gemini reads it.
//!
//! Gemini refuses a request for one keyword that it does not know, so what it
//! does not know is left out. That makes a schema wider, never narrower: the
//! arguments are checked against the whole one when the tool is called.

use serde_json::{Map, Value, json};

/// Keywords whose value is not a schema.
const PLAIN: [&str; 13] = [
    "$ref",
    "$id",
    "$anchor",
    "type",
    "format",
    "title",
    "description",
    "enum",
    "required",
    "minItems",
    "maxItems",
    "minimum",
    "maximum",
];
/// Formats that Gemini knows; others are an error for it.
const FORMATS: [&str; 10] =
    ["date-time", "date", "time", "duration", "enum", "int32", "int64", "float", "double", "uuid"];
/// Deepest nesting that is looked into. Deeper ones are left open.
const MAX_DEPTH: usize = 64;

/// The schema without what Gemini does not read.
pub(super) fn sanitise(schema: &Value) -> Value {
    clean(schema, 0)
}

fn clean(schema: &Value, depth: usize) -> Value {
    let Value::Object(schema) = schema else { return json!({}) };
    if depth >= MAX_DEPTH {
        return json!({});
    }
    let inner = |schema: &Value| clean(schema, depth + 1);
    let mut cleaned = Map::new();
    for (keyword, value) in schema {
        let (keyword, value) = match (keyword.as_str(), value) {
            ("format", Value::String(format)) if !FORMATS.contains(&format.as_str()) => continue,
            ("const", value) => ("enum", json!([value])),
            ("exclusiveMinimum", value) if value.is_number() => ("minimum", value.clone()),
            ("exclusiveMaximum", value) if value.is_number() => ("maximum", value.clone()),
            ("properties" | "$defs" | "definitions", Value::Object(named)) => {
                let named = named.iter().map(|(name, schema)| (name.clone(), inner(schema)));
                (keyword.as_str(), Value::Object(named.collect()))
            }
            ("anyOf" | "oneOf" | "prefixItems", Value::Array(schemas)) => {
                (keyword.as_str(), schemas.iter().map(inner).collect())
            }
            // The only description of an object with any keys. `true` and `false` tell
            // the model nothing.
            ("items" | "additionalProperties", Value::Object(_)) => {
                (keyword.as_str(), inner(value))
            }
            (keyword, value) if PLAIN.contains(&keyword) => (keyword, value.clone()),
            _ => continue,
        };
        cleaned.entry(keyword.to_owned()).or_insert(value);
    }
    // Branches that must all hold can be merged where they say different things.
    for branch in schema.get("allOf").and_then(Value::as_array).into_iter().flatten() {
        if let Value::Object(branch) = inner(branch) {
            for (keyword, value) in branch {
                cleaned.entry(keyword).or_insert(value);
            }
        }
    }
    Value::Object(cleaned)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_gemini_does_not_read_is_left_out_at_every_level() {
        let schema = json!({
            "$schema": "https://json-schema.org/draft/2020-12/schema",
            "type": "object",
            "additionalProperties": false,
            "properties": {
                "additionalProperties": {"type": "string", "pattern": "^a", "default": "a"},
                "when": {"type": "string", "format": "date-time"},
                "mail": {"type": "string", "format": "email"},
                "kind": {"const": "x"},
                "tags": {"type": "array", "items": {"type": "string", "minLength": 1}, "uniqueItems": true},
                "map": {"type": "object", "additionalProperties": {"type": "integer", "exclusiveMinimum": 0}},
                "node": {"$ref": "#/$defs/node"},
                "both": {"allOf": [{"type": "object"}, {"description": "d", "not": {}}]},
            },
            "required": ["kind"],
            "$defs": {"node": {"type": "object", "patternProperties": {}, "title": "Node"}},
        });
        assert_eq!(
            sanitise(&schema),
            json!({
                "type": "object",
                "properties": {
                    "additionalProperties": {"type": "string"},
                    "when": {"type": "string", "format": "date-time"},
                    "mail": {"type": "string"},
                    "kind": {"enum": ["x"]},
                    "tags": {"type": "array", "items": {"type": "string"}},
                    "map": {"type": "object", "additionalProperties": {"type": "integer", "minimum": 0}},
                    "node": {"$ref": "#/$defs/node"},
                    "both": {"type": "object", "description": "d"},
                },
                "required": ["kind"],
                "$defs": {"node": {"type": "object", "title": "Node"}},
            })
        );
    }

    #[test]
    fn a_schema_without_end_is_left_open() {
        let mut schema = json!({"type": "string"});
        for _ in 0..100 {
            schema = json!({"type": "array", "items": schema});
        }
        assert!(!sanitise(&schema).to_string().contains("string"));
    }
}
