//! Whatever a run does, its stream is valid and ends once.

use hotseat_agui::{Encoding, Event, History, Start, Translator, Verifier, messages_snapshot};
use hotseat_core::{Delta, Piece};
use proptest::prelude::*;
use serde_json::{Value, json};

#[derive(Debug, Clone)]
enum Step {
    Piece(Piece, Option<String>),
    Event(Value, Option<String>),
    Progress(Value),
    Sync(Value),
    Turn(String),
    Reattach,
}

#[derive(Debug, Clone)]
enum End {
    Finish,
    Fail,
    Cancel,
}

/// Few words, so that they meet; some of them hostile.
fn word() -> impl Strategy<Value = String> {
    prop::sample::select(vec!["", "a", "b", "a:b", "a~2", "c/d~", "root", "sub", "user", "ü😀"])
        .prop_map(str::to_owned)
}

fn branch() -> impl Strategy<Value = Option<String>> {
    prop::option::of(prop::sample::select(vec!["", "p", "p.x", "p.y", "q"]).prop_map(str::to_owned))
}

fn inside() -> impl Strategy<Value = Option<String>> {
    prop_oneof![3 => Just(None), 1 => word().prop_map(Some)]
}

fn piece() -> impl Strategy<Value = Piece> {
    let delta = prop_oneof![
        word().prop_map(Delta::Text),
        word().prop_map(Delta::Thought),
        (word(), word()).prop_map(|(id, name)| Delta::Call { id, name }),
        (word(), prop::sample::select(vec!["{", "{\"a\": 1", "}", "{}"]))
            .prop_map(|(id, json)| Delta::Args { id, json: json.to_owned() }),
    ];
    (word(), word(), branch(), delta).prop_map(|(invocation_id, author, branch, delta)| Piece {
        invocation_id,
        author,
        branch,
        after_event_id: None,
        delta,
    })
}

fn json_value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(json!(null)),
        Just(json!(1)),
        Just(json!({})),
        word().prop_map(Value::from)
    ];
    leaf.prop_recursive(2, 8, 3, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..3).prop_map(Value::from),
            prop::collection::hash_map(word(), inner, 0..3)
                .prop_map(|map| Value::Object(map.into_iter().collect())),
        ]
    })
}

fn name() -> impl Strategy<Value = String> {
    prop::sample::select(vec![
        "add",
        "transfer_to_agent",
        "adk_request_confirmation",
        "adk_request_input",
        "",
    ])
    .prop_map(str::to_owned)
}

fn part() -> impl Strategy<Value = Value> {
    prop_oneof![
        word().prop_map(|text| json!({"text": text})),
        word().prop_map(|text| json!({"text": text, "thought": true, "thoughtSignature": "s"})),
        word().prop_map(|text| json!({"text": text, "thought_signature": "s"})),
        (word(), name(), json_value())
            .prop_map(|(id, name, args)| json!({"functionCall": {"id": id, "name": name, "args": args}, "thought_signature": "s"})),
        (word(), name(), json_value())
            .prop_map(|(id, name, response)| json!({"function_response": {"id": id, "name": name, "response": response}})),
        Just(json!({"inline_data": {"mime_type": "image/png", "data": "AA"}})),
        Just(json!({"executable_code": {"code": "1"}})),
        json_value(),
    ]
}

fn adk_event() -> impl Strategy<Value = Value> {
    let parts = prop::collection::vec(part(), 0..4);
    let state = prop::option::of(json_value());
    let transfer = prop::option::of(word());
    (word(), word(), branch(), parts, state, transfer, any::<bool>(), any::<u8>()).prop_map(
        |(invocation, author, branch, parts, state, transfer, long_running, odd)| {
            json!({
                "invocation_id": invocation, "author": author, "branch": branch,
                "content": {"parts": parts},
                "actions": {"stateDelta": state, "transfer_to_agent": transfer},
                "long_running_tool_ids": if long_running { json!(["a", "b"]) } else { json!(null) },
                "partial": odd < 30,
                "timestamp": if odd % 2 == 0 { json!(1.5) } else { json!("never") },
                "error_code": if odd % 5 == 0 { json!("E") } else { json!(null) },
                "usage_metadata": {"prompt_token_count": u64::MAX, "candidates_token_count": odd},
            })
        },
    )
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        6 => (piece(), inside()).prop_map(|(piece, inside)| Step::Piece(piece, inside)),
        6 => (adk_event(), inside()).prop_map(|(event, inside)| Step::Event(event, inside)),
        1 => json_value().prop_map(|event| Step::Event(event, None)),
        1 => (word(), name(), prop::option::of(0.0..1.0)).prop_map(|(id, status, fraction)| {
            let status = if status.is_empty() { "progress" } else { "succeeded" };
            Step::Progress(json!({"call_id": id, "tool_name": "t", "status": status, "fraction": fraction}))
        }),
        1 => json_value().prop_map(Step::Sync),
        1 => word().prop_map(Step::Turn),
        1 => Just(Step::Reattach),
    ]
}

struct Watch {
    verifier: Verifier,
    events: Vec<Event>,
}

impl Watch {
    fn take(&mut self, events: &[Event]) {
        for event in events {
            if let Err(violation) = self.verifier.check(event) {
                panic!("{violation}: {event:?}\nafter {:#?}", self.events);
            }
            self.events.push(event.clone());
        }
    }
}

fn show(clients: &mut [Watch], events: &[Event]) {
    for client in clients {
        client.take(events);
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_run_makes_a_valid_stream_that_ends_once(
        earlier in prop::collection::vec(adk_event(), 0..3),
        state in json_value(),
        interrupts in any::<bool>(),
        steps in prop::collection::vec(step(), 0..14),
        end in prop::sample::select(vec![End::Finish, End::Fail, End::Cancel]),
    ) {
        let mut translator = Translator::new(Start {
            thread_id: "t".to_owned(), run_id: "r".to_owned(), agent: "root".to_owned(),
            state, interrupts, history: History::of(&earlier), ..Start::default()
        });
        let mut log = earlier;
        let mut clients = vec![Watch { verifier: translator.verifier(), events: Vec::new() }];
        for step in steps {
            let events = match &step {
                Step::Piece(piece, None) => translator.piece(piece),
                Step::Piece(piece, Some(call)) => translator.inner_piece(piece, call),
                Step::Event(event, inside) => {
                    log.push(event.clone());
                    match inside {
                        None => translator.event(event),
                        Some(call) => translator.inner_event(event, call),
                    }
                }
                Step::Progress(payload) => translator.progress(payload),
                Step::Sync(state) => match state.as_object() {
                    Some(state) => translator.sync_state(state),
                    None => translator.start(),
                },
                Step::Turn(turn) if turn.is_empty() => translator.turn_answered("a", "root"),
                Step::Turn(turn) => translator.turn_waits(turn, "root"),
                Step::Reattach => {
                    let begun = translator.start();
                    show(&mut clients, &begun);
                    let mut late = Watch { verifier: translator.verifier(), events: Vec::new() };
                    late.take(&translator.reattach(messages_snapshot(&log, &|_, _| None)));
                    clients.push(late);
                    Vec::new()
                }
            };
            show(&mut clients, &events);
        }
        let last = match end {
            End::Finish => translator.finish(Some(json!("done"))),
            End::Fail => translator.fail("it broke", Some("BROKEN")),
            End::Cancel => translator.cancel(),
        };
        show(&mut clients, &last);
        for client in &clients {
            prop_assert_eq!(client.events.iter().filter(|event| event.is_terminal()).count(), 1);
            prop_assert!(client.verifier.is_over());
            for event in &client.events {
                prop_assert!(Encoding::Sse.frames(event, None).is_ok());
                prop_assert!(Encoding::Protobuf.frames(event, None).is_ok());
            }
        }
        prop_assert!(translator.finish(None).is_empty());
        prop_assert!(translator.fail("again", None).is_empty());
        let late = json!({"author": "root", "content": {"parts": [{"text": "x"}]}});
        prop_assert!(translator.event(&late).is_empty());
    }
}
