use hotseat_core::{Event, GoldenError, GoldenTrace, Subject};
use insta::assert_snapshot;
use serde_json::{Value, json};

use crate::log::{Log, SESSION, call, pretty, response};

fn golden_trace(subject: &Subject, events: &[Event]) -> Result<Value, GoldenError> {
    let mut trace = GoldenTrace::default();
    for event in events {
        trace.push(event);
    }
    trace.finish(subject).map(|case| {
        // Written and looked into, it is the same to the byte.
        let value = case.to_value();
        assert_eq!(serde_json::to_string(&case).unwrap(), value.to_string());
        value
    })
}

fn subject() -> Subject {
    Subject {
        session_id: SESSION.parse().unwrap(),
        agent_name: "Math Agent".to_owned(),
        app_name: "math_agent".to_owned(),
        user_id: "local".to_owned(),
        created_at: "2025-12-23T14:30:00.25Z".parse().unwrap(),
    }
}

fn trace(log: &Log) -> Value {
    golden_trace(&subject(), &log.events).unwrap()
}

fn said(text: &str) -> Value {
    json!([{"text": text}])
}

/// FR-025, FR-026, FR-027, FR-028, FR-029, FR-030
#[test]
#[expect(clippy::too_many_lines, reason = "most of them are the snapshot")]
fn a_session_becomes_an_eval_case() {
    let mut log = Log::default();
    log.run("queued", &json!({"message": {"role": "user", "parts": said("What is 2+2?")}}));
    log.adk("user", said("What is 2+2?"));
    log.turn(1, "root", said("…"));
    log.adk("root", json!([{"text": "secret", "thought": true}, {"text": "I add."}, call("c1", "add", &json!({"a": 2, "b": 2}))]));
    log.adk("root", json!([response("c1", "add", &json!({"result": 4}))]));
    log.adk(
        "root",
        json!([call("c2", "fetch", &json!({})), call("c3", "inner", &json!({"request": "x"}))]),
    );
    log.tool_run(&json!({"call_id": "c2", "tool_name": "fetch", "status": "failed", "error_type": "ConnectionError", "error_message": "down", "traceback": "File /home"}));
    log.inside(Some("c3"));
    log.adk("user", said("x"));
    log.adk("inner", json!([call("c9", "hidden", &json!({}))]));
    log.adk("inner", said("inner answer"));
    log.inside(None);
    log.adk(
        "root",
        json!([
            response("c2", "fetch", &json!({"error": "ConnectionError: down"})),
            response("c3", "inner", &json!({"result": "inner answer"}))
        ]),
    );
    log.adk("root", json!([call("c4", "transfer_to_agent", &json!({"agent_name": "sub"}))]));
    log.adk_with(
        "root",
        json!([response("c4", "transfer_to_agent", &json!({"result": null}))]),
        json!({"actions": {"transferToAgent": "sub"}}),
    );
    log.adk("sub", said("On it."));
    log.adk("sub", json!([{"text": "so", "thought": true}, {"text": "The answer is 4"}]));
    log.run("finished", &json!({}));
    log.adk(
        "user",
        json!([{"text": "And this?"}, {"inlineData": {"mimeType": "image/png", "data": "AA=="}}]),
    );
    log.adk("sub", json!([{"text": "partial", "thought": false}])).entry.parent_call_id =
        Some("x".into());
    log.adk("sub", said("A cat"));
    assert_snapshot!(pretty(&trace(&log)), @r#"
    {
      "eval_id": "math_agent_20251223T143000Z",
      "conversation": [
        {
          "invocation_id": "7d0f6a52-32f1-4b3e-9e0d-1f4f9f6b2a11_inv_0",
          "user_content": {
            "role": "user",
            "parts": [
              {
                "text": "What is 2+2?"
              }
            ]
          },
          "final_response": {
            "role": "model",
            "parts": [
              {
                "text": "The answer is 4"
              }
            ]
          },
          "intermediate_data": {
            "tool_uses": [
              {
                "id": "c1",
                "name": "add",
                "args": {
                  "a": 2,
                  "b": 2
                }
              },
              {
                "id": "c2",
                "name": "fetch",
                "args": {}
              },
              {
                "id": "c3",
                "name": "inner",
                "args": {
                  "request": "x"
                }
              },
              {
                "id": "c4",
                "name": "transfer_to_agent",
                "args": {
                  "agent_name": "sub"
                }
              }
            ],
            "tool_responses": [
              {
                "id": "c1",
                "name": "add",
                "response": {
                  "result": 4
                }
              },
              {
                "id": "c2",
                "name": "fetch",
                "response": {
                  "error": {
                    "type": "ConnectionError",
                    "message": "down"
                  }
                }
              },
              {
                "id": "c3",
                "name": "inner",
                "response": {
                  "result": "inner answer"
                }
              },
              {
                "id": "c4",
                "name": "transfer_to_agent",
                "response": {
                  "result": null
                }
              }
            ],
            "intermediate_responses": [
              [
                "root",
                [
                  {
                    "text": "I add."
                  }
                ]
              ],
              [
                "sub",
                [
                  {
                    "text": "On it."
                  }
                ]
              ]
            ]
          },
          "creation_timestamp": 1766500200.5
        },
        {
          "invocation_id": "7d0f6a52-32f1-4b3e-9e0d-1f4f9f6b2a11_inv_1",
          "user_content": {
            "role": "user",
            "parts": [
              {
                "text": "And this?"
              },
              {
                "inline_data": {
                  "mimeType": "image/png",
                  "data": "AA=="
                }
              }
            ]
          },
          "final_response": {
            "role": "model",
            "parts": [
              {
                "text": "A cat"
              }
            ]
          },
          "intermediate_data": {
            "tool_uses": [],
            "tool_responses": [],
            "intermediate_responses": []
          },
          "creation_timestamp": 1766500200.5
        }
      ],
      "session_input": {
        "app_name": "math_agent",
        "user_id": "local",
        "state": {
          "city": "Bern"
        }
      },
      "creation_timestamp": 1766500200.25
    }
    "#);
}

#[test]
fn invocations_may_end_without_final_response_but_not_all() {
    let mut log = Log::default();
    assert_eq!(
        golden_trace(&subject(), &log.events),
        Err(GoldenError::NoUserMessage { session_id: SESSION.parse().unwrap() })
    );
    log.adk("user", said("first"));
    log.adk_with("root", json!([]), json!({"errorCode": "dismissed", "errorMessage": "no"}));
    assert_eq!(
        golden_trace(&subject(), &log.events).unwrap_err().to_string(),
        format!("session {SESSION} has no final response")
    );
    log.adk("user", said("second"));
    log.adk("root", said("done"));
    let case = trace(&log);
    assert_eq!(case["conversation"][0].get("final_response"), None);
    assert_eq!(case["conversation"][1]["final_response"]["parts"][0]["text"], "done");
}

#[test]
fn a_query_that_adk_did_not_record_is_taken_from_the_run() {
    let mut log = Log::default();
    log.run("queued", &json!({"message": {"role": "user", "parts": said("go")}}));
    log.adk("root", said("done"));
    let case = trace(&log);
    assert_eq!(case["conversation"].as_array().unwrap().len(), 1);
    assert_eq!(
        case["conversation"][0]["user_content"],
        json!({"role": "user", "parts": [{"text": "go"}]})
    );
    assert_eq!(case["conversation"][0]["creation_timestamp"], json!(1_766_500_201.0));
}

/// FR-031
#[test]
fn a_failed_tool_without_result_is_not_omitted() {
    let mut log = Log::default();
    log.adk("user", said("go"));
    log.adk("root", json!([call("c1", "f", &json!({}))]));
    log.tool_run(&json!({"call_id": "c1", "tool_name": "f", "status": "failed", "error_type": "ValueError", "error_message": "no"}));
    log.adk("user", said("again"));
    log.adk("root", said("done"));
    assert_eq!(
        trace(&log)["conversation"][0]["intermediate_data"]["tool_responses"],
        json!([{"id": "c1", "name": "f", "response": {"error": {"type": "ValueError", "message": "no"}}}])
    );
}

#[test]
fn big_integers_survive() {
    let big: Value = serde_json::from_str("1180591620717411303424").unwrap();
    let mut log = Log::default();
    log.adk("user", said("go"));
    log.adk("root", json!([call("c", "f", &json!({"n": big}))]));
    log.adk("root", json!([response("c", "f", &json!({"result": big}))]));
    log.adk("root", said("done"));
    assert_eq!(trace(&log).to_string().matches("1180591620717411303424").count(), 2);
}

#[test]
fn answers_to_adk_continue_the_invocation_that_asked() {
    let pay = json!({"sum": 5});
    let confirm = json!({"originalFunctionCall": {"id": "c1", "name": "pay", "args": pay},
        "toolConfirmation": {"confirmed": false}});
    let mut log = Log::default();
    log.adk("user", said("pay 5"));
    log.adk("root", json!([call("c1", "pay", &pay)]));
    log.adk_with(
        "root",
        json!([response("c1", "pay", &json!({"error": "This tool call requires confirmation"}))]),
        json!({"actions": {"requestedToolConfirmations": {"c1": {}}}}),
    );
    log.adk("root", json!([call("c2", "adk_request_confirmation", &confirm)]));
    let yes = json!([response("c2", "adk_request_confirmation", &json!({"confirmed": true}))]);
    log.run("queued", &json!({"message": {"role": "user", "parts": yes}}));
    log.adk("user", yes);
    log.adk("root", json!([response("c1", "pay", &json!({"paid": 5}))]));
    log.adk("root", said("Paid."));

    let case = trace(&log);
    assert_eq!(case["conversation"].as_array().unwrap().len(), 1);
    let invocation = &case["conversation"][0];
    assert_eq!(invocation["user_content"]["parts"], said("pay 5"));
    assert_eq!(invocation["final_response"]["parts"], said("Paid."));
    let data = &invocation["intermediate_data"];
    assert_eq!(data["tool_uses"], json!([{"id": "c1", "name": "pay", "args": {"sum": 5}}]));
    assert_eq!(
        data["tool_responses"],
        json!([{"id": "c1", "name": "pay", "response": {"paid": 5}}])
    );
}

#[test]
fn a_late_result_belongs_to_the_invocation_of_its_call() {
    let in_invocation = |id: &str| json!({"invocationId": id});
    let mut log = Log::default();
    log.adk_with("user", said("ask the boss"), in_invocation("e-1"));
    log.adk_with("root", json!([call("c1", "ask", &json!({}))]), in_invocation("e-1"));
    log.adk_with(
        "root",
        json!([response("c1", "ask", &json!({"status": "pending"}))]),
        in_invocation("e-1"),
    );
    log.adk_with("root", said("I asked."), in_invocation("e-1"));
    log.adk_with("user", said("how are you?"), in_invocation("e-2"));
    log.adk_with("root", said("Fine."), in_invocation("e-2"));
    log.adk_with(
        "user",
        json!([response("c1", "ask", &json!({"status": "approved"}))]),
        in_invocation("e-1"),
    );
    log.adk_with("root", said("Approved."), in_invocation("e-1"));

    let case = trace(&log);
    let [first, second] = case["conversation"].as_array().unwrap().as_slice() else { panic!() };
    assert_eq!(first["final_response"]["parts"], said("Approved."));
    assert_eq!(
        first["intermediate_data"]["intermediate_responses"],
        json!([["root", said("I asked.")]])
    );
    let responses = first["intermediate_data"]["tool_responses"].as_array().unwrap();
    assert_eq!(responses.len(), 1);
    assert_eq!(responses[0]["response"], json!({"status": "approved"}));
    assert_eq!(second["final_response"]["parts"], said("Fine."));
}

#[test]
fn only_the_input_that_a_model_asks_for_is_a_tool_use() {
    let mut log = Log::default();
    log.adk("user", said("go"));
    let asked = json!({"interruptId": "i", "message": "Which?"});
    log.adk("flow", json!([call("i", "adk_request_input", &asked)]));
    log.adk("root", json!([call("c", "adk_request_input", &json!({"message": "Who?"}))]));
    log.adk("user", json!([response("c", "adk_request_input", &json!({"result": "me"}))]));
    log.adk("root", said("done"));
    let uses = &trace(&log)["conversation"][0]["intermediate_data"]["tool_uses"];
    assert_eq!(
        *uses,
        json!([{"id": "c", "name": "adk_request_input", "args": {"message": "Who?"}}])
    );
}
