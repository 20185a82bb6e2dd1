//! The loop: what is asked, what is kept, and how it ends.

use hotseat_agent::{ClientTool, RunError, RunInput, SeatAnswer};
use hotseat_core::{AdkEvent, AdkHead, Decision, ModelRequest};
use serde_json::{Value, json};

use crate::host::{Cancel, NOW, Script, asked, calls, model, open, says, user};

const DESK: &str = "name: desk\ninstructions: {inline: 'Help {name?}.'}\n";

fn with_functions(more: &str) -> String {
    format!(
        "{DESK}{more}
tools:
  - {{type: function, name: double, description: Doubles., file: tools.py}}
  - {{type: function, name: table, file: tools.py}}
  - {{type: function, name: large, file: tools.py}}
  - {{type: function, name: forever, file: tools.py}}
  - {{type: function, name: fails, file: tools.py}}
"
    )
}

fn raw(value: &Value) -> Box<serde_json::value::RawValue> {
    serde_json::value::to_raw_value(value).unwrap()
}

#[tokio::test]
async fn one_text_is_one_event_that_the_host_keeps_itself() {
    let (agent, _folder) = open(DESK).await.unwrap();
    let script = Script::new(vec![says("hello")]);

    let mut end = agent.run(asked("hi"), &script).await.unwrap();

    let id = end.last_events[0].as_object_mut().unwrap().shift_remove("id").unwrap();
    assert_eq!(id.as_str().unwrap().len(), 36);
    assert_eq!(
        end.last_events,
        [json!({
            "invocation_id": "e-1",
            "author": "desk",
            "timestamp": NOW,
            "content": {"role": "model", "parts": [{"text": "hello"}]},
            "usage_metadata": {"prompt_token_count": 3, "total_token_count": 5},
            "finish_reason": "STOP",
            "model_version": "scripted-1",
            "actions": {},
        })]
    );
    assert!(end.pending_call_ids.is_empty());
    assert_eq!(script.seen.lock().unwrap().order, ["asked"]);
    AdkHead::of(&end.last_events[0]).unwrap();
    let event = AdkEvent::parse(&raw(&end.last_events[0])).unwrap();
    assert!(event.is_final_text());
}

#[tokio::test]
async fn a_person_can_read_the_request() {
    let file = with_functions(
        "model: {provider: ollama, name: small, temperature: 0.5, max_tokens: 9}\nresponse_format: {type: object, required: [answer]}",
    );
    let (agent, _folder) = open(&file).await.unwrap();
    let script = Script::new(vec![says("{\"answer\": 1}")]);
    let mut input = asked("hi");
    input.state.insert("name".to_owned(), json!("Ada"));
    input.client_tools = vec![ClientTool {
        name: "confirm".to_owned(),
        description: "Asks the user.".to_owned(),
        parameters: json!({"type": "object", "properties": {"text": {"type": "string"}}}),
    }];

    agent.run(input, &script).await.unwrap();

    let request = script.last_request();
    assert_eq!(request["model"], "small");
    assert_eq!(request["config"]["temperature"], json!(0.5));
    assert_eq!(request["config"]["max_output_tokens"], json!(9));
    assert_eq!(request["config"]["response_mime_type"], "application/json");
    let read = ModelRequest::parse(&raw(&json!({"request": request}))).unwrap();
    assert_eq!(read.system_instruction.as_deref(), Some("Help Ada."));
    assert_eq!(read.contents, [json!({"role": "user", "parts": [{"text": "hi"}]})]);
    assert_eq!(read.output_schema, Some(json!({"type": "object", "required": ["answer"]})));
    let names: Vec<&str> = read.tools.iter().map(|tool| tool.name.as_str()).collect();
    assert_eq!(names, ["double", "table", "large", "forever", "fails", "confirm"]);
    assert!(read.tools.iter().all(|tool| tool.error.is_none()), "{:?}", read.tools);
    assert_eq!(read.tools[0].description, "Doubles.");
    assert_eq!(read.tools[1].description, "From the function itself.");
    assert_eq!(read.tools[1].parameters["properties"]["n"]["type"], "integer");
    let wrong = json!({"candidates": [{"parts": [{"function_call": {"name": "double", "args": {"n": "x"}}}]}]});
    assert!(Decision::parse(wrong).unwrap().check(&read).is_err());
}

#[tokio::test]
async fn calls_run_and_their_results_come_in_one_event() {
    let (agent, _folder) = open(&with_functions("")).await.unwrap();
    let script = Script::new(vec![
        calls(&[("c1", "double", json!({"n": 4})), ("c2", "table", json!({"n": 1}))]),
        says("8"),
    ]);

    let end = agent.run(asked("double 4"), &script).await.unwrap();

    let seen = script.seen.lock().unwrap();
    assert_eq!(seen.order[..2], ["asked", "kept 1"], "the answer is durable before its calls run");
    assert_eq!(seen.order[6..], ["kept 1", "asked"]);
    assert_eq!(seen.kept.len(), 2);
    let parts = json!([
        {"function_response": {"id": "c1", "name": "double", "response": {"result": 8}}},
        {"function_response": {"id": "c2", "name": "table", "response": {"rows": [{"n": 1}]}}},
    ]);
    assert_eq!(seen.kept[1]["content"], json!({"role": "user", "parts": parts}));
    assert_eq!(seen.kept[1]["author"], "desk");
    let contents = &seen.turns[1].request["contents"];
    assert_eq!(contents[1], seen.kept[0]["content"]);
    assert_eq!(contents[2], seen.kept[1]["content"]);
    assert_eq!(end.last_events[0]["content"]["parts"][0]["text"], "8");
    assert_ne!(seen.turns[0].turn_id, seen.turns[1].turn_id);
    let ended: Vec<&Value> =
        seen.tool_runs.iter().filter(|run| run["status"] == "succeeded").collect();
    assert_eq!(ended.len(), 2);
    assert!(ended.iter().all(|run| run["duration_ms"].is_number()));
}

#[tokio::test]
async fn a_call_without_id_gets_one_everywhere() {
    let (agent, _folder) = open(&with_functions("")).await.unwrap();
    let mut answer = calls(&[("", "double", json!({"n": 1}))]);
    answer.content["parts"][0]["function_call"].as_object_mut().unwrap().shift_remove("id");
    let script = Script::new(vec![answer, says("ok")]);

    agent.run(asked("x"), &script).await.unwrap();

    let seen = script.seen.lock().unwrap();
    let id = seen.kept[0]["content"]["parts"][0]["function_call"]["id"].as_str().unwrap();
    assert!(id.starts_with("adk-"), "{id}");
    assert_eq!(seen.kept[1]["content"]["parts"][0]["function_response"]["id"], id);
    assert_eq!(seen.tool_runs[0]["call_id"], id);
}

#[tokio::test(start_paused = true)]
async fn what_goes_wrong_with_a_call_is_told_to_the_model() {
    let limits = "limits: {tool_timeout: 5, tool_output_bytes: 1000}";
    let (agent, _folder) = open(&with_functions(limits)).await.unwrap();
    let script = Script::new(vec![
        calls(&[
            ("c1", "fails", json!({})),
            ("c2", "duble", json!({})),
            ("c3", "forever", json!({})),
            ("c4", "large", json!({})),
        ]),
        says("sorry"),
    ]);

    agent.run(asked("x"), &script).await.unwrap();

    let seen = script.seen.lock().unwrap();
    let errors: Vec<&str> = seen.kept[1]["content"]["parts"]
        .as_array()
        .unwrap()
        .iter()
        .map(|part| part["function_response"]["response"]["error"].as_str().unwrap())
        .collect();
    insta::assert_snapshot!(errors[0], @"fails raised ValueError: no");
    insta::assert_snapshot!(errors[1], @"there is no tool `duble`; there are double, table, large, forever, fails");
    insta::assert_snapshot!(errors[2], @"`forever` did not answer within 5 s");
    insta::assert_snapshot!(errors[3], @"the result of `large` has 5002 bytes, more than the 1000 that `limits.tool_output_bytes` allows: ask for less");
    let mut kinds: Vec<(&str, &str)> = seen
        .tool_runs
        .iter()
        .filter(|run| run["status"] == "failed")
        .map(|run| (run["call_id"].as_str().unwrap(), run["error_type"].as_str().unwrap()))
        .collect();
    kinds.sort_unstable();
    assert_eq!(
        kinds,
        [("c1", "ToolError"), ("c2", "UnknownTool"), ("c3", "Timeout"), ("c4", "ResultTooLarge")]
    );
}

#[tokio::test(start_paused = true)]
async fn only_so_many_calls_run_at_the_same_time() {
    let limits = "limits: {tool_timeout: 5, parallel_calls: 2}";
    let (agent, _folder) = open(&with_functions(limits)).await.unwrap();
    let forever: Vec<(&str, &str, Value)> =
        ["a", "b", "c", "d"].into_iter().map(|id| (id, "forever", json!({}))).collect();
    let script = Script::new(vec![calls(&forever), says("done")]);
    let started = tokio::time::Instant::now();

    agent.run(asked("x"), &script).await.unwrap();

    assert_eq!(started.elapsed().as_secs(), 10, "two at a time, five seconds each");
    let seen = script.seen.lock().unwrap();
    assert_eq!(seen.order[2..6], ["started", "started", "failed", "failed"]);
}

#[tokio::test]
async fn a_cancelled_call_does_not_end_the_run() {
    let (agent, _folder) = open(&with_functions("")).await.unwrap();
    let script = Script::new(vec![calls(&[("c1", "forever", json!({}))]), says("then not")])
        .cancelling("started", Cancel::Call("c1"));

    let end = agent.run(asked("x"), &script).await.unwrap();

    assert_eq!(script.statuses(), ["forever started", "forever cancelled"]);
    assert_eq!(
        script.last_request()["contents"][2]["parts"][0]["function_response"]["response"],
        json!({"error": "the call of `forever` was cancelled"})
    );
    assert_eq!(end.last_events[0]["content"]["parts"][0]["text"], "then not");
}

#[tokio::test]
async fn a_cancelled_run_leaves_a_complete_log() {
    let (agent, _folder) = open(&with_functions("")).await.unwrap();
    let script =
        Script::new(vec![calls(&[("c1", "forever", json!({})), ("c2", "forever", json!({}))])])
            .cancelling("started", Cancel::Run);

    let error = agent.run(asked("x"), &script).await.unwrap_err();

    assert!(matches!(error, RunError::Cancelled), "{error}");
    let seen = script.seen.lock().unwrap();
    let ended = seen.tool_runs.iter().filter(|run| run["status"] == "cancelled").count();
    assert_eq!(ended, 2);
    assert_eq!(seen.kept[1]["content"]["parts"].as_array().unwrap().len(), 2);
    assert_eq!(seen.turns.len(), 1);
}

#[tokio::test]
async fn tools_of_the_caller_end_the_run_and_wait() {
    let (agent, _folder) = open(&with_functions("")).await.unwrap();
    let mut input = asked("x");
    input.client_tools = vec![ClientTool {
        name: "confirm".to_owned(),
        description: String::new(),
        parameters: json!({"type": "object"}),
    }];
    // The agent has a tool of this name itself, which goes first.
    input
        .client_tools
        .push(ClientTool { name: "double".to_owned(), ..input.client_tools[0].clone() });
    let alone = Script::new(vec![calls(&[("c1", "confirm", json!({}))])]);
    let mixed = Script::new(vec![calls(&[
        ("c1", "confirm", json!({})),
        ("c2", "double", json!({"n": 2})),
    ])]);

    let end = agent.run(input.clone(), &alone).await.unwrap();
    let mixed_end = agent.run(input, &mixed).await.unwrap();

    assert_eq!(end.pending_call_ids, ["c1"]);
    assert_eq!(end.last_events[0]["long_running_tool_ids"], json!(["c1"]));
    assert!(alone.seen.lock().unwrap().kept.is_empty());
    assert!(alone.statuses().is_empty(), "a tool of the caller is not run");
    assert_eq!(mixed_end.pending_call_ids, ["c1"]);
    let request = mixed.last_request();
    let declared = request["config"]["tools"][0]["function_declarations"].as_array().unwrap();
    assert_eq!(declared.iter().filter(|tool| tool["name"] == "double").count(), 1);
    let kept = &mixed.seen.lock().unwrap().kept;
    assert_eq!(kept[0]["long_running_tool_ids"], json!(["c1"]));
    let results = mixed_end.last_events[0]["content"]["parts"].as_array().unwrap();
    assert_eq!(results.len(), 1);
    assert_eq!(results[0]["function_response"]["id"], "c2");
}

#[tokio::test]
async fn a_run_has_only_so_many_steps() {
    let (agent, _folder) = open(&with_functions("limits: {max_steps: 2}")).await.unwrap();
    let again = |id| calls(&[(id, "double", json!({"n": 1}))]);
    let script = Script::new(vec![again("a"), again("b"), says("never asked")]);

    let error = agent.run(asked("x"), &script).await.unwrap_err();

    insta::assert_snapshot!(error, @"the agent `desk` made 2 model requests without coming to an answer: raise `limits.max_steps` if it needs more");
    assert_eq!(error.code(), "too_many_steps");
    assert_eq!(script.seen.lock().unwrap().kept.len(), 4);
}

#[tokio::test]
async fn an_answer_must_satisfy_the_response_format() {
    let file = format!(
        "{DESK}output_key: last\nresponse_format: {{type: object, properties: {{n: {{type: integer}}}}, required: [n]}}\n"
    );
    let (agent, _folder) = open(&file).await.unwrap();
    let run = async |text: &str| agent.run(asked("x"), &Script::new(vec![says(text)])).await;

    let end = run("{\"n\": 3}").await.unwrap();
    assert_eq!(end.last_events[0]["actions"], json!({"state_delta": {"last": {"n": 3}}}));
    insta::assert_snapshot!(run("three").await.unwrap_err(), @"the answer of `desk` does not satisfy its response_format: it is not JSON: expected ident at line 1 column 2");
    insta::assert_snapshot!(run("{\"n\": \"3\"}").await.unwrap_err(), @r#"the answer of `desk` does not satisfy its response_format: /n "3" is not of type integer"#);
    insta::assert_snapshot!(run("{}").await.unwrap_err(), @"the answer of `desk` does not satisfy its response_format: /n is required");
}

#[tokio::test]
async fn an_error_of_the_seat_ends_the_run_as_an_event() {
    let (agent, _folder) = open(DESK).await.unwrap();
    let script = Script::new(vec![SeatAnswer {
        error_code: Some("dismissed".to_owned()),
        error_message: Some("no time".to_owned()),
        ..SeatAnswer::default()
    }]);

    let end = agent.run(asked("x"), &script).await.unwrap();

    let event = &end.last_events[0];
    assert_eq!(
        (&event["error_code"], &event["error_message"]),
        (&json!("dismissed"), &json!("no time"))
    );
    assert_eq!(event.get("content"), None);
}

#[tokio::test]
async fn missing_state_and_unusable_answers_are_errors() {
    let (needy, _folder) = open("name: d\ninstructions: 'Help {who}.'\n").await.unwrap();
    let error = needy.run(asked("x"), &Script::new(vec![])).await.unwrap_err();
    insta::assert_snapshot!(error, @"the instruction needs `who`, which the session's state does not have: set it, or write `{who?}`");

    let (agent, _folder) = open(DESK).await.unwrap();
    for (content, reason) in [
        (json!({"role": "model"}), "it has no parts"),
        (json!({"parts": [{"function_call": {"args": {}}}]}), "a call has no name"),
        (
            json!({"parts": [{"function_call": {"name": "a", "args": 1}}]}),
            "the arguments of a call",
        ),
    ] {
        let script = Script::new(vec![SeatAnswer { content, ..SeatAnswer::default() }]);
        let error = agent.run(asked("x"), &script).await.unwrap_err().to_string();
        assert!(error.contains(reason), "{error}");
    }
}

#[tokio::test]
async fn a_run_that_is_cancelled_while_it_waits_for_an_answer_ends() {
    let (agent, _folder) = open(&with_functions("")).await.unwrap();
    // Cancelled at the end of a tool, so that the next request is never answered.
    let script = Script::new(vec![calls(&[("c1", "double", json!({"n": 1}))]), says("late")])
        .cancelling("succeeded", Cancel::Run);

    let error = agent.run(asked("x"), &script).await.unwrap_err();

    assert!(matches!(error, RunError::Cancelled), "{error}");
    assert_eq!(script.seen.lock().unwrap().turns.len(), 1);
}

#[tokio::test]
async fn a_second_run_sees_what_the_first_one_said() {
    let (agent, _folder) = open(DESK).await.unwrap();
    let script = Script::new(vec![says("again")]);
    let input = RunInput {
        history: vec![
            user(json!([{"text": "hi"}])),
            model(json!([{"text": "hello"}])),
            user(json!([{"text": "and?"}])),
        ],
        ..asked("")
    };

    agent.run(input, &script).await.unwrap();

    let texts: Vec<Value> = script.last_request()["contents"]
        .as_array()
        .unwrap()
        .iter()
        .map(|content| json!([content["role"], content["parts"][0]["text"]]))
        .collect();
    assert_eq!(texts, [json!(["user", "hi"]), json!(["model", "hello"]), json!(["user", "and?"])]);
}
