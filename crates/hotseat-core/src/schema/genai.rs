//! genai's `Schema` into JSON Schema.
//!
//! genai's form is OpenAPI 3.0 with upper-case types; numbers may be written as
//! text (`minLength: "1"`), because they are 64-bit in its wire format.

use serde_json::{Map, Number, Value, json};

use super::{SchemaError, json_type};
use crate::alias;

type Object = Map<String, Value>;

/// The constraints that are numbers, in genai's and JSON Schema's spelling.
const NUMBERS: [(&str, &str); 8] = [
    ("min_length", "minLength"),
    ("max_length", "maxLength"),
    ("min_items", "minItems"),
    ("max_items", "maxItems"),
    ("min_properties", "minProperties"),
    ("max_properties", "maxProperties"),
    ("minimum", "minimum"),
    ("maximum", "maximum"),
];

/// Whether this is genai's form, told by a type in capitals or by something
/// that JSON Schema does not have, here or in a schema inside.
pub(super) fn is_genai(schema: &Object) -> bool {
    let own = schema.iter().any(|(key, value)| match key.as_str() {
        "type" => value.as_str().is_some_and(|name| name.contains(char::is_uppercase)),
        "nullable" => value.is_boolean(),
        "any_of" | "property_ordering" | "additional_properties" => true,
        key => NUMBERS.iter().any(|(snake, camel)| {
            (key == *snake && key != *camel) || (key == *camel && value.is_string())
        }),
    });
    own || subschemas(schema).any(is_genai)
}

fn subschemas(schema: &Object) -> impl Iterator<Item = &Object> {
    let maps = ["properties", "$defs", "defs", "definitions"];
    let lists = ["anyOf", "any_of", "oneOf", "allOf"];
    let singles = ["items", "additionalProperties", "additional_properties"];
    let in_maps = maps.into_iter().filter_map(|key| schema.get(key)?.as_object());
    let in_lists = lists.into_iter().filter_map(|key| schema.get(key)?.as_array());
    in_maps
        .flat_map(Map::values)
        .chain(in_lists.flatten())
        .chain(singles.into_iter().filter_map(|key| schema.get(key)))
        .filter_map(Value::as_object)
}

/// Converts a schema and everything in it. Keywords that genai does not know
/// are taken over as they are.
pub(super) fn convert(schema: &Object) -> Result<Value, SchemaError> {
    let mut converted = Object::new();
    for (key, value) in schema {
        if let Some((keyword, value)) = keyword(key, value)? {
            converted.insert(keyword, value);
        }
    }
    type_enum_values(&mut converted);
    if let Some(Value::Array(order)) = alias::get(schema, "property_ordering") {
        order_properties(&mut converted, order);
    }
    if alias::flag(schema, "nullable") {
        return Ok(allow_null(converted));
    }
    Ok(Value::Object(converted))
}

/// One keyword in JSON Schema's terms; none if it says nothing there.
fn keyword(key: &str, value: &Value) -> Result<Option<(String, Value)>, SchemaError> {
    // In a genai dump, null is a field that was not set.
    if value.is_null() && key != "const" {
        return Ok(None);
    }
    let snake = alias::snake_key(key);
    let (keyword, value) = match snake.as_str() {
        "nullable" | "property_ordering" => return Ok(None),
        "format" if value == "enum" => return Ok(None),
        "type" => match types(value) {
            Some(types) => ("type", types),
            None => return Ok(None),
        },
        "items" => ("items", one(value)?),
        "any_of" => ("anyOf", list(value)?),
        "one_of" => ("oneOf", list(value)?),
        "all_of" => ("allOf", list(value)?),
        "properties" => ("properties", map(value)?),
        "additional_properties" => ("additionalProperties", one(value)?),
        "defs" | "$defs" => ("$defs", map(value)?),
        "ref" | "$ref" => ("$ref", reference(value)),
        "example" => ("examples", json!([value])),
        name => match NUMBERS.iter().find(|(snake, _)| *snake == name) {
            Some((_, keyword)) => (*keyword, number(keyword, value)?),
            None => (key, value.clone()),
        },
    };
    Ok(Some((keyword.to_owned(), value)))
}

fn types(value: &Value) -> Option<Value> {
    match value {
        Value::String(name) if name.eq_ignore_ascii_case("type_unspecified") => None,
        Value::String(name) => Some(Value::String(name.to_ascii_lowercase())),
        Value::Array(names) => Some(names.iter().filter_map(types).collect()),
        _ => None,
    }
}

fn one(value: &Value) -> Result<Value, SchemaError> {
    match value {
        Value::Object(schema) => convert(schema),
        Value::Bool(_) => Ok(value.clone()),
        _ => Err(SchemaError::NotASchema { found: json_type(value) }),
    }
}

fn list(value: &Value) -> Result<Value, SchemaError> {
    match value {
        Value::Array(schemas) => schemas.iter().map(one).collect(),
        _ => Err(SchemaError::NotASchema { found: json_type(value) }),
    }
}

fn map(value: &Value) -> Result<Value, SchemaError> {
    match value {
        Value::Object(schemas) => {
            schemas.iter().map(|(name, schema)| Ok((name.clone(), one(schema)?))).collect()
        }
        _ => Err(SchemaError::NotASchema { found: json_type(value) }),
    }
}

fn reference(value: &Value) -> Value {
    let path = value.as_str().and_then(|text| text.strip_prefix("#/defs/"));
    path.map_or_else(|| value.clone(), |path| Value::from(format!("#/$defs/{path}")))
}

fn number(keyword: &str, value: &Value) -> Result<Value, SchemaError> {
    match value {
        Value::Number(_) => Some(value.clone()),
        Value::String(text) => text.trim().parse::<Number>().ok().map(Value::Number),
        _ => None,
    }
    .ok_or_else(|| SchemaError::NotANumber {
        keyword: keyword.to_owned(),
        found: crate::violation::excerpt(value),
    })
}

/// genai lists the values of an enum as text whatever the type.
fn type_enum_values(schema: &mut Object) {
    let numeric = matches!(schema.get("type"), Some(Value::String(name)) if name == "integer" || name == "number");
    if numeric && let Some(Value::Array(values)) = schema.get_mut("enum") {
        for value in values {
            if let Some(number) = value.as_str().and_then(|text| text.trim().parse().ok()) {
                *value = Value::Number(number);
            }
        }
    }
}

fn order_properties(schema: &mut Object, order: &[Value]) {
    let Some(Value::Object(properties)) = schema.get_mut("properties") else { return };
    let mut rest = std::mem::take(properties);
    for name in order.iter().filter_map(Value::as_str) {
        if let Some(property) = rest.shift_remove(name) {
            properties.insert(name.to_owned(), property);
        }
    }
    properties.extend(rest);
}

fn allow_null(mut schema: Object) -> Value {
    if let Some(Value::Array(values)) = schema.get_mut("enum")
        && !values.contains(&Value::Null)
    {
        values.push(Value::Null);
    }
    match schema.get_mut("type") {
        Some(Value::Array(names)) if names.iter().all(|name| name != "null") => {
            names.push(Value::from("null"));
        }
        Some(name @ Value::String(_)) if name != "null" => *name = json!([name.take(), "null"]),
        _ => {}
    }
    if let Some(Value::Array(forms)) = schema.get_mut("anyOf") {
        let null = json!({"type": "null"});
        if !forms.contains(&null) {
            forms.push(null);
        }
    }
    if schema.contains_key("$ref") {
        return json!({"anyOf": [schema, {"type": "null"}]});
    }
    Value::Object(schema)
}
