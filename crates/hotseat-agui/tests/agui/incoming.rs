use hotseat_agui::{Incoming, InputError, RunAgentInput, incoming};
use serde_json::{Value, json};

fn read(value: &Value) -> Result<RunAgentInput, InputError> {
    RunAgentInput::read(value)
}

fn with_messages(messages: &Value) -> Value {
    json!({"threadId": "t", "runId": "r", "messages": messages})
}

fn sort(messages: &Value, known: &[&str]) -> Incoming {
    incoming(&read(&with_messages(messages)).unwrap(), &|id| known.contains(&id))
}

#[test]
fn what_clients_leave_out_or_null_is_absent() {
    let input = read(&json!({
        "threadId": "t", "runId": "r", "messages": [], "state": null, "tools": null,
        "forwardedProps": null, "parentRunId": null, "somethingNew": 1,
    }))
    .unwrap();
    assert_eq!((input.state.as_ref(), input.tools.len(), input.context.len()), (None, 0, 0));
    assert_eq!(
        input.to_value(),
        json!({"threadId": "t", "runId": "r", "messages": [], "tools": [], "context": []})
    );
}

#[test]
fn what_is_wrong_is_named() {
    let user =
        |content: Value| with_messages(&json!([{"id": "1", "role": "user", "content": content}]));
    for (input, message) in [
        (json!([]), " must be an object, not an array"),
        (json!({"runId": "r", "messages": []}), "threadId is missing"),
        (json!({"threadId": "t", "runId": "r"}), "messages is missing"),
        (
            json!({"threadId": 1, "runId": "r", "messages": []}),
            "threadId must be a string, not a number",
        ),
        (
            with_messages(&json!([{"id": "1", "role": "robot", "content": "x"}])),
            "messages[0].role is \"robot\", which AG-UI 1.0 does not have: use one of developer, system, assistant, user, tool, activity, reasoning",
        ),
        (
            user(json!([{"type": "hologram"}])),
            "messages[0].content[0].type is \"hologram\", which AG-UI 1.0 does not have: use one of text, image, audio, video, document",
        ),
        (
            user(
                json!([{"type": "image", "source": {"type": "data", "value": "!", "mimeType": "image/png"}}]),
            ),
            "messages[0].content[0].source.value must be base64, not other text",
        ),
        (user(json!({"a": 1})), "messages[0].content must be a string or an array, not an object"),
        (
            json!({"threadId": "t", "runId": "r", "messages": [], "resume": [{"interruptId": "i", "status": "maybe"}]}),
            "resume[0].status is \"maybe\", which AG-UI 1.0 does not have: use one of resolved, cancelled",
        ),
    ] {
        assert_eq!(read(&input).unwrap_err().to_string(), message);
    }
    let many = json!(vec![json!({"id": "1", "role": "user", "content": ""}); 10_001]);
    assert!(matches!(read(&with_messages(&many)), Err(InputError::TooMany { limit: 10_000, .. })));
}

#[test]
fn only_what_is_new_is_run() {
    let messages = json!([
        {"id": "1", "role": "user", "content": "old"},
        {"id": "2", "role": "assistant", "content": "answer"},
        {"id": "3", "role": "user", "content": "new"},
        {"id": "4", "role": "user", "content": "and more"},
    ]);
    let found = sort(&messages, &["1", "2"]);
    assert_eq!(
        found.user_content,
        Some(json!({"role": "user", "parts": [{"text": "new"}, {"text": "and more"}]}))
    );
    assert_eq!(found.message_ids, ["3", "4"]);
    assert_eq!(found.context_text, None);

    let again = sort(&messages, &["1", "2", "3", "4"]);
    assert_eq!((again.user_content, again.message_ids), (None, vec![]));
}

#[test]
fn a_conversation_from_elsewhere_is_told_and_not_run() {
    let messages = json!([
        {"id": "0", "role": "system", "content": "Be brief."},
        {"id": "1", "role": "user", "content": "old"},
        {"id": "2", "role": "assistant", "content": "answer"},
        {"id": "3", "role": "user", "content": "new"},
    ]);
    let mut input = with_messages(&messages);
    input["context"] = json!([{"description": "page", "value": "home"}]);
    let found = incoming(&read(&input).unwrap(), &|_| false);
    assert_eq!(found.user_content, Some(json!({"role": "user", "parts": [{"text": "new"}]})));
    assert_eq!(
        found.context_text.unwrap(),
        "Be brief.\n\npage: home\n\nThe conversation so far:\nUser: old\nAssistant: answer"
    );
}

#[test]
fn files_keep_their_bytes_or_their_address() {
    let messages = json!([{"id": "1", "role": "user", "content": [
        {"type": "text", "text": "look"},
        {"type": "image", "source": {"type": "data", "value": "AAAA", "mimeType": "image/png"}},
        {"type": "audio", "source": {"type": "url", "value": "data:audio/wav;base64,BBBB"}},
        {"type": "document", "source": {"type": "url", "value": "https://x/a.pdf"}},
        {"type": "video", "source": {"type": "file", "value": "files/1", "provider": "p", "mimeType": "video/mp4"}},
        {"type": "binary", "mimeType": "application/pdf", "data": "CCCC", "filename": "c.pdf"},
        {"type": "binary", "mimeType": "image/png", "url": "https://x/d.png"},
        {"type": "binary", "mimeType": "image/png", "id": "file-9"},
    ]}]);
    assert_eq!(
        sort(&messages, &[]).user_content.unwrap()["parts"],
        json!([
            {"text": "look"},
            {"inline_data": {"mime_type": "image/png", "data": "AAAA"}},
            {"inline_data": {"mime_type": "audio/wav", "data": "BBBB"}},
            {"file_data": {"file_uri": "https://x/a.pdf"}},
            {"file_data": {"file_uri": "files/1", "mime_type": "video/mp4"}},
            {"inline_data": {"mime_type": "application/pdf", "data": "CCCC", "display_name": "c.pdf"}},
            {"file_data": {"file_uri": "https://x/d.png", "mime_type": "image/png"}},
            {"file_data": {"file_uri": "file-9", "mime_type": "image/png"}},
        ])
    );
}

#[test]
fn all_new_results_of_tools_are_taken() {
    let messages = json!([
        {"id": "a", "role": "assistant", "toolCalls": [
            {"id": "c1", "type": "function", "function": {"name": "x", "arguments": "{}"}},
        ]},
        {"id": "1", "role": "tool", "toolCallId": "c1", "content": "{\"ok\": true}"},
        {"id": "2", "role": "tool", "toolCallId": "c2", "content": "plain"},
        {"id": "3", "role": "tool", "toolCallId": "c3", "content": "", "error": "broken"},
        {"id": "4", "role": "tool", "toolCallId": "c4", "content": [
            {"type": "text", "text": "[1]"},
            {"type": "image", "source": {"type": "data", "value": "AAAA", "mimeType": "image/png"}},
        ]},
        {"id": "5", "role": "tool", "toolCallId": "c5", "content": "known"},
    ]);
    let found = sort(&messages, &["5"]);
    let responses: Vec<(String, Value)> = found
        .tool_results
        .iter()
        .map(|result| (result.tool_call_id.clone(), result.response()))
        .collect();
    assert_eq!(
        json!(responses),
        json!([
            ["c1", {"ok": true}],
            ["c2", {"result": "plain"}],
            ["c3", {"error": "broken"}],
            ["c4", {"result": [1]}],
        ])
    );
    assert_eq!(
        found.tool_results[3].parts,
        [json!({"inline_data": {"mime_type": "image/png", "data": "AAAA"}})]
    );
}
