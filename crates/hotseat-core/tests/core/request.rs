use hotseat_core::{ModelRequest, ToolDeclaration};
use insta::assert_snapshot;
use serde_json::{Value, json};

use crate::log::{pretty, raw, text};

#[test]
#[expect(clippy::too_many_lines, reason = "most of them are the snapshot")]
fn a_request_of_adk_is_read() {
    let payload = json!({
        "request": {
            "model": "gemini-2.5-flash",
            "contents": [
                {"parts": [{"text": "go"}], "role": "user"},
                {"parts": [{"functionCall": {"args": {"petId": 1}, "name": "get_pet"}}], "role": "model"},
                {"parts": [{"functionResponse": {"name": "get_pet", "response": {"petName": "Rex"}}}], "role": "user"},
            ],
            "config": {
                "systemInstruction": "be good",
                "tools": [{"functionDeclarations": [
                    {"description": "Adds.", "name": "add", "parametersJsonSchema": {"type": "object", "properties": {"a": {"type": "integer"}}}},
                    {"name": "old", "parameters": {"type": "OBJECT", "properties": {"q": {"type": "STRING"}}}},
                    {"name": "odd", "parameters": "none"},
                    {"description": "nameless"},
                ]}, {"googleSearch": {}}],
            },
            "live_connect_config": {},
        },
        "tools": {"add": {"kind": "function"}, "broken": {"kind": "mcp", "error": "TypeError: x"}, "google_search": {"kind": "function"}},
        "state": {"user:name": "Ann"},
    });
    let request = ModelRequest::parse(&raw(&payload)).unwrap();
    assert_eq!(request.raw.get(), payload["request"].to_string());
    let mut shown = serde_json::to_value(&request).unwrap();
    shown["raw"] = json!("…");
    assert_snapshot!(pretty(&shown), @r#"
    {
      "contents": [
        {
          "parts": [
            {
              "text": "go"
            }
          ],
          "role": "user"
        },
        {
          "parts": [
            {
              "function_call": {
                "args": {
                  "petId": 1
                },
                "name": "get_pet"
              }
            }
          ],
          "role": "model"
        },
        {
          "parts": [
            {
              "function_response": {
                "name": "get_pet",
                "response": {
                  "petName": "Rex"
                }
              }
            }
          ],
          "role": "user"
        }
      ],
      "system_instruction": "be good",
      "tools": [
        {
          "name": "add",
          "description": "Adds.",
          "parameters": {
            "type": "object",
            "properties": {
              "a": {
                "type": "integer"
              }
            }
          },
          "kind": "function"
        },
        {
          "name": "old",
          "description": "",
          "parameters": {
            "type": "object",
            "properties": {
              "q": {
                "type": "string"
              }
            }
          },
          "kind": null
        },
        {
          "name": "odd",
          "description": "",
          "parameters": {
            "type": "object"
          },
          "kind": null,
          "error": "its parameters cannot be shown: a schema must be an object, not a string"
        },
        {
          "name": "",
          "description": "nameless",
          "parameters": {
            "type": "object",
            "properties": {}
          },
          "kind": null,
          "error": "the declaration has no name"
        },
        {
          "name": "broken",
          "description": "",
          "parameters": {
            "type": "object"
          },
          "kind": "mcp",
          "error": "TypeError: x"
        }
      ],
      "output_schema": null,
      "state": {
        "user:name": "Ann"
      },
      "raw": "…"
    }
    "#);
}

#[test]
fn snake_case_and_empty_contents_are_valid() {
    let request = ModelRequest::parse(&raw(&json!({"request": {
        "contents": [],
        "config": {
            "system_instruction": {"parts": [{"text": "one"}, {"text": "two"}]},
            "tools": [{"function_declarations": [{"name": "now"}]}],
            "response_schema": {"type": "OBJECT", "properties": {"n": {"type": "INTEGER"}}},
        },
    }})))
    .unwrap();

    assert!(request.contents.is_empty());
    assert_eq!(request.system_instruction.as_deref(), Some("one\n\ntwo"));
    assert_eq!(request.tool("now").unwrap().parameters["type"], "object");
    assert_eq!(
        request.output_schema,
        Some(json!({"type": "object", "properties": {"n": {"type": "integer"}}}))
    );
    assert!(ModelRequest::parse(&raw(&json!({"request": {}}))).unwrap().contents.is_empty());
}

#[test]
fn big_integers_and_the_raw_text_survive() {
    let llm_request = r#"{ "contents": [{"parts":[{"functionCall":{"name":"f","args":{"n":1180591620717411303424}}}]}], "x": 1.50 }"#;
    let payload =
        text(&format!(r#"{{"state": {{"n": 1180591620717411303424}}, "request": {llm_request}}}"#));
    let request = ModelRequest::parse(&payload).unwrap();

    assert_eq!(request.raw.get(), llm_request);
    let shown = serde_json::to_string(&request).unwrap();
    assert_eq!(shown.matches("1180591620717411303424").count(), 3);
    assert!(shown.contains(llm_request));
}

#[test]
fn what_is_no_request_is_refused() {
    for (payload, message) in [
        ("[]", "the payload of the model request cannot be read"),
        ("{}", "the payload of the model request cannot be read"),
        (r#"{"request": 1}"#, "`request` is not an object"),
        (r#"{"request": {"contents": {}}}"#, "`contents` of the model request is not an array"),
    ] {
        assert_eq!(ModelRequest::parse(&text(payload)).unwrap_err().to_string(), message);
    }
    let deep =
        format!(r#"{{"request": {{"contents": {}{}}}}}"#, "[".repeat(9000), "]".repeat(9000));
    assert!(ModelRequest::parse(&text(&deep)).is_err());
}

#[test]
fn a_tool_is_read_whatever_it_is() {
    let twice = json!({"request": {"config": {"tools": [{"functionDeclarations": [{"name": "a"}, {"name": "a"}, 7]}, 3]}}});
    let request = ModelRequest::parse(&raw(&twice)).unwrap();
    let errors: Vec<Option<&str>> =
        request.tools.iter().map(|tool| tool.error.as_deref()).collect();
    assert_eq!(
        errors,
        [
            None,
            Some("another tool has the same name"),
            Some("its parameters cannot be shown: a schema must be an object, not a number"),
        ]
    );
    assert_eq!(ToolDeclaration::parse(&Value::Null).name, "");
}
