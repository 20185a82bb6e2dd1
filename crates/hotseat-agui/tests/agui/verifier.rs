use hotseat_agui::patch::Op;
use hotseat_agui::{
    Body, Content, EncryptedSubtype, Event, Interrupt, Message, MessageBody, Outcome,
    ReasoningRole, Usage, Verifier,
};
use serde_json::{Map, json};

fn id(text: &str) -> String {
    text.to_owned()
}

fn started() -> Body {
    Body::RunStarted {
        thread_id: id("t"),
        run_id: id("r"),
        protocol_version: None,
        parent_run_id: None,
        input: None,
    }
}

fn finished(outcome: Option<Outcome>) -> Body {
    Body::RunFinished { thread_id: id("t"), run_id: id("r"), result: None, outcome, usage: vec![] }
}

fn error() -> Body {
    Body::RunError { message: id("m"), code: None, usage: vec![] }
}

fn text(message: &str) -> Body {
    Body::TextMessageStart { message_id: id(message), role: None, name: None }
}

fn text_end(message: &str) -> Body {
    Body::TextMessageEnd { message_id: id(message) }
}

fn call(call: &str, parent: Option<&str>) -> Body {
    Body::ToolCallStart {
        tool_call_id: id(call),
        tool_call_name: id("tool"),
        parent_message_id: parent.map(id),
    }
}

fn call_end(call: &str) -> Body {
    Body::ToolCallEnd { tool_call_id: id(call) }
}

fn result(call: &str) -> Body {
    let content = Content::Text(id("{}"));
    Body::ToolCallResult { message_id: id("res"), tool_call_id: id(call), content, role: None }
}

fn sub(name: &str, parent: Option<&str>) -> Body {
    Body::SubagentStarted {
        id: id(name),
        name: id("n"),
        description: None,
        parent_subagent_run_id: parent.map(id),
        parent_tool_call_id: None,
        parent_message_id: None,
    }
}

fn sub_end(name: &str) -> Body {
    Body::SubagentFinished { id: id(name), result: None, outcome: None }
}

fn step(name: &str) -> Body {
    Body::StepStarted { step_name: id(name) }
}

fn thought(message: &str) -> Body {
    Body::ReasoningMessageStart { message_id: id(message), role: ReasoningRole::Reasoning }
}

/// The violation of the last event; those before it must be fine.
fn check(events: &[Event]) -> Result<(), String> {
    let mut verifier = Verifier::new("t", "r", [id("earlier")]);
    let last = events.len() - 1;
    for (index, event) in events.iter().enumerate() {
        match verifier.check(event) {
            Err(violation) if index == last => return Err(violation.to_string()),
            other => assert_eq!(other, Ok(()), "event {index}"),
        }
    }
    Ok(())
}

fn of(tag: &str, body: Body) -> Event {
    Event::of(Some(tag), body)
}

macro_rules! run {
    ($($body:expr),* $(,)?) => { check(&[Event::new(started()), $(Event::from_body($body)),*]) };
}

trait FromBody<T> {
    fn from_body(body: T) -> Event;
}
impl FromBody<Body> for Event {
    fn from_body(body: Body) -> Event {
        Event::new(body)
    }
}
impl FromBody<Event> for Event {
    fn from_body(event: Event) -> Event {
        event
    }
}

fn broken(result: &Result<(), String>, reason: &str) {
    let message = result.as_ref().unwrap_err();
    assert!(message.ends_with(&format!(": {reason}")), "{message}");
}

#[test]
fn a_run_begins_and_ends_once() {
    broken(&check(&[Event::new(text("m"))]), "the run has not started");
    assert_eq!(check(&[Event::new(error())]), Ok(()));
    broken(&run![started()], "the run has started already");
    broken(&run![finished(None), error()], "the run is over");
    broken(&run![error(), text("m")], "the run is over");
    broken(&run![finished(None), finished(None)], "the run is over");
    let other = Body::RunFinished {
        thread_id: id("t"),
        run_id: id("x"),
        result: None,
        outcome: None,
        usage: vec![],
    };
    broken(&run![other], "it names run \"x\" of thread \"t\", not this one");
}

#[test]
fn everything_is_closed_before_the_run_finishes() {
    let reasoning = Body::ReasoningStart { message_id: id("m") };
    for (open, reason) in [
        (text("m"), "text message \"m\" is still open"),
        (call("c", None), "tool call \"c\" is still open"),
        (step("s"), "step \"s\" is still open"),
        (reasoning, "reasoning \"m\" is still open"),
        (thought("m"), "reasoning message \"m\" is still open"),
        (sub("s", None), "sub-agent \"s\" is still at work"),
    ] {
        broken(&run![open.clone(), finished(None)], reason);
        assert_eq!(run![open, error()], Ok(()));
    }
}

#[test]
fn what_goes_on_was_begun_and_by_the_same_agent() {
    broken(&run![text("m"), text("m")], "text message \"m\" is already open");
    broken(&run![text("m"), text_end("m"), text_end("m")], "text message \"m\" is not open");
    assert_eq!(run![text("m"), text_end("m"), text("m"), text_end("m")], Ok(()));
    let more = Body::ReasoningMessageContent { message_id: id("m"), delta: id("x") };
    broken(&run![more], "reasoning message \"m\" is not open");
    let args = Body::ToolCallArgs { tool_call_id: id("c"), delta: id("x") };
    broken(&run![call("c", None), call_end("c"), args], "tool call \"c\" is not open");
    broken(&run![text("m"), of("s", text_end("m"))], "sub-agent \"s\" was never started");
    broken(
        &run![sub("s", None), of("s", text("m")), text_end("m")],
        "\"m\" belongs to sub-agent \"s\", not to the root agent",
    );
    broken(
        &run![sub("s", None), text("m"), of("s", call("c", Some("m")))],
        "\"m\" belongs to the root agent, not to sub-agent \"s\"",
    );
    broken(
        &run![step("s"), sub("a", None), of("a", Body::StepFinished { step_name: id("s") })],
        "step \"s\" is not open for whoever finishes it",
    );
    assert_eq!(run![step("s"), sub("a", None), of("a", step("s"))], Ok(()));
    broken(&run![step("s"), step("s")], "step \"s\" is already open");
}

#[test]
fn a_result_belongs_to_a_call() {
    broken(&run![result("c")], "nobody made the tool call \"c\"");
    broken(
        &run![call("c", None), result("c")],
        "the arguments of tool call \"c\" are not complete",
    );
    assert_eq!(run![call("c", None), call_end("c"), result("c")], Ok(()));
    assert_eq!(run![result("earlier")], Ok(()));
    broken(&run![call("earlier", None)], "tool call \"earlier\" was made in an earlier run");
    let pending = |ids: &[&str]| {
        finished(Some(Outcome::Success {
            pending_tool_call_ids: ids.iter().copied().map(id).collect(),
        }))
    };
    assert_eq!(run![call("c", None), call_end("c"), pending(&["c"])], Ok(()));
    broken(
        &run![call("c", None), call_end("c"), result("c"), pending(&["c"])],
        "the pending tool call \"c\" was answered",
    );
    broken(
        &run![call("c", None), call_end("c"), call("d", None), call_end("d"), pending(&["c"])],
        "the unanswered tool call \"d\" is not pending",
    );
    broken(&run![pending(&["x"])], "nobody made the pending tool call \"x\"");
}

#[test]
fn a_change_fits_what_the_client_has() {
    let snapshot = || Body::StateSnapshot { snapshot: json!({"a": 1}) };
    let delta = |path: &str| Body::StateDelta { delta: vec![Op::Remove { path: id(path) }] };
    broken(&run![delta("/a")], "the client has no state yet that it could change");
    assert_eq!(run![snapshot(), delta("/a")], Ok(()));
    assert!(run![snapshot(), delta("/a"), delta("/a")].unwrap_err().contains("does not apply"));
    let activity = Body::ActivitySnapshot {
        message_id: id("m"),
        activity_type: id("t"),
        content: Map::from_iter([(id("k"), json!(1))]),
        replace: None,
    };
    let change = |message: &str, path: &str| Body::ActivityDelta {
        message_id: id(message),
        activity_type: id("t"),
        patch: vec![Op::Remove { path: id(path) }],
    };
    broken(&run![change("m", "/k")], "there is no activity \"m\"");
    assert_eq!(run![activity.clone(), change("m", "/k")], Ok(()));
    assert!(run![activity, change("m", "/x")].is_err());
}

#[test]
fn a_sub_agent_works_once() {
    broken(&run![sub("s", None), sub("s", None)], "sub-agent \"s\" is already at work");
    broken(
        &run![sub("s", None), sub_end("s"), sub("s", None)],
        "sub-agent \"s\" has ended and cannot begin again",
    );
    broken(&run![sub_end("s")], "sub-agent \"s\" is not at work");
    broken(&run![sub("s", Some("p"))], "its parent \"p\" was never started");
    assert_eq!(run![sub("p", None), sub_end("p"), sub("s", Some("p"))], Ok(()));
    let tagged = Event::of(Some("s"), error());
    broken(
        &run![sub("s", None), tagged],
        "it belongs to no sub-agent, so it cannot carry the tag of one",
    );
}

#[test]
fn the_first_chunk_says_what_it_is() {
    let text = |message: Option<&str>| Body::TextMessageChunk {
        message_id: message.map(id),
        role: None,
        delta: None,
        name: None,
    };
    let call = |call: Option<&str>, name: Option<&str>| Body::ToolCallChunk {
        tool_call_id: call.map(id),
        tool_call_name: name.map(id),
        parent_message_id: None,
        delta: None,
    };
    broken(&run![text(None)], "the first chunk has no id");
    assert_eq!(run![text(Some("m")), text(None), text(Some("n"))], Ok(()));
    broken(&run![text(Some("m")), step("s"), text(None)], "the first chunk has no id");
    broken(&run![call(Some("c"), None)], "the first chunk of \"c\" names no tool");
    assert_eq!(run![call(Some("c"), Some("n")), call(None, None), result("c")], Ok(()));
}

#[test]
fn interrupts_usage_and_secrets_make_sense() {
    let interrupts = |ids: &[&str]| {
        let interrupts = ids.iter().map(|one| Interrupt { id: id(one), ..Interrupt::default() });
        finished(Some(Outcome::Interrupt { interrupts: interrupts.collect() }))
    };
    broken(&run![interrupts(&[])], "it is an interrupt, but names none");
    broken(&run![interrupts(&["a", "a"])], "two interrupts have the same id");
    let usage = vec![Usage { input_tokens: Some(1 << 53), ..Usage::default() }];
    broken(
        &run![Body::RunError { message: id("m"), code: None, usage }],
        "a token count is beyond what JavaScript can count",
    );
    let secret = Body::ReasoningEncryptedValue {
        subtype: EncryptedSubtype::Message,
        entity_id: id("m"),
        encrypted_value: id("s"),
    };
    broken(&run![secret.clone()], "there is nothing with the id \"m\" that it could belong to");
    assert_eq!(run![thought("m"), secret], Ok(()));
}

#[test]
fn a_snapshot_says_whose_the_messages_are() {
    let assistant = MessageBody::Assistant {
        content: None,
        name: None,
        tool_calls: vec![hotseat_agui::ToolCall::new("c", "tool", id("{}"))],
        encrypted_value: None,
    };
    let messages = vec![Message::new("m", assistant)];
    let snapshot = || Body::MessagesSnapshot { messages: messages.clone() };
    assert_eq!(run![snapshot(), result("c")], Ok(()));
    broken(
        &run![sub("s", None), snapshot(), of("s", text("m"))],
        "\"m\" belongs to the root agent, not to sub-agent \"s\"",
    );
}
