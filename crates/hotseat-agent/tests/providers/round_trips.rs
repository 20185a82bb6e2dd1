//! Calls, answers and signatures that go back to the provider in the next request.

use hotseat_testkit::providers::{Reply, Wire};
use serde_json::{Value, json};

use crate::{Heard, Seat, conversation, request};

/// The request that follows an answer with one call: its contents, answered.
fn answered(heard: &Heard) -> Value {
    let responses: Vec<Value> = heard
        .parts()
        .iter()
        .filter_map(|part| part.get("function_call"))
        .map(|call| json!({"function_response": {"id": call["id"], "name": call["name"], "response": {"result": 5}}}))
        .collect();
    conversation(&json!([
        {"role": "user", "parts": [{"text": "2 + 3"}]},
        heard.answer().content,
        {"role": "user", "parts": responses},
    ]))
}

#[tokio::test]
async fn an_answered_call_goes_back_in_the_providers_own_words() {
    for wire in Wire::ALL {
        let call = Reply::text("Let me see.").and_call("add", json!({"a": 2, "b": 3}));
        let seat = Seat::new(wire, [call, Reply::text("Five.")]).await;
        let called = seat.ask(&request("2 + 3")).await;
        let id = called.call(0)["id"].clone();

        let heard = seat.ask(&answered(&called)).await;

        assert_eq!(heard.parts(), [json!({"text": "Five."})], "{wire:?}");
        let body = seat.body();
        let function = json!({"name": "add", "arguments": r#"{"a":2,"b":3}"#});
        match wire {
            Wire::OpenAi | Wire::Azure => {
                assert_eq!(body["messages"][2]["content"], "Let me see.");
                assert_eq!(
                    body["messages"][2]["tool_calls"],
                    json!([{"id": id, "type": "function", "function": function}])
                );
                assert_eq!(
                    body["messages"][3],
                    json!({"role": "tool", "tool_call_id": id, "content": r#"{"result":5}"#})
                );
            }
            Wire::Anthropic => {
                assert_eq!(
                    body["messages"][1]["content"],
                    json!([
                        {"type": "text", "text": "Let me see."},
                        {"type": "tool_use", "id": id, "name": "add", "input": {"a": 2, "b": 3}},
                    ])
                );
                assert_eq!(
                    body["messages"][2],
                    json!({"role": "user", "content": [{"type": "tool_result", "tool_use_id": id, "content": r#"{"result":5}"#}]})
                );
            }
            Wire::Gemini => {
                // The id was made up here, so it stays here.
                assert_eq!(
                    body["contents"][1]["parts"],
                    json!([{"text": "Let me see."}, {"functionCall": {"name": "add", "args": {"a": 2, "b": 3}}}])
                );
                assert_eq!(
                    body["contents"][2],
                    json!({"role": "user", "parts": [{"functionResponse": {"name": "add", "response": {"result": 5}}}]})
                );
            }
            Wire::Ollama => {
                assert_eq!(
                    body["messages"][2]["tool_calls"],
                    json!([{"id": id, "function": {"name": "add", "arguments": {"a": 2, "b": 3}}}])
                );
                assert_eq!(body["messages"][3]["tool_name"], "add");
                assert_eq!(body["messages"][3]["content"], r#"{"result":5}"#);
            }
        }
    }
}

#[tokio::test]
async fn parallel_calls_are_answered_in_one_go() {
    for wire in Wire::ALL {
        let calls =
            Reply::call("add", json!({"a": 1, "b": 2})).and_call("add", json!({"a": 3, "b": 4}));
        let seat = Seat::new(wire, [calls, Reply::text("Done.")]).await;
        let called = seat.ask(&request("Add")).await;
        let heard = seat.ask(&answered(&called)).await;
        assert_eq!(heard.parts(), [json!({"text": "Done."})], "{wire:?}");
    }
}

#[tokio::test]
async fn an_unanswered_call_and_a_late_answer_do_not_end_the_conversation() {
    let contents = json!([
        {"role": "user", "parts": [{"text": "2 + 3"}]},
        {"role": "model", "parts": [{"function_call": {"id": "c-1", "name": "add", "args": {}}}]},
        {"role": "user", "parts": [{"text": "Forget it."}]},
        {"role": "model", "parts": [{"text": "Fine."}]},
        {"role": "user", "parts": [{"function_response": {"id": "c-1", "name": "add", "response": {"result": 5}}}]},
    ]);
    for wire in Wire::ALL {
        let seat = Seat::new(wire, [Reply::text("Five after all.")]).await;
        let heard = seat.ask(&conversation(&contents)).await;
        assert_eq!(heard.parts(), [json!({"text": "Five after all."})], "{wire:?}");
        assert!(seat.body().to_string().contains("The tool `add` answered"), "{wire:?}");
    }
}

#[tokio::test]
async fn anthropic_gets_its_thoughts_back_signed() {
    let call = Reply::empty()
        .and_thought("Two and three…", Some("sig-Eq+/="))
        .and_hidden_thought("hidden-data")
        .and_call("add", json!({"a": 2, "b": 3}));
    let seat = Seat::new(Wire::Anthropic, [call, Reply::text("Five.")]).await;
    let called = seat.ask(&request("2 + 3")).await;
    // ADK reads and writes signatures as base64.
    assert_eq!(called.parts()[0]["thought_signature"], "c2lnLUVxKy89");

    seat.ask(&answered(&called)).await.answer();

    assert_eq!(
        seat.body()["messages"][1]["content"].as_array().unwrap()[..2],
        [
            json!({"type": "thinking", "thinking": "Two and three…", "signature": "sig-Eq+/="}),
            json!({"type": "redacted_thinking", "data": "hidden-data"}),
        ]
    );
}

#[tokio::test]
async fn thoughts_of_other_providers_are_not_shown_to_anthropic() {
    let contents = json!([
        {"role": "user", "parts": [{"text": "Hi"}]},
        {"role": "model", "parts": [
            {"text": "unsigned", "thought": true},
            {"text": "binary", "thought": true, "thought_signature": "_-8="},
            {"text": "Hello."},
        ]},
        {"role": "user", "parts": [{"text": "And?"}]},
    ]);
    let seat = Seat::new(Wire::Anthropic, [Reply::text("Well.")]).await;
    seat.ask(&conversation(&contents)).await.answer();
    assert_eq!(seat.body()["messages"][1]["content"], json!([{"type": "text", "text": "Hello."}]));
}

#[tokio::test]
async fn gemini_gets_its_ids_and_signatures_back() {
    let call = Reply::empty().and_thought("Hm", Some("dGhvdWdodA==")).and_signed_call(
        "fc-1",
        "add",
        json!({"a": 2, "b": 3}),
        "Y2FsbA==",
    );
    let mut seat = Seat::new(Wire::Gemini, [call, Reply::text("Five.")]).await;
    seat.spec.name = "gemini-3-pro".to_owned();
    let called = seat.ask(&request("2 + 3")).await;
    assert_eq!(called.parts()[1]["thought_signature"], "Y2FsbA==");

    seat.ask(&answered(&called)).await.answer();

    assert_eq!(
        seat.body()["contents"][1]["parts"],
        json!([
            {"text": "Hm", "thought": true, "thoughtSignature": "dGhvdWdodA=="},
            {"functionCall": {"id": "fc-1", "name": "add", "args": {"a": 2, "b": 3}}, "thoughtSignature": "Y2FsbA=="},
        ])
    );
    assert_eq!(seat.body()["contents"][2]["parts"][0]["functionResponse"]["id"], "fc-1");
}

#[tokio::test]
async fn gemini_3_takes_calls_that_a_person_made() {
    let contents = json!([
        {"role": "user", "parts": [{"text": "2 + 3"}]},
        {"role": "model", "parts": [{"function_call": {"id": "adk-1", "name": "add", "args": {}}}]},
        {"role": "user", "parts": [{"function_response": {"id": "adk-1", "name": "add", "response": {"result": 5}}}]},
    ]);
    for (model, signature) in [
        ("gemini-3-pro", json!("c2tpcF90aG91Z2h0X3NpZ25hdHVyZV92YWxpZGF0b3I=")),
        ("gemini-2.5-flash", Value::Null),
    ] {
        let mut seat = Seat::new(Wire::Gemini, [Reply::text("Five.")]).await;
        seat.spec.name = model.to_owned();
        seat.ask(&conversation(&contents)).await.answer();
        assert_eq!(
            seat.body()["contents"][1]["parts"][0]["thoughtSignature"],
            signature,
            "{model}"
        );
    }
}

#[tokio::test]
async fn anthropic_takes_calls_that_a_person_made_while_it_thinks() {
    let contents = json!([
        {"role": "user", "parts": [{"text": "2 + 3"}]},
        {"role": "model", "parts": [{"function_call": {"id": "adk-1", "name": "add", "args": {}}}]},
        {"role": "user", "parts": [{"function_response": {"id": "adk-1", "name": "add", "response": {"result": 5}}}]},
    ]);
    let mut request = conversation(&contents);
    request["config"]["thinking_config"] = json!({"thinking_budget": 2000});
    let seat = Seat::new(Wire::Anthropic, [Reply::text("Five.")]).await;
    seat.ask(&request).await.answer();
}

#[tokio::test]
async fn servers_that_reason_like_deepseek_get_their_reasoning_back_with_calls() {
    let call = Reply::empty().and_thought("Hm", None).and_call("add", json!({"a": 2, "b": 3}));
    let seat = Seat::new(Wire::OpenAi, [call, Reply::text("Five.")]).await;
    let called = seat.ask(&request("2 + 3")).await;
    seat.ask(&answered(&called)).await.answer();
    assert_eq!(seat.body()["messages"][2]["reasoning_content"], "Hm");
}
