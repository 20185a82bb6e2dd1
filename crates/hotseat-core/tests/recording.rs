//! A recording in the model's seat.

#[cfg(test)]
mod recording {
    use std::sync::Arc;

    use hotseat_core::{
        MAX_RECORDING_BYTES, ModelRequest, Player, Recording, RecordingError, ReplayProblem,
        Replayed,
    };
    use serde_json::value::to_raw_value;
    use serde_json::{Value, json};

    fn recording(value: &Value) -> Arc<Recording> {
        Arc::new(Recording::read(value.to_string().as_bytes()).unwrap())
    }

    fn player(value: &Value) -> Player {
        recording(value).player(None).unwrap()
    }

    fn request(contents: &[Value]) -> ModelRequest {
        ModelRequest::parse(&to_raw_value(&json!({"request": {"contents": contents}})).unwrap())
            .unwrap()
    }

    fn user(text: &str) -> Value {
        json!({"role": "user", "parts": [{"text": text}]})
    }

    fn model(text: &str) -> Value {
        json!({"role": "model", "parts": [{"text": text}]})
    }

    fn calls(name: &str, args: &Value) -> Value {
        json!({"role": "model", "parts": [{"function_call": {"name": name, "args": args}}]})
    }

    fn returned(name: &str) -> Value {
        json!({"role": "user", "parts": [{"functionResponse": {"name": name, "response": {}}}]})
    }

    fn content(answer: Result<Replayed, ReplayProblem>) -> Value {
        answer.unwrap().content
    }

    fn eval_case(id: &str, texts: &[(&str, &str)]) -> Value {
        let conversation: Value = texts
        .iter()
        .map(|(asked, answered)| json!({"user_content": user(asked), "final_response": model(answered)}))
        .collect();
        json!({"eval_id": id, "conversation": conversation})
    }

    #[test]
    fn an_eval_set_is_played_call_by_call_and_ends_with_the_final_response() {
        let player = player(&json!({"eval_set_id": "s", "eval_cases": [{
            "evalId": "one",
            "conversation": [{
                "userContent": user("What is 2+2?"),
                "intermediateData": {
                    "toolUses": [
                        {"id": "old-1", "name": "add", "args": {"a": 2, "bigValue": 2}},
                        {"id": "old-2", "name": "check", "args": {}},
                    ],
                    "toolResponses": [{"id": "old-1", "name": "add", "response": {}}],
                    "intermediateResponses": [["root", [{"text": "I add."}]]],
                },
                "finalResponse": model("4"),
            }],
        }]}));
        let mut contents = vec![user("What is 2+2?")];

        let first = content(player.answer(&request(&contents)));
        assert_eq!(first, calls("add", &json!({"a": 2, "bigValue": 2})));
        contents.extend([first, returned("add")]);
        let second = content(player.answer(&request(&contents)));
        assert_eq!(second, calls("check", &json!({})));
        contents.extend([second, returned("check")]);
        assert_eq!(content(player.answer(&request(&contents))), model("4"));

        contents.push(model("4"));
        assert_eq!(
            player.answer(&request(&contents)).unwrap_err().to_string(),
            "the recording holds 3 answers to the user message \"What is 2+2?\", but the agent asks \
         for number 4; record it again if the agent has changed"
        );
    }

    #[test]
    fn the_events_of_an_invocation_are_played_as_they_were_grouped() {
        let both = json!({"role": "model", "parts": [
            {"text": "Both at once."},
            {"function_call": {"id": "x", "name": "a", "args": {}}},
            {"function_call": {"id": "y", "name": "b", "args": {}}},
        ]});
        let player = player(&json!({"eval_cases": [{"eval_id": "e", "conversation": [{
            "user_content": user("go"),
            "intermediate_data": {"invocation_events": [
                {"author": "root", "content": both},
                {"author": "root", "content": returned("a")},
            ]},
            "final_response": model("done"),
        }]}]}));

        let first = content(player.answer(&request(&[user("go")])));
        assert_eq!(first["parts"].as_array().unwrap().len(), 3);
        assert_eq!(
            first.pointer("/parts/1/function_call"),
            Some(&json!({"name": "a", "args": {}}))
        );
        let contents = [user("go"), first, returned("a")];
        assert_eq!(content(player.answer(&request(&contents))), model("done"));
    }

    #[test]
    fn the_words_of_the_user_decide_before_their_order() {
        let player =
            player(&json!({"eval_cases": [eval_case("e", &[("a", "A"), ("b", "B"), ("c", "C")])]}));

        assert_eq!(content(player.answer(&request(&[user("c")]))), model("C"));
        let by_order = [user("something"), model("A"), user("else")];
        assert_eq!(content(player.answer(&request(&by_order))), model("B"));
    }

    #[test]
    fn the_same_words_said_again_are_answered_as_they_were_then() {
        let player = player(
            &json!({"eval_cases": [eval_case("e", &[("hi", "1"), ("x", "2"), ("hi", "3")])]}),
        );
        let contents = [user("hi"), model("1"), user("x"), model("2"), user("hi")];

        assert_eq!(content(player.answer(&request(&contents))), model("3"));
        assert_eq!(content(player.answer(&request(&contents[..1]))), model("1"));
    }

    #[test]
    fn a_single_question_answers_any_other() {
        let player = player(&json!({"eval_cases": [eval_case("e", &[("a", "A")])]}));

        let contents = [user("what?"), model("A"), user("again?")];
        assert_eq!(content(player.answer(&request(&contents))), model("A"));
    }

    #[test]
    fn the_case_that_began_alike_is_played() {
        let set = json!({"eval_cases": [
            eval_case("one", &[("first", "1"), ("go", "one goes")]),
            eval_case("two", &[("second", "2"), ("go", "two goes")]),
        ]});
        let player = player(&set);
        let contents = [user("second"), model("2"), user("go")];
        assert_eq!(content(player.answer(&request(&contents))), model("two goes"));
        assert_eq!(
            player.answer(&request(&[user("third")])).unwrap_err().to_string(),
            "the recording does not hold the user message \"third\"; it holds \"first\", \"go\", \"second\", \"go\""
        );

        let recording = recording(&set);
        let one = recording.player(Some("one")).unwrap();
        assert_eq!(content(one.answer(&request(&contents))), model("one goes"));
        assert_eq!(
            recording.player(Some("three")).unwrap_err().to_string(),
            "the recording has no case \"three\"; it has \"one\", \"two\""
        );
    }

    fn session_events() -> Vec<Value> {
        vec![
            json!({"author": "user", "content": user("hello")}),
            json!({"author": "root", "partial": true, "content": model("he")}),
            json!({"author": "root", "usageMetadata": {"promptTokenCount": 7}, "content": {"role": "model", "parts": [
                {"functionCall": {"id": "c1", "name": "look", "args": {}}, "thoughtSignature": "sig"},
            ]}}),
            json!({"author": "root", "content": {"role": "model", "parts": [
                {"functionCall": {"id": "c2", "name": "adk_request_confirmation", "args": {"originalFunctionCall": {"id": "c1"}}}},
            ]}}),
            json!({"author": "user", "content": returned("adk_request_confirmation")}),
            json!({"author": "root", "content": returned("look")}),
            json!({"author": "root", "actions": {"stateDelta": {"a": 1}}}),
            json!({"author": "sub", "content": model("there")}),
        ]
    }

    #[test]
    fn a_session_is_played_from_each_of_its_forms() {
        let events = session_events();
        let lines: Vec<String> = events.iter().map(Value::to_string).collect();
        for bytes in [
            json!(events).to_string(),
            json!({"id": "s1", "appName": "a", "events": events}).to_string(),
            lines.join("\n") + "\n\n",
        ] {
            let player = Arc::new(Recording::read(bytes.as_bytes()).unwrap()).player(None).unwrap();
            let first = player.answer(&request(&[user("hello")])).unwrap();
            let signed =
                json!({"function_call": {"name": "look", "args": {}}, "thought_signature": "sig"});
            assert_eq!(first.content, json!({"role": "model", "parts": [signed]}));
            assert_eq!(first.usage, Some(json!({"promptTokenCount": 7})));
            let contents = [user("hello"), first.content, returned("look")];
            assert_eq!(content(player.answer(&request(&contents))), model("there"));
        }
    }

    #[test]
    fn what_adk_tells_of_another_agent_counts_as_its_answers() {
        let player = player(&json!(session_events()));
        let context = |text: &str| json!({"role": "user", "parts": [{"text": "For context:"}, {"text": text}]});
        let contents = [
            user("hello"),
            context("[root] called tool `look` with parameters: {}"),
            context("[root] `look` tool returned result: {}"),
        ];
        assert_eq!(content(player.answer(&request(&contents))), model("there"));
    }

    #[test]
    fn a_request_without_a_user_cannot_be_placed() {
        let player = player(&json!(session_events()));
        assert_eq!(player.answer(&request(&[])).unwrap_err(), ReplayProblem::NoUserMessage);
    }

    #[test]
    fn what_is_no_recording_is_named() {
        for (bytes, message) in [
            ("{", "the recording is not JSON"),
            ("{\"author\":\"user\"}\n{\"a\"\n", "line 2 of the recording is not JSON"),
            ("[]", "the recording holds no user message, so there is nothing to replay"),
            (
                "3",
                "the recording is a number; give an EvalSet, an ADK session or a list of ADK events instead",
            ),
            (
                "{\"a\":1}",
                "the recording is an object without eval_cases and events; give an EvalSet, an ADK session or a list of ADK events instead",
            ),
            (
                "[{\"name\":\"x\",\"data\":[]}]",
                "the recording is an EvalSet of ADK's legacy format; give an EvalSet, an ADK session or a list of ADK events instead",
            ),
        ] {
            assert_eq!(Recording::read(bytes.as_bytes()).unwrap_err().to_string(), message);
        }
        let large = vec![b' '; MAX_RECORDING_BYTES + 1];
        assert!(matches!(Recording::read(&large), Err(RecordingError::TooLarge { .. })));
    }
}
