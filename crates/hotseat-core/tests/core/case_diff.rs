use hotseat_core::diff_cases;
use proptest::prelude::*;
use serde_json::{Value, json};

fn differences(left: &Value, right: &Value) -> Vec<String> {
    let side =
        |value: Option<Value>| value.map_or_else(|| "-".to_owned(), |value| value.to_string());
    let line = |difference: hotseat_core::Difference| {
        format!("{} {} {}", difference.path, side(difference.left), side(difference.right))
    };
    diff_cases(left, right).into_iter().map(line).collect()
}

fn invocation(said: &str, tools: &[(&str, i64, i64)], answer: &str) -> Value {
    let uses: Vec<_> = tools.iter().enumerate().collect();
    let tool_use = |(n, (name, arg, _)): &(usize, &(&str, i64, i64))| json!({"id": format!("{said}-{answer}-{n}"), "name": name, "args": {"n": arg, "id": 1}});
    let response = |(n, (name, _, result)): &(usize, &(&str, i64, i64))| json!({"id": format!("{said}-{answer}-{n}"), "name": name, "response": {"result": result}});
    json!({
        "invocation_id": format!("{said}{answer}"),
        "creation_timestamp": answer.len(),
        "user_content": {"role": "user", "parts": [{"text": said}]},
        "final_response": {"role": "model", "parts": [{"text": answer}]},
        "intermediate_data": {
            "tool_uses": uses.iter().map(tool_use).collect::<Vec<_>>(),
            "tool_responses": uses.iter().map(response).collect::<Vec<_>>(),
        },
    })
}

fn case(id: &str, conversation: &[Value]) -> Value {
    json!({"eval_id": id, "creation_timestamp": id.len(), "conversation": conversation,
        "session_input": {"app_name": "a", "user_id": "u", "session_id": id}})
}

#[test]
fn what_every_recording_has_of_its_own_is_no_difference() {
    let left = case("one", &[invocation("hi", &[("f", 1, 1)], "yes")]);
    let mut right = case("three", &[invocation("hi", &[("f", 1, 1)], "yes")]);
    right["conversation"][0]["invocation_id"] = json!("other");
    for list in ["tool_uses", "tool_responses"] {
        right["conversation"][0]["intermediate_data"][list][0]["id"] = json!("other");
    }
    right["rubrics"] = Value::Null;
    assert_eq!(differences(&left, &right), [""; 0]);

    let data = "/conversation/0/intermediate_data";
    right["conversation"][0]["intermediate_data"]["tool_uses"][0]["args"]["id"] = json!(2);
    assert_eq!(differences(&left, &right), [format!("{data}/tool_uses/0/args/id 1 2")]);
}

#[test]
fn a_tool_use_more_does_not_make_the_later_ones_differ() {
    let left = case("a", &[invocation("hi", &[("f", 1, 1), ("g", 2, 2), ("h", 3, 3)], "yes")]);
    let right =
        case("b", &[invocation("hi", &[("x", 0, 0), ("f", 1, 9), ("g", 5, 2), ("h", 3, 3)], "no")]);
    let at = "/conversation/0";
    assert_eq!(
        differences(&left, &right),
        [
            format!(r#"{at}/final_response/parts/0/text "yes" "no""#),
            format!(
                r#"{at}/intermediate_data/tool_uses/0 - {{"name":"x","args":{{"n":0,"id":1}}}}"#
            ),
            format!("{at}/intermediate_data/tool_responses/0/response/result 1 9"),
            format!("{at}/intermediate_data/tool_uses/1/args/n 2 5"),
        ]
    );
}

#[test]
fn invocations_are_aligned_by_what_the_user_says() {
    let [hi, more, bye] = ["hi", "more", "bye"].map(|said| invocation(said, &[], "ok"));
    let left = case("a", &[hi.clone(), bye.clone()]);
    let right = case("b", &[hi, more, bye]);
    let found = diff_cases(&left, &right);
    assert_eq!((found.len(), found[0].path.as_str()), (1, "/conversation/1"));
    assert!(found[0].left.is_none());

    let edited = case("c", &[invocation("hello", &[], "ok"), invocation("bye", &[], "ok")]);
    assert_eq!(
        differences(&left, &edited),
        [r#"/conversation/0/user_content/parts/0/text "hi" "hello""#]
    );
}

#[test]
fn both_forms_of_intermediate_data_can_be_compared() {
    let left = case("a", &[invocation("hi", &[("f", 1, 1)], "yes")]);
    let mut right = left.clone();
    right["conversation"][0]["intermediate_data"] = json!({"invocationEvents": [
        {"author": "root", "content": {"parts": [
            {"functionCall": {"id": "z", "name": "f", "args": {"n": 1, "id": 1}}}, {"text": "I call."}]}},
        {"author": "root", "content": {"parts": [
            {"functionResponse": {"id": "z", "name": "f", "response": {"result": 2}}}]}},
        {"author": "root", "content": null},
    ]});
    // Only the outer keys of what is inside are ADK's, so both spellings are the same.
    right["conversation"][0]["userContent"] =
        right["conversation"][0].as_object_mut().unwrap().shift_remove("user_content").unwrap();
    let data = "/conversation/0/intermediate_data";
    assert_eq!(
        differences(&left, &right),
        [
            format!("{data}/tool_responses/0/response/result 1 2"),
            format!(r#"{data}/invocation_events/0/content - ["root",[{{"text":"I call."}}]]"#),
        ]
    );
}

#[test]
fn what_is_no_case_is_compared_as_a_whole() {
    assert_eq!(differences(&json!(1), &json!([])), [" 1 []"]);
    assert_eq!(
        differences(&json!({"conversation": []}), &json!({"conversation_scenario": {}})),
        ["/conversation [] -", "/conversation_scenario - {}"]
    );
}

fn any_case() -> impl Strategy<Value = Value> {
    let tools =
        prop::collection::vec((prop::sample::select(vec!["f", "g"]), 0..2_i64, 0..2_i64), 0..4);
    let invocation =
        (prop::sample::select(vec!["a", "b"]), tools, prop::sample::select(vec!["x", "y"]))
            .prop_map(|(said, tools, answer)| invocation(said, &tools, answer));
    prop::collection::vec(invocation, 0..4).prop_map(|conversation| case("c", &conversation))
}

proptest! {
    #[test]
    fn differences_are_the_same_from_both_sides(left in any_case(), right in any_case()) {
        prop_assert!(diff_cases(&left, &left).is_empty());
        let there = diff_cases(&left, &right);
        prop_assert_eq!(there.is_empty(), diff_cases(&right, &left).is_empty());
    }
}
