#![expect(clippy::needless_pass_by_value, reason = "json! reads best without a borrow")]

use hotseat_core::{Answer, Decision, Dismissal, ModelRequest, Violation};
use insta::assert_snapshot;
use serde_json::{Value, json};

use crate::log::{pretty, raw, text};

fn parts(parts: Value) -> Value {
    json!({"candidates": [{"parts": parts}]})
}

fn request(tools: Value, output_schema: Value) -> ModelRequest {
    let config = json!({"tools": [{"functionDeclarations": tools}]});
    let payload =
        json!({"request": {"contents": [], "config": config}, "output_schema": output_schema});
    ModelRequest::parse(&raw(&payload)).unwrap()
}

fn search() -> Value {
    json!({"name": "search", "parametersJsonSchema": {
        "type": "object",
        "properties": {"query": {"type": "string"}, "limit": {"type": "integer"}},
        "required": ["query"],
    }})
}

fn lines(found: Vec<Violation>) -> Vec<String> {
    found.into_iter().map(|v| format!("{}: {}", v.path, v.message)).collect()
}

#[test]
fn a_decision_is_normalised() {
    let mut decision = Decision::parse(json!({"candidates": [{"parts": [
        {"text": "hm", "thought": true, "thoughtSignature": "c2ln"},
        {"text": "I look.", "functionCall": null},
        {"functionCall": {"name": "search", "args": {"petId": 1}, "willContinue": false}},
        {"function_call": {"name": "now", "id": "given"}},
        {"inlineData": {"mimeType": "image/png", "data": "AA=="}},
    ]}], "extra": 1}))
    .unwrap();

    let mut n = 0;
    let ids = decision.assign_call_ids(|| {
        n += 1;
        format!("adk-{n}")
    });

    assert_eq!(ids, ["adk-1", "given"]);
    assert_eq!(decision.text(), "I look.");
    assert_eq!(decision.assign_call_ids(|| unreachable!()), ids);
    assert_snapshot!(pretty(&decision.candidates()), @r#"
    [
      {
        "role": "model",
        "parts": [
          {
            "text": "hm",
            "thought": true,
            "thought_signature": "c2ln"
          },
          {
            "text": "I look."
          },
          {
            "function_call": {
              "name": "search",
              "args": {
                "petId": 1
              },
              "will_continue": false,
              "id": "adk-1"
            }
          },
          {
            "function_call": {
              "name": "now",
              "id": "given",
              "args": {}
            }
          },
          {
            "inline_data": {
              "mimeType": "image/png",
              "data": "AA=="
            }
          }
        ]
      }
    ]
    "#);
}

#[test]
fn everything_wrong_is_said_at_once() {
    let cases = [
        json!([]),
        json!({}),
        json!({"candidates": []}),
        json!({"candidates": [{"role": "user", "parts": []}, 1]}),
        parts(json!(["hi", {}, {"text": 1}, {"text": "a", "function_call": {"name": "f"}}])),
        parts(json!([{"function_call": {"args": [1], "id": 7}}, {"functionCall": "add"}])),
        parts(json!([{"function_response": {"name": "f", "response": {}}}])),
        parts(
            json!([{"function_call": {"name": "f", "id": "x"}}, {"function_call": {"name": "f", "id": "x"}}]),
        ),
        parts(json!([{"function_call": {"name": "f"}, "functionCall": {"name": "g"}}])),
    ];
    let found: Vec<Vec<String>> =
        cases.into_iter().map(|case| lines(Decision::parse(case).unwrap_err())).collect();
    assert_snapshot!(pretty(&found), @r#"
    [
      [
        ": must be an object, not an array"
      ],
      [
        "/candidates: must be an array with at least one answer"
      ],
      [
        "/candidates: must be an array with at least one answer"
      ],
      [
        "/candidates/0/role: must be `model`",
        "/candidates/0/parts: must be an array with at least one part",
        "/candidates/1: must be an object, not a number"
      ],
      [
        "/candidates/0/parts/0: must be an object, not a string",
        "/candidates/0/parts/1: must hold a text, a function_call or other data",
        "/candidates/0/parts/2/text: must be a string",
        "/candidates/0/parts/3: must hold either a text or a function_call, not both"
      ],
      [
        "/candidates/0/parts/0/function_call/name: must be the name of a tool",
        "/candidates/0/parts/0/function_call/args: must be an object, not an array",
        "/candidates/0/parts/0/function_call/id: must be a string",
        "/candidates/0/parts/1/function_call: must be an object, not a string"
      ],
      [
        "/candidates/0/parts/0/function_response: cannot be part of an answer: tools give their own results"
      ],
      [
        "/candidates/0/parts/1/function_call/id: the call id `x` is used twice"
      ],
      [
        "/candidates/0/parts/0: has a field in both spellings, camelCase and snake_case"
      ]
    ]
    "#);
}

#[test]
fn text_may_be_blank_only_beside_something_else() {
    for empty in [
        json!([{"text": ""}]),
        json!([{"text": " \n"}, {"text": ""}]),
        json!([{"text": "I think", "thought": true}]),
    ] {
        let found = Decision::parse(parts(empty)).unwrap_err();
        assert_eq!(
            lines(found),
            ["/candidates/0/parts/0/text: is empty: write a text or call a tool"]
        );
    }
    for full in [
        json!([{"text": ""}, {"function_call": {"name": "f"}}]),
        json!([{"text": ""}, {"text": "x"}]),
        json!([{"text": ""}, {"executable_code": {"code": "1"}}]),
    ] {
        assert!(Decision::parse(parts(full)).is_ok());
    }
}

/// FR-006
#[test]
fn calls_must_fit_the_tools_of_the_request() {
    let request = request(json!([search(), {"name": "now"}]), Value::Null);
    let check = |answer: Value| match Decision::parse(parts(answer)).unwrap().check(&request) {
        Ok(()) => Vec::new(),
        Err(found) => lines(found),
    };

    assert_eq!(check(json!([{"text": "x"}])), [""; 0]);
    assert_eq!(check(json!([{"function_call": {"name": "now"}}])), [""; 0]);
    assert_eq!(
        check(json!([{"text": "x"}, {"functionCall": {"name": "search", "args": {"limit": 5.0}}}])),
        [
            "/candidates/0/parts/1/function_call/args/query: is required",
            "/candidates/0/parts/1/function_call/args/limit: 5.0 is not of type integer",
        ]
    );
    assert_eq!(
        check(
            json!([{"function_call": {"name": "serch"}}, {"function_call": {"name": "delete_all"}}])
        ),
        [
            "/candidates/0/parts/0/function_call/name: there is no tool `serch`: did you mean `search`?",
            "/candidates/0/parts/1/function_call/name: there is no tool `delete_all`: there are `search`, `now`",
        ]
    );
}

#[test]
fn a_request_without_tools_takes_no_calls() {
    let decision = Decision::parse(parts(json!([{"function_call": {"name": "f"}}]))).unwrap();
    assert_eq!(
        lines(decision.check(&request(json!([]), Value::Null)).unwrap_err()),
        [
            "/candidates/0/parts/0/function_call/name: there is no tool `f`: this request offers none"
        ]
    );
}

#[test]
fn a_schema_that_cannot_be_used_accepts_everything() {
    let broken = json!([{"name": "f", "parametersJsonSchema": {"type": "object", "properties": {"a": {"type": "INT"}}}},
        {"name": "g", "parametersJsonSchema": {"type": "object", "properties": {"a": {"pattern": "("}}}}]);
    let answer = parts(
        json!([{"function_call": {"name": "f", "args": {"a": 1}}}, {"function_call": {"name": "g", "args": {"a": "x"}}}]),
    );
    assert_eq!(Decision::parse(answer).unwrap().check(&request(broken, Value::Null)), Ok(()));
}

/// FR-016
#[test]
fn structured_output_must_satisfy_its_schema() {
    let schema = json!({"type": "object", "properties": {"answer": {"type": "string"}, "confidence": {"type": "number"}}, "required": ["answer", "confidence"]});
    let request = request(json!([search()]), schema);
    let check = |answer: Value| match Decision::parse(parts(answer)).unwrap().check(&request) {
        Ok(()) => Vec::new(),
        Err(found) => lines(found),
    };

    assert_eq!(
        check(json!([{"text": "{\"answer\": \"x\", "}, {"text": "\"confidence\": 1}"}])),
        [""; 0]
    );
    assert_eq!(
        check(
            json!([{"text": "so"}, {"function_call": {"name": "search", "args": {"query": "x"}}}])
        ),
        [""; 0]
    );
    assert_eq!(
        check(json!([{"text": "hm", "thought": true}, {"text": "{\"answer\": 1}"}])),
        [
            "/candidates/0/parts/1/text/confidence: is required",
            "/candidates/0/parts/1/text/answer: 1 is not of type string",
        ]
    );
    assert_eq!(
        check(json!([{"text": "35"}, {"text": " is it"}])),
        [
            "/candidates/0/parts/0/text: must be JSON, because the agent has an output schema: trailing characters at line 1 column 4"
        ]
    );
}

#[test]
fn big_integers_in_arguments_survive() {
    let body = r#"{"candidates":[{"role":"model","parts":[{"function_call":{"name":"f","args":{"n":1180591620717411303424,"x":1.50}}}]}]}"#;
    let decision = Decision::parse(serde_json::from_str(body).unwrap()).unwrap();
    assert_eq!(decision.to_payload().get(), body);
}

#[test]
fn answers_are_read_back() {
    let dismissal = Dismissal::new(Some("wrong agent"));
    assert_eq!(
        dismissal.to_payload().get(),
        r#"{"error":{"code":"dismissed","message":"wrong agent"}}"#
    );
    assert_eq!(Answer::parse(&dismissal.to_payload()), Ok(Answer::Dismissal(dismissal)));

    let decision = Decision::parse(parts(json!([{"text": "x"}]))).unwrap();
    assert_eq!(Answer::parse(&decision.to_payload()), Ok(Answer::Decision(decision)));
    assert!(Answer::parse(&text("7")).is_err());
    assert!(Answer::parse(&text(r#"{"error": "x"}"#)).is_err());
}
