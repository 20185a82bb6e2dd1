use hotseat_core::{Violation, normalise, normalise_schema, violations};
use insta::assert_snapshot;
use proptest::prelude::*;
use serde_json::{Value, json};

use crate::log::pretty;

fn wrong(schema: &Value, instance: &Value) -> Vec<String> {
    let line = |Violation { path, message }| format!("{path}: {message}");
    violations(schema, instance).unwrap().into_iter().map(line).collect()
}

#[test]
fn json_schema_is_kept_as_it_is() {
    let schema = json!({
        "$defs": {"Person": {"type": "object", "properties": {
            "parent": {"anyOf": [{"$ref": "#/$defs/Person"}, {"type": "null"}], "default": null},
            "point": {"type": "array", "prefixItems": [{"type": "number"}, {"type": "number"}]},
        }}},
        "properties": {"person": {"$ref": "#/$defs/Person"}, "big": {"maximum": 1}},
        "required": ["person"],
        "title": "greetParams",
        "type": "object",
    });
    for key in ["parametersJsonSchema", "parameters_json_schema", "inputSchema", "parameters"] {
        assert_eq!(normalise(&json!({"name": "greet", key: schema})).unwrap(), schema);
    }
}

/// FR-003
#[test]
#[expect(clippy::too_many_lines, reason = "most of them are the snapshot")]
fn genai_schema_becomes_json_schema() {
    let declaration = json!({"name": "search", "parameters": {
        "type": "OBJECT",
        "property_ordering": ["query", "limit"],
        "properties": {
            "limit": {"type": "INTEGER", "format": "int32", "minimum": "1", "nullable": true},
            "query": {"type": "STRING", "minLength": "1", "maxLength": 20, "title": null, "example": "cats"},
            "sort": {"type": "STRING", "format": "enum", "enum": ["up", "down"], "nullable": true},
            "page": {"type": "INTEGER", "enum": ["10", "20"]},
            "filters": {"type": "ARRAY", "items": {"anyOf": [{"type": "STRING"}, {"type": "NUMBER"}]}, "min_items": "2"},
            "either": {"any_of": [{"type": "STRING"}, {"type": "OBJECT"}], "nullable": true},
            "pet": {"ref": "#/defs/Pet", "nullable": true},
            "anything": {"type": "TYPE_UNSPECIFIED"},
        },
        "defs": {"Pet": {"type": "OBJECT", "additional_properties": {"type": "BOOLEAN"}}},
        "required": ["query"],
    }});
    assert_snapshot!(pretty(&normalise(&declaration).unwrap()), @r##"
    {
      "type": "object",
      "properties": {
        "query": {
          "type": "string",
          "minLength": 1,
          "maxLength": 20,
          "examples": [
            "cats"
          ]
        },
        "limit": {
          "type": [
            "integer",
            "null"
          ],
          "format": "int32",
          "minimum": 1
        },
        "sort": {
          "type": [
            "string",
            "null"
          ],
          "enum": [
            "up",
            "down",
            null
          ]
        },
        "page": {
          "type": "integer",
          "enum": [
            10,
            20
          ]
        },
        "filters": {
          "type": "array",
          "items": {
            "anyOf": [
              {
                "type": "string"
              },
              {
                "type": "number"
              }
            ]
          },
          "minItems": 2
        },
        "either": {
          "anyOf": [
            {
              "type": "string"
            },
            {
              "type": "object"
            },
            {
              "type": "null"
            }
          ]
        },
        "pet": {
          "anyOf": [
            {
              "$ref": "#/$defs/Pet"
            },
            {
              "type": "null"
            }
          ]
        },
        "anything": {}
      },
      "$defs": {
        "Pet": {
          "type": "object",
          "additionalProperties": {
            "type": "boolean"
          }
        }
      },
      "required": [
        "query"
      ]
    }
    "##);
}

#[test]
fn a_tool_without_parameters_takes_an_empty_object() {
    for declaration in [json!({"name": "now"}), json!({"name": "now", "parameters": null})] {
        assert_eq!(normalise(&declaration).unwrap(), json!({"type": "object", "properties": {}}));
    }
    let open = normalise(&json!({"parametersJsonSchema": {"properties": {}}})).unwrap();
    assert_eq!(open["type"], "object");
}

#[test]
fn what_cannot_be_parameters_is_refused() {
    for (declaration, message) in [
        (json!("add"), "a schema must be an object, not a string"),
        (json!({"parameters": [1]}), "a schema must be an object, not an array"),
        (
            json!({"parameters": {"type": "STRING"}}),
            "parameters must be of type object, not \"string\"",
        ),
        (json!({"inputSchema": false}), "parameters must be of type object, not false"),
        (
            json!({"parameters": {"type": "OBJECT", "properties": {"a": {"minLength": "one"}}}}),
            "minLength must be a number, not \"one\"",
        ),
    ] {
        assert_eq!(normalise(&declaration).unwrap_err().to_string(), message);
    }
}

#[test]
fn violations_point_to_the_field_and_say_what_is_wrong() {
    let schema = json!({
        "type": "object",
        "properties": {
            "limit": {"type": "integer", "minimum": 1},
            "mode": {"enum": ["json", "xml"]},
            "when": {"type": "string", "format": "date-time"},
            "who": {"anyOf": [{"type": "object", "required": ["a/b"], "properties": {"age": {"type": "integer"}}}, {"type": "null"}]},
            "size": {"anyOf": [{"type": "integer"}, {"type": "boolean"}]},
            "text": {"type": "string", "maxLength": 3},
        },
        "required": ["query"],
        "additionalProperties": false,
    });
    let instance = json!({
        "limit": 0, "mode": "yaml", "when": "soon", "who": {"age": "x"}, "size": "XL",
        "text": "é".repeat(500), "extra": 1,
    });
    assert_snapshot!(pretty(&wrong(&schema, &instance)), @r#"
    [
      "/limit: 0 is less than the minimum of 1",
      "/mode: \"yaml\" is not one of \"json\" or \"xml\"",
      "/when: \"soon\" is not a \"date-time\"",
      "/who/a~1b: is required",
      "/who/age: \"x\" is not of type integer",
      "/size: \"XL\" is not of type integer or boolean",
      "/text: \"ééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééé…\" is longer than 3 characters",
      "/extra: is not a known field",
      "/query: is required"
    ]
    "#);
}

#[test]
fn an_integer_is_written_without_fraction() {
    let schema = json!({"type": "integer"});
    for (instance, valid) in
        [("5", true), ("-0", true), ("5.0", false), ("1e3", false), ("5.5", false)]
    {
        let instance: Value = serde_json::from_str(instance).unwrap();
        assert_eq!(wrong(&schema, &instance).is_empty(), valid, "{instance}");
    }
    assert!(wrong(&json!({"type": "number"}), &json!(5.0)).is_empty());
}

#[test]
fn big_integers_are_compared_exactly() {
    let instance: Value = serde_json::from_str("1180591620717411303425").unwrap();
    let limit: Value =
        serde_json::from_str(r#"{"type": "integer", "maximum": 1180591620717411303424}"#).unwrap();
    assert_eq!(
        wrong(&limit, &instance),
        [": 1180591620717411303425 is greater than the maximum of 1180591620717411303424"]
    );
}

#[test]
fn formats_are_as_wide_as_pythons() {
    for (format, good, bad) in [
        (
            "date-time",
            vec!["2025-01-05T10:00:00", "2025-01-05T10:00:00.5+01:00", "2025-01-05 10:00:00Z"],
            "5 Jan",
        ),
        ("time", vec!["10:00", "10:00:00Z", "10:00:00+01:00"], "noon"),
        ("date", vec!["2025-01-05"], "2025-13-05"),
        ("uuid", vec!["7d0f6a5232f14b3e9e0d1f4f9f6b2a11"], "7d0f"),
        ("email", vec!["a@example.com"], "example.com"),
    ] {
        let schema = json!({"type": "string", "format": format});
        for text in good {
            assert_eq!(wrong(&schema, &json!(text)), [""; 0], "{format}");
        }
        assert!(!wrong(&schema, &json!(bad)).is_empty(), "{format}");
    }
    assert!(wrong(&json!({"format": "int64", "type": "integer"}), &json!(1)).is_empty());
}

#[test]
fn recursive_schemas_are_followed_and_endless_ones_end() {
    let tree = json!({
        "$defs": {"Node": {"type": "object", "properties": {"next": {"$ref": "#/$defs/Node"}, "n": {"type": "integer"}}}},
        "$ref": "#/$defs/Node",
    });
    assert_eq!(
        wrong(&tree, &json!({"next": {"next": {"n": "x"}}})),
        ["/next/next/n: \"x\" is not of type integer"]
    );
    let endless = json!({"anyOf": [{"$ref": "#"}], "$defs": {"a": {"$ref": "#/$defs/b"}, "b": {"$ref": "#/$defs/a"}}});
    assert!(violations(&endless, &json!(1)).is_ok());
}

#[test]
fn other_dialects_and_outside_references() {
    let tuple = json!({"$schema": "http://json-schema.org/draft-07/schema#", "items": [{"type": "integer"}]});
    assert_eq!(wrong(&tuple, &json!(["x"])).len(), 1);
    let unknown = json!({"$schema": "https://example.com/own", "type": "integer"});
    assert_eq!(wrong(&unknown, &json!("x")).len(), 1);
    let outside = json!({"$ref": "https://example.com/schema.json"});
    let error = violations(&outside, &json!(1)).unwrap_err();
    assert_eq!(error.to_string(), "the schema is not valid JSON Schema");
}

/// Any JSON value, with the words of schemas as keys more often than others.
fn any_json() -> impl Strategy<Value = Value> {
    let key = prop_oneof![
        Just("type".to_owned()),
        Just("properties".to_owned()),
        Just("items".to_owned()),
        Just("anyOf".to_owned()),
        Just("nullable".to_owned()),
        Just("enum".to_owned()),
        Just("minLength".to_owned()),
        Just("$ref".to_owned()),
        "[a-z]{1,5}",
    ];
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        Just(json!("OBJECT")),
        Just(json!("string")),
        Just(json!("#")),
        ".{0,8}".prop_map(Value::from),
    ];
    leaf.prop_recursive(4, 32, 6, move |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::vec((key.clone(), inner), 0..5)
                .prop_map(|fields| Value::Object(fields.into_iter().collect())),
        ]
    })
}

proptest! {
    #[test]
    fn no_schema_and_no_value_panics(schema in any_json(), instance in any_json()) {
        let _ = normalise(&schema);
        let _ = violations(&schema, &instance);
        if let Ok(once) = normalise_schema(&schema) {
            prop_assert_eq!(normalise_schema(&once).ok(), Some(once));
        }
    }
}
