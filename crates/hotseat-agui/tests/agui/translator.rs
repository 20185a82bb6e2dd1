use hotseat_agui::{Body, Event, History, RunAgentInput, Start, messages_snapshot};
use hotseat_core::Delta;
use serde_json::{Value, json};

use crate::stream::{Run, call, piece, result, said, short, start};

fn text(text: &str) -> Delta {
    Delta::Text(text.to_owned())
}

fn with_history(events: &[Value]) -> Start {
    Start { history: History::of(events), ..start() }
}

/// What a run makes of these events, without its beginning and end.
fn of_events(events: &[Value]) -> Vec<String> {
    let mut run = Run::new(start());
    for event in events {
        run.event(event);
    }
    let lines = run.short();
    lines[1..].iter().filter(|line| *line != "-" && *line != "step root").cloned().collect()
}

#[test]
fn a_run_begins_with_its_request_and_state() {
    let input = json!({"threadId": "t", "runId": "r", "messages": [], "state": null});
    let mut run = Run::new(Start {
        input: Some(RunAgentInput::read(&input).unwrap()),
        state: json!({"a": 1}),
        parent_run_id: Some("p".to_owned()),
        ..start()
    });
    run.finish();
    assert_eq!(
        run.short(),
        [
            r#"RUN_STARTED {"threadId":"t","runId":"r","protocolVersion":"1.0","parentRunId":"p","input":{"threadId":"t","runId":"r","messages":[],"tools":[],"context":[]}}"#,
            r#"STATE_SNAPSHOT {"snapshot":{"a":1}}"#,
            r#"RUN_FINISHED {"threadId":"t","runId":"r","outcome":{"type":"success"}}"#,
        ]
    );
}

#[test]
fn the_complete_event_adds_what_the_pieces_left_out() {
    for (pieces, expected) in [
        (vec!["Hel", "lo"], vec!["text i:0", "text i:0 + Hel", "text i:0 + lo", "text i:0 end"]),
        (vec!["Hel"], vec!["text i:0", "text i:0 + Hel", "text i:0 + lo", "text i:0 end"]),
        (vec![], vec!["text i:0", "text i:0 + Hel", "text i:0 + lo", "text i:0 end"]),
        // What was said cannot be taken back, so the whole comes as another message.
        (
            vec!["Hix"],
            vec![
                "text i:0",
                "text i:0 + Hix",
                "text i:0 end",
                "text i:0~2",
                "text i:0~2 + Hel",
                "text i:0~2 + lo",
                "text i:0~2 end",
            ],
        ),
    ] {
        let mut run = Run::new(start());
        for said in pieces {
            run.piece("root", text(said));
        }
        run.event(&said("root", &json!([{"text": "Hel"}, {"text": "lo"}])));
        assert_eq!(run.short()[2..], expected);
    }
}

#[test]
fn thoughts_come_first_and_secrets_belong_to_something() {
    let parts = json!([
        {"text": "hm", "thought": true, "thought_signature": "s1"},
        {"text": "yes", "thoughtSignature": "s2"},
        {"functionCall": {"id": "c", "name": "add", "args": {"a": 1}}, "thought_signature": "s3"},
    ]);
    assert_eq!(
        of_events(&[said("root", &parts)]),
        [
            r#"REASONING_START {"messageId":"i:0:reasoning"}"#,
            "i:0:reasoning + hm",
            r#"REASONING_ENCRYPTED_VALUE {"subtype":"message","entityId":"i:0:reasoning","encryptedValue":"s1"}"#,
            r#"REASONING_END {"messageId":"i:0:reasoning"}"#,
            "text i:0",
            "text i:0 + yes",
            r#"REASONING_ENCRYPTED_VALUE {"subtype":"message","entityId":"i:0","encryptedValue":"s2"}"#,
            "text i:0 end",
            "call c of add in i:0",
            r#"call c + {"a":1}"#,
            "call c end",
            r#"REASONING_ENCRYPTED_VALUE {"subtype":"tool-call","entityId":"c","encryptedValue":"s3"}"#,
        ]
    );
}

#[test]
fn a_streamed_call_keeps_its_id_and_is_not_repeated() {
    let begin = || Delta::Call { id: "c".to_owned(), name: "add".to_owned() };
    let args = |json: &str| Delta::Args { id: "c".to_owned(), json: json.to_owned() };
    for (said_args, expected) in [
        (r#"{"a": 1, "b": "x y"}"#, vec![r#"call c + {"a": 1, "b": "x y"}"#]),
        (r#"{ "a": 1, "b": "x "#, vec![r#"call c + { "a": 1, "b": "x "#, r#"call c + y"}"#]),
        ("", vec![r#"call c + {"a":1,"b":"x y"}"#]),
        (
            r#"{"z""#,
            vec![
                r#"call c + {"z""#,
                r#"CUSTOM {"name":"hotseat.correction","value":{"toolCallId":"c","arguments":{"a":1,"b":"x y"}}}"#,
            ],
        ),
    ] {
        let mut run = Run::new(start());
        run.piece("root", text("Let me see."))
            .piece("root", begin())
            .piece("root", args(said_args));
        let whole =
            json!([{"text": "Let me see."}, call("c", "add", &json!({"a": 1, "b": "x y"}))]);
        run.event(&said("root", &whole));
        let lines = run.short();
        assert_eq!(lines[4..6], ["text i:0 end", "call c of add in i:0"]);
        assert_eq!(lines[6..lines.len() - 1], expected);
        assert_eq!(lines.last().unwrap(), "call c end");
    }
}

#[test]
fn results_come_once_and_only_for_calls() {
    let events = [
        said("root", &json!([call("c", "add", &json!({}))])),
        said("root", &json!([result("c", "add", &json!({"n": 4}))])),
        said("root", &json!([result("c", "add", &json!({"n": 4}))])),
        said("root", &json!([result("c", "add", &json!({"n": 5}))])),
        said("root", &json!([result("x", "add", &json!(1))])),
    ];
    assert_eq!(
        of_events(&events)[3..],
        [
            r#"result c:result of c: {"n":4}"#,
            r#"result c:result:2 of c: {"n":5}"#,
            r#"CUSTOM {"name":"hotseat.part","value":{"part":{"function_response":{"id":"x","name":"add","response":1}}}}"#,
        ]
    );
}

#[test]
fn files_are_not_dropped() {
    let image = json!({"inlineData": {"mimeType": "image/png", "data": "AAAA"}});
    let with_file = json!({"function_response": {"id": "c", "name": "shot", "response": {"ok": true}, "parts": [image]}});
    let events = [
        said(
            "root",
            &json!([image, {"fileData": {"fileUri": "gs://b/v", "mimeType": "video/mp4"}}, call("c", "shot", &json!({}))]),
        ),
        said("root", &json!([with_file, {"executable_code": {"code": "1+1"}}])),
    ];
    let lines = of_events(&events);
    assert_eq!(
        lines[..2],
        [
            r#"ACTIVITY_SNAPSHOT {"messageId":"i:0:media0","activityType":"hotseat.media","content":{"part":{"type":"image","source":{"type":"data","value":"AAAA","mimeType":"image/png"}}}}"#,
            r#"ACTIVITY_SNAPSHOT {"messageId":"i:0:media1","activityType":"hotseat.media","content":{"part":{"type":"video","source":{"type":"url","value":"gs://b/v","mimeType":"video/mp4"}}}}"#,
        ]
    );
    assert_eq!(
        lines[5..],
        [
            r#"CUSTOM {"name":"hotseat.part","value":{"part":{"executable_code":{"code":"1+1"}}}}"#,
            r#"result c:result of c: [{"type":"text","text":"{\"ok\":true}"},{"type":"image","source":{"type":"data","value":"AAAA","mimeType":"image/png"}}]"#,
        ]
    );
}

#[test]
fn changes_of_the_state_are_real_differences() {
    let delta = |delta: Value| json!({"author": "root", "actions": {"state_delta": delta}});
    let mut run = Run::new(Start { state: json!({"list": [1, 2], "a/b": 1}), ..start() });
    run.event(&delta(json!({"list": [1, 2, 3], "a/b": 1, "temp:x": 9, "new": null})));
    run.event(&delta(json!({"temp:x": 9})));
    run.event(&json!({"author": "user", "actions": {"stateDelta": {"a/b": 2}}}));
    let synced =
        run.translator.sync_state(json!({"list": [1, 2, 3], "a/b": 2}).as_object().unwrap());
    run.take(synced);
    assert_eq!(
        run.short()[2..],
        [
            r#"STATE_DELTA {"delta":[{"op":"add","path":"/list/2","value":3},{"op":"add","path":"/new","value":null}]}"#,
            r#"STATE_DELTA {"delta":[{"op":"replace","path":"/a~1b","value":2}]}"#,
            r#"STATE_DELTA {"delta":[{"op":"remove","path":"/new"}]}"#,
        ]
    );
    let mut run = Run::new(start());
    run.event(&delta(json!({"a": 1}))).event(&delta(json!({"a": 2})));
    assert_eq!(
        run.short()[1..],
        [
            r#"STATE_SNAPSHOT {"snapshot":{"a":1}}"#,
            r#"STATE_DELTA {"delta":[{"op":"replace","path":"/a","value":2}]}"#,
        ]
    );
}

#[test]
fn a_transfer_hands_the_step_over_to_a_sub_agent() {
    let mut run = Run::new(start());
    run.event(&said(
        "root",
        &json!([call("c", "transfer_to_agent", &json!({"agent_name": "sub"}))]),
    ));
    let mut transfer = said("root", &json!([result("c", "transfer_to_agent", &json!({}))]));
    transfer["actions"] = json!({"transferToAgent": "sub"});
    run.event(&transfer).event(&said("sub", &json!([{"text": "Hi"}])));
    run.event(&said("root", &json!([{"text": "Bye"}]))).finish();
    assert_eq!(
        run.short()[6..],
        [
            "step root end",
            r#"SUBAGENT_STARTED {"subagentRunId":"r:sub:1","name":"sub","parentToolCallId":"c"}"#,
            "[r:sub:1] step sub",
            "[r:sub:1] text i:1",
            "[r:sub:1] text i:1 + Hi",
            "[r:sub:1] text i:1 end",
            "[r:sub:1] step sub end",
            r#"SUBAGENT_FINISHED {"subagentRunId":"r:sub:1"}"#,
            "step root",
            "text i:2",
            "text i:2 + Bye",
            "text i:2 end",
            "step root end",
            r#"RUN_FINISHED {"threadId":"t","runId":"r","outcome":{"type":"success"}}"#,
        ]
    );
}

#[test]
fn branches_have_a_sub_agent_each_until_their_parent_goes_on() {
    let branch = |author: &str, branch: &str, text: &str| {
        let mut event = said(author, &json!([{"text": text}]));
        event["branch"] = json!(branch);
        event
    };
    let mut run = Run::new(start());
    run.event(&branch("a", "p.a", "1"))
        .event(&branch("b", "p.b", "2"))
        .event(&branch("a", "p.a", "3"));
    run.event(&said("root", &json!([{"text": "4"}])));
    let lines = run.short();
    let of = |prefix: &str| lines.iter().filter(|line| line.starts_with(prefix)).count();
    assert_eq!((of("SUBAGENT_STARTED"), of("SUBAGENT_FINISHED")), (2, 2));
    assert!(lines.contains(&"[r:a:0] text i:p.a:1 + 3".to_owned()));
    let ended = lines.iter().rposition(|line| line.starts_with("SUBAGENT_FINISHED")).unwrap();
    assert_eq!(lines[ended + 1], "step root");
}

#[test]
fn an_agent_that_is_a_tool_works_inside_its_call() {
    let mut inner = said("helper", &json!([{"text": "thinking"}]));
    inner["invocation_id"] = json!("j");
    let mut run = Run::new(start());
    run.event(&said("root", &json!([call("c", "helper", &json!({}))]))).inner(&inner, "c");
    run.event(&said("root", &json!([result("c", "helper", &json!({"result": "ok"}))])));
    assert_eq!(
        run.short()[5..],
        [
            r#"SUBAGENT_STARTED {"subagentRunId":"r:helper:1","name":"helper","parentToolCallId":"c"}"#,
            "[r:helper:1] step helper",
            "[r:helper:1] text j:0",
            "[r:helper:1] text j:0 + thinking",
            "[r:helper:1] text j:0 end",
            "[r:helper:1] step helper end",
            r#"SUBAGENT_FINISHED {"subagentRunId":"r:helper:1"}"#,
            r#"result c:result of c: {"result":"ok"}"#,
        ]
    );
}

fn questions() -> Value {
    let confirm = json!({
        "originalFunctionCall": {"id": "c1", "name": "pay", "args": {}},
        "toolConfirmation": {"hint": "Pay 5?"},
    });
    let mut event = said(
        "root",
        &json!([
            call("q1", "adk_request_confirmation", &confirm),
            call(
                "q2",
                "adk_request_credential",
                &json!({"functionCallId": "c1", "authConfig": {"k": 1}})
            ),
            call(
                "q3",
                "adk_request_input",
                &json!({"message": "Name?", "response_schema": {"type": "string"}})
            ),
            call("q4", "upload", &json!({})),
            call("q5", "quick", &json!({})),
        ]),
    );
    event["longRunningToolIds"] = json!(["q1", "q2", "q3", "q4"]);
    event
}

#[test]
fn questions_end_a_run_as_pending_calls_or_as_interrupts() {
    let quick = said("root", &json!([result("q5", "quick", &json!({}))]));
    let mut run = Run::new(start());
    run.event(&questions()).event(&quick).finish();
    assert_eq!(
        run.short().last().unwrap(),
        r#"RUN_FINISHED {"threadId":"t","runId":"r","outcome":{"type":"success","pendingToolCallIds":["q1","q2","q3","q4"]}}"#
    );

    let mut run = Run::new(Start { interrupts: true, ..start() });
    run.event(&questions()).event(&quick);
    run.event(
        &json!({"author": "user", "content": {"parts": [result("q4", "upload", &json!({}))]}}),
    );
    run.finish();
    let last = serde_json::to_value(run.events.last().unwrap()).unwrap();
    assert_eq!(
        last["outcome"],
        json!({"type": "interrupt", "interrupts": [
            {
                "id": "q1", "reason": "confirmation", "message": "Pay 5?", "toolCallId": "c1",
                "responseSchema": {"type": "object", "properties": {"confirmed": {"type": "boolean"}, "payload": {}}, "required": ["confirmed"]},
                "metadata": {"call": {"id": "c1", "name": "pay", "args": {}}},
            },
            {"id": "q2", "reason": "credential", "toolCallId": "c1", "metadata": {"authConfig": {"k": 1}}},
            {"id": "q3", "reason": "input", "message": "Name?", "responseSchema": {"type": "string"}},
        ]})
    );
}

#[test]
fn a_sub_agent_that_asks_is_suspended() {
    let mut run = Run::new(Start { interrupts: true, ..start() });
    let mut event = said("sub", &json!([call("q", "upload", &json!({}))]));
    event["long_running_tool_ids"] = json!(["q"]);
    run.event(&event).finish();
    let lines = run.short();
    assert!(lines.contains(
        &r#"SUBAGENT_FINISHED {"subagentRunId":"r:sub:0","outcome":{"type":"suspended","interruptIds":["q"]}}"#.to_owned()
    ));
}

#[test]
fn tokens_are_summed_for_each_model() {
    let mut run = Run::new(start());
    for (model, prompt, thoughts) in [("m1", 10, 3), ("m2", 1, 0), ("m1", 5, 1)] {
        run.event(&json!({
            "author": "root", "modelVersion": model,
            "usageMetadata": {"promptTokenCount": prompt, "candidatesTokenCount": 2, "thoughtsTokenCount": thoughts, "cachedContentTokenCount": 1},
        }));
    }
    run.finish();
    let last = serde_json::to_value(run.events.last().unwrap()).unwrap();
    assert_eq!(
        last["usage"],
        json!([
            {"model": "m1", "inputTokens": 15, "outputTokens": 8, "totalTokens": 23, "reasoningTokens": 4, "cachedInputTokens": 2},
            {"model": "m2", "inputTokens": 1, "outputTokens": 2, "totalTokens": 3, "reasoningTokens": 0, "cachedInputTokens": 1},
        ])
    );
}

#[test]
fn failing_and_cancelling_close_what_is_open() {
    let open = || {
        let mut run = Run::new(start());
        run.piece("sub", text("He"))
            .piece("sub", Delta::Call { id: "c".to_owned(), name: "n".to_owned() });
        run.short();
        run
    };
    let mut run = open();
    let events = run.translator.fail("it broke", Some("BROKEN"));
    assert_eq!(
        run.take(events).short(),
        [
            "[r:sub:0] call c end",
            "[r:sub:0] step sub end",
            r#"SUBAGENT_ERROR {"subagentRunId":"r:sub:0","message":"it broke","code":"BROKEN"}"#,
            r#"RUN_ERROR {"message":"it broke","code":"BROKEN"}"#,
        ]
    );
    let mut run = open();
    let events = run.translator.cancel();
    let last = run.take(events).short().pop().unwrap();
    assert_eq!(last, r#"RUN_FINISHED {"threadId":"t","runId":"r","outcome":{"type":"cancelled"}}"#);
    assert!(run.translator.fail("late", None).is_empty());
}

#[test]
fn an_error_in_an_event_keeps_its_text() {
    let mut event = said("root", &json!([{"text": "Sorry"}]));
    event["error_code"] = json!("SAFETY");
    assert_eq!(
        of_events(&[event])[1..],
        [
            "text i:0 + Sorry",
            "text i:0 end",
            r#"CUSTOM {"name":"hotseat.error","value":{"agent":"root","code":"SAFETY"}}"#,
        ]
    );
}

#[test]
fn progress_and_people_are_shown() {
    let mut run = Run::new(start());
    run.short();
    for status in [
        json!({"call_id": "c", "tool_name": "dig", "status": "started"}),
        json!({"call_id": "c", "tool_name": "dig", "status": "progress", "fraction": 0.5, "message": "half"}),
        json!({"call_id": "c", "tool_name": "dig", "status": "progress", "fraction": 0.75}),
        json!({"call_id": "c", "tool_name": "dig", "status": "succeeded"}),
    ] {
        let events = run.translator.progress(&status);
        run.take(events);
    }
    let waits = run.translator.turn_waits("t1", "root");
    let answered = run.translator.turn_answered("t1", "root");
    run.take(waits).take(answered);
    assert_eq!(
        run.short(),
        [
            r#"ACTIVITY_SNAPSHOT {"messageId":"c:progress","activityType":"hotseat.tool_run","content":{"toolCallId":"c","toolName":"dig","status":"progress","message":"half","fraction":0.5}}"#,
            r#"ACTIVITY_DELTA {"messageId":"c:progress","activityType":"hotseat.tool_run","patch":[{"op":"replace","path":"/fraction","value":0.75}]}"#,
            r#"ACTIVITY_DELTA {"messageId":"c:progress","activityType":"hotseat.tool_run","patch":[{"op":"replace","path":"/status","value":"succeeded"}]}"#,
            r#"CUSTOM {"name":"hotseat.turn","value":{"turnId":"t1","agent":"root","state":"waiting"}}"#,
            r#"CUSTOM {"name":"hotseat.turn","value":{"turnId":"t1","agent":"root","state":"answered"}}"#,
        ]
    );
}

#[test]
fn a_run_that_continues_an_invocation_continues_its_ids() {
    let earlier = [
        said("root", &json!([call("c", "pay", &json!({}))])),
        json!({"author": "user", "content": {"parts": [result("c", "pay", &json!({"confirmed": true}))]}}),
    ];
    let mut run = Run::new(with_history(&earlier));
    run.event(&said("root", &json!([result("c", "pay", &json!({"paid": 5}))])));
    run.piece("root", text("Paid")).event(&said("root", &json!([{"text": "Paid."}])));
    assert_eq!(
        run.short()[2..],
        [
            r#"result c:result:2 of c: {"paid":5}"#,
            "text i:1",
            "text i:1 + Paid",
            "text i:1 + .",
            "text i:1 end",
        ]
    );
}

#[test]
fn a_snapshot_has_the_ids_that_were_streamed() {
    let log = [
        json!({"id": "u1", "author": "user", "invocation_id": "i", "content": {"parts": [{"text": "Hi"}]}}),
        said(
            "root",
            &json!([{"text": "hm", "thought": true}, {"text": "I look."}, call("c", "look", &json!({"a": 1}))]),
        ),
        said("root", &json!([result("c", "look", &json!({"ok": true}))])),
        said("sub", &json!([{"text": "Done"}])),
    ];
    let messages = messages_snapshot(&log, &|_, _| Some("client-1".to_owned()));
    assert_eq!(
        json!(messages),
        json!([
            {"id": "client-1", "role": "user", "content": "Hi"},
            {"id": "i:0:reasoning", "role": "reasoning", "content": "hm"},
            {"id": "i:0", "role": "assistant", "content": "I look.", "toolCalls": [
                {"id": "c", "type": "function", "function": {"name": "look", "arguments": "{\"a\":1}"}},
            ]},
            {"id": "c:result", "role": "tool", "content": "{\"ok\":true}", "toolCallId": "c"},
            {"id": "i:1", "role": "assistant", "content": "Done"},
        ])
    );
    assert_eq!(messages_snapshot(&log[..1], &|_, _| None)[0].id, "u1");

    let mut run = Run::new(start());
    run.piece("root", text("I lo"));
    for event in &log {
        run.event(event);
    }
    let streamed = run.short();
    for message in &messages[1..] {
        assert!(
            streamed.iter().any(|line| line.contains(&message.id)),
            "{} {streamed:#?}",
            message.id
        );
    }
}

#[test]
fn a_late_client_gets_what_is_open_and_reads_on() {
    let log = [said("root", &json!([{"text": "One."}]))];
    let mut run = Run::new(Start { state: json!({"a": 1}), ..start() });
    run.event(&log[0]);
    run.piece("sub", Delta::Thought("hm".to_owned())).piece("sub", text("Tw"));
    run.short();

    let mut late = run.translator.verifier();
    let first = run.translator.reattach(messages_snapshot(&log, &|_, _| None));
    let lines: Vec<String> = first.iter().map(short).filter(|line| line != "-").collect();
    assert_eq!(
        lines,
        [
            r#"RUN_STARTED {"threadId":"t","runId":"r","protocolVersion":"1.0"}"#,
            r#"STATE_SNAPSHOT {"snapshot":{"a":1}}"#,
            r#"MESSAGES_SNAPSHOT {"messages":[{"id":"i:0","role":"assistant","content":"One."}]}"#,
            r#"SUBAGENT_STARTED {"subagentRunId":"r:sub:1","name":"sub"}"#,
            "[r:sub:1] step sub",
            r#"[r:sub:1] REASONING_START {"messageId":"i:1:reasoning"}"#,
            "[r:sub:1] i:1:reasoning + hm",
            r#"[r:sub:1] REASONING_END {"messageId":"i:1:reasoning"}"#,
            "[r:sub:1] text i:1",
            "[r:sub:1] text i:1 + Tw",
        ]
    );
    let mut rest = run.translator.event(&said("sub", &json!([{"text": "Two."}])));
    rest.extend(run.translator.finish(None));
    for event in first.iter().chain(&rest) {
        late.check(event).unwrap();
    }
    assert!(late.is_over());
}

#[test]
fn the_users_own_words_are_not_repeated() {
    let user = json!({"author": "user", "content": {"parts": [{"text": "Hi"}]}});
    assert!(of_events(&[user]).is_empty());
    let mut run = Run::new(start());
    let pieces = run.translator.piece(&piece("user", text("Hi")));
    assert!(pieces.is_empty());
}

#[test]
fn events_carry_their_time_in_milliseconds() {
    let mut event = said("root", &json!([{"text": "x"}]));
    event["timestamp"] = json!(1_700_000_000.25);
    let mut run = Run::new(start());
    run.event(&event);
    let times: Vec<Option<i64>> =
        run.events[1..].iter().map(|event: &Event| event.timestamp).collect();
    assert!(times.iter().all(|time| *time == Some(1_700_000_000_250)), "{times:?}");
    assert!(matches!(run.events[0].body, Body::RunStarted { .. }));
}
