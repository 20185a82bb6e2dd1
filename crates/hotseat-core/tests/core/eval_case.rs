use hotseat_core::{MAX_VIOLATIONS, case_problems};
use serde_json::{Value, json};

fn problems(case: &Value) -> Vec<String> {
    let line = |problem: hotseat_core::Violation| format!("{} {}", problem.path, problem.message);
    case_problems(case).into_iter().map(line).collect()
}

fn with_invocation(invocation: &Value) -> Value {
    json!({"eval_id": "a", "conversation": [invocation]})
}

#[test]
fn a_good_case_has_no_problems_in_either_spelling() {
    let content = json!({"parts": [{"text": "hi"}], "role": "user"});
    let uses = json!([{"id": "c", "name": "f", "args": {}}, {"name": "g"}]);
    let responses = json!([{"id": "c", "name": "f", "response": {}}, {"name": "g"}]);
    let snake = with_invocation(&json!({
        "invocation_id": "i", "user_content": content, "final_response": null, "rubrics": null,
        "intermediate_data": {"tool_uses": uses, "tool_responses": responses, "intermediate_responses": []},
    }));
    let camel = json!({"evalId": "a", "x-note": 1, "conversation": [{
        "invocationId": "i", "userContent": content, "creationTimestamp": 1.5,
        "intermediateData": {"toolUses": uses, "toolResponses": responses},
    }]});
    let events = with_invocation(&json!({"user_content": content,
        "intermediate_data": {"invocation_events": [{"author": "root", "content": null}]}}));
    let scenario = json!({"eval_id": "a", "conversation": null, "conversationScenario": {"starting_prompt": "x"}});
    for case in [snake, camel, events, scenario] {
        assert_eq!(problems(&case), [""; 0], "{case}");
    }
}

#[test]
fn what_people_get_wrong_is_named_where_it_is() {
    for (case, expected) in [
        (json!([]), vec![" must be an object, not an array"]),
        (
            json!({}),
            vec![
                "/eval_id is required",
                "/conversation is required, unless there is a conversation_scenario",
            ],
        ),
        (json!({"eval_id": " ", "conversation": []}), vec!["/eval_id is empty"]),
        (
            json!({"evalId": "a:b", "conversation": {}, "conversation_scenario": {}}),
            vec![
                "/evalId has a colon, at which `adk eval file.json:eval_id` would cut it",
                "/conversation_scenario cannot stand beside a conversation: only one of them counts",
                "/conversation must be an array, not an object",
            ],
        ),
        (
            with_invocation(&json!({"user_content": {"parts": []}, "note/1": 1})),
            vec![
                "/conversation/0/note~11 is not a known field",
                "/conversation/0/user_content/parts is empty",
            ],
        ),
        (with_invocation(&json!({})), vec!["/conversation/0/user_content is required"]),
        (
            with_invocation(&json!({"userContent": {"role": "user"}, "final_response": "x"})),
            vec![
                "/conversation/0/userContent/parts is required",
                "/conversation/0/final_response must be an object, not a string",
            ],
        ),
        (
            with_invocation(&json!({
                "user_content": {"parts": [{"text": "x"}]},
                "intermediate_data": {
                    "tool_uses": [{"id": "c", "args": []}, {"name": ""}],
                    "tool_responses": [{"id": "d", "name": "f"}],
                    "toolCalls": [],
                },
            })),
            vec![
                "/conversation/0/intermediate_data/toolCalls is not a known field",
                "/conversation/0/intermediate_data/tool_uses/0/name is required",
                "/conversation/0/intermediate_data/tool_uses/0/args must be an object, not an array",
                "/conversation/0/intermediate_data/tool_uses/1/name is empty",
                "/conversation/0/intermediate_data/tool_responses/0/id is the id of no tool use",
            ],
        ),
    ] {
        assert_eq!(problems(&case), expected, "{case}");
    }
    let many = json!({"eval_id": "a", "conversation": vec![1; 1000]});
    assert_eq!(case_problems(&many).len(), MAX_VIOLATIONS);
}
