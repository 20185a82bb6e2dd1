//! Requests as they reach the provider.

use hotseat_agent::ModelError;
use hotseat_testkit::providers::{Reply, Wire};
use serde_json::{Value, json};

use crate::{KEY, Seat, conversation, request};

/// What a provider got for a request.
async fn sent(wire: Wire, request: &Value) -> Value {
    let seat = Seat::new(wire, [Reply::text("Fine.")]).await;
    seat.ask(request).await.answer();
    seat.body()
}

#[tokio::test]
async fn the_address_and_the_key_are_the_providers_own() {
    for (wire, path, header, value) in [
        (Wire::OpenAi, "/v1/chat/completions", "authorization", format!("Bearer {KEY}")),
        (
            Wire::Azure,
            "/openai/deployments/model-1/chat/completions?api-version=2024-10-21",
            "api-key",
            KEY.to_owned(),
        ),
        (Wire::Anthropic, "/v1/messages", "x-api-key", KEY.to_owned()),
        (
            Wire::Gemini,
            "/v1beta/models/model-1:streamGenerateContent?alt=sse",
            "x-goog-api-key",
            KEY.to_owned(),
        ),
        (Wire::Ollama, "/api/chat", "authorization", format!("Bearer {KEY}")),
    ] {
        let mut seat = Seat::new(wire, [Reply::text("Fine.")]).await;
        seat.spec.headers.insert("x-team".to_owned(), "blue".to_owned());
        seat.ask(&request("Hello")).await.answer();

        let asked = seat.provider.last_asked();
        assert_eq!((asked.wire, asked.path.as_str()), (seat.wire, path));
        assert_eq!(asked.headers[header], value, "{wire:?}");
        assert_eq!(asked.headers["x-team"], "blue", "{wire:?}");
        assert!(!asked.path.contains(KEY), "{wire:?}");
    }
}

#[tokio::test]
async fn an_endpoint_may_have_more_of_the_address_than_it_must() {
    for (wire, ends) in [
        (Wire::OpenAi, &["/v1/", "/v1/chat/completions"][..]),
        (
            Wire::Azure,
            &["/openai", "/openai/deployments/model-1/chat/completions?api-version=2026-01-01"],
        ),
        (Wire::Anthropic, &["/", "/v1", "/v1/messages"]),
        (Wire::Gemini, &["/v1beta", "/v1beta/models/"]),
        (Wire::Ollama, &["/api", "/api/chat"]),
    ] {
        for end in ends {
            let mut seat = Seat::new(wire, [Reply::text("Fine.")]).await;
            seat.spec.endpoint = Some(format!("{}{end}", seat.provider.url));
            seat.ask(&request("Hello")).await.answer();
        }
    }
}

#[tokio::test]
async fn the_instruction_and_the_tools_are_told() {
    for wire in Wire::ALL {
        let body = sent(wire, &request("Hello")).await;
        let (system, tool, parameters) = match wire {
            Wire::OpenAi | Wire::Azure | Wire::Ollama => {
                let function = &body["tools"][0]["function"];
                (&body["messages"][0]["content"], &function["name"], &function["parameters"])
            }
            Wire::Anthropic => {
                (&body["system"], &body["tools"][0]["name"], &body["tools"][0]["input_schema"])
            }
            Wire::Gemini => {
                let declaration = &body["tools"][0]["functionDeclarations"][0];
                let system = &body["systemInstruction"]["parts"][0]["text"];
                (system, &declaration["name"], &declaration["parametersJsonSchema"])
            }
        };
        assert_eq!((system, tool), (&json!("You are good at sums."), &json!("add")), "{wire:?}");
        assert_eq!(parameters["properties"]["a"], json!({"type": "integer"}), "{wire:?}");
        // What Gemini does not know would be refused by the scripted one too.
        assert_eq!(parameters.get("additionalProperties").is_none(), wire == Wire::Gemini);
    }
}

#[tokio::test]
async fn a_model_that_sees_no_images_is_told_where_they_were() {
    let parts = json!([
        {"text": "What is this?"},
        {"inline_data": {"mime_type": "image/png", "data": "aW1hZ2U=", "display_name": "a.png"}},
        {"file_data": {"mime_type": "image/png", "file_uri": "https://pictures.example/b.png"}},
        {"text": "And that?"},
    ]);
    for wire in Wire::ALL {
        let mut seat = Seat::new(wire, [Reply::text("Fine.")]).await;
        seat.spec.images = false;
        seat.ask(&conversation(&json!([{"role": "user", "parts": parts}]))).await.answer();
        let body = seat.body().to_string();
        assert!(!body.contains("aW1hZ2U=") && !body.contains("b.png"), "{wire:?}: {body}");
        let places = ["What is this?", "An image `a.png` was sent here", "An image was sent here"];
        let places: Vec<_> = places.iter().map(|said| body.find(said)).collect();
        assert!(places.iter().all(Option::is_some) && places.is_sorted(), "{wire:?}: {body}");
    }
}

#[tokio::test]
async fn images_are_shown_in_the_usual_alphabet() {
    let contents = json!([{"role": "user", "parts": [
        {"text": "What is this?"},
        {"inline_data": {"mime_type": "image/png", "data": "-_8="}},
    ]}]);
    for wire in Wire::ALL {
        let body = sent(wire, &conversation(&contents)).await;
        let (shown, expected) = match wire {
            Wire::OpenAi | Wire::Azure => (
                &body["messages"][1]["content"][1],
                json!({"type": "image_url", "image_url": {"url": "data:image/png;base64,+/8="}}),
            ),
            Wire::Anthropic => (
                &body["messages"][0]["content"][1],
                json!({"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "+/8="}}),
            ),
            // Google reads both alphabets.
            Wire::Gemini => (
                &body["contents"][0]["parts"][1],
                json!({"inlineData": {"mimeType": "image/png", "data": "-_8="}}),
            ),
            Wire::Ollama => (&body["messages"][1]["images"][0], json!("+/8=")),
        };
        assert_eq!(shown, &expected, "{wire:?}");
    }
}

#[tokio::test]
async fn what_a_provider_cannot_see_is_refused_before_it_is_asked() {
    let video = json!([{"role": "user", "parts": [{"inline_data": {"mime_type": "video/mp4", "data": "AAAA"}}]}]);
    let mut search = request("Hello");
    search["config"]["tools"].as_array_mut().unwrap().push(json!({"google_search": {}}));
    for wire in [Wire::OpenAi, Wire::Azure, Wire::Anthropic, Wire::Ollama] {
        let seat = Seat::new(wire, []).await;
        for (request, named) in
            [(conversation(&video), "video/mp4"), (search.clone(), "google_search")]
        {
            let heard = seat.ask(&request).await;
            let error = heard.error();
            assert!(matches!(error, ModelError::Unsupported { .. }), "{wire:?}: {error}");
            assert!(error.to_string().contains(named), "{wire:?}: {error}");
        }
        assert!(seat.provider.asked().is_empty(), "{wire:?}");
    }
    let body = sent(Wire::Gemini, &search).await;
    assert_eq!(body["tools"][1], json!({"googleSearch": {}}));
}

#[tokio::test]
async fn settings_come_from_the_request_and_then_from_the_spec() {
    let mut request = request("Hello");
    request["config"]["temperature"] = json!(0.25);
    for (wire, place, most) in [
        // At an endpoint of one's own is a server that knows the older name.
        (Wire::OpenAi, "", "max_tokens"),
        (Wire::Azure, "", "max_completion_tokens"),
        (Wire::Anthropic, "", "max_tokens"),
        (Wire::Gemini, "/generationConfig", "maxOutputTokens"),
        (Wire::Ollama, "/options", "num_predict"),
    ] {
        let mut seat = Seat::new(wire, [Reply::text("Fine.")]).await;
        (seat.spec.temperature, seat.spec.max_tokens) = (Some(1.5), Some(77));
        seat.ask(&request).await.answer();
        let body = seat.body();
        let body = body.pointer(place).unwrap();
        assert_eq!((&body["temperature"], &body[most]), (&json!(0.25), &json!(77)), "{wire:?}");
    }
}

#[tokio::test]
async fn an_answer_in_json_is_asked_for_by_its_schema() {
    let schema =
        json!({"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]});
    let mut request = request("Hello");
    request["config"]["response_json_schema"] = schema.clone();
    request["config"]["response_mime_type"] = json!("application/json");
    for wire in Wire::ALL {
        let body = sent(wire, &request).await;
        let mut expected = schema.clone();
        let asked = match wire {
            Wire::OpenAi | Wire::Azure => &body["response_format"]["json_schema"]["schema"],
            Wire::Anthropic => {
                expected["additionalProperties"] = json!(false);
                &body["output_config"]["format"]["schema"]
            }
            Wire::Gemini => &body["generationConfig"]["responseJsonSchema"],
            Wire::Ollama => &body["format"],
        };
        assert_eq!(asked, &expected, "{wire:?}");
    }
}

#[tokio::test]
async fn thinking_is_asked_for_in_the_providers_own_words() {
    let mut request = request("Hello");
    request["config"]["temperature"] = json!(0.5);
    for (config, anthropic, gemini, ollama) in [
        (
            json!({"thinking_budget": 9000, "include_thoughts": true}),
            json!({"type": "enabled", "budget_tokens": 9000}),
            json!({"thinkingBudget": 9000, "includeThoughts": true}),
            json!(true),
        ),
        (
            json!({"thinking_budget": -1}),
            json!({"type": "adaptive", "display": "summarized"}),
            json!({"thinkingBudget": -1}),
            json!(true),
        ),
        (
            json!({"thinking_budget": 0}),
            json!({"type": "disabled"}),
            json!({"thinkingBudget": 0}),
            json!(false),
        ),
    ] {
        request["config"]["thinking_config"] = config;
        assert_eq!(sent(Wire::Anthropic, &request).await["thinking"], anthropic);
        assert_eq!(
            sent(Wire::Gemini, &request).await["generationConfig"]["thinkingConfig"],
            gemini
        );
        assert_eq!(sent(Wire::Ollama, &request).await["think"], ollama);
    }
    request["config"]["thinking_config"] = json!({"thinking_level": "LOW"});
    assert_eq!(sent(Wire::OpenAi, &request).await["reasoning_effort"], "low");
    assert_eq!(sent(Wire::Anthropic, &request).await["output_config"]["effort"], "low");
}

#[tokio::test]
async fn a_model_can_be_told_to_call_a_tool() {
    let mut request = request("Hello");
    let calling = json!({"mode": "ANY", "allowed_function_names": ["add"]});
    request["config"]["tool_config"] = json!({"function_calling_config": calling});
    for (wire, place, expected) in [
        (Wire::OpenAi, "/tool_choice", json!({"type": "function", "function": {"name": "add"}})),
        (Wire::Anthropic, "/tool_choice", json!({"type": "tool", "name": "add"})),
        (
            Wire::Gemini,
            "/toolConfig/functionCallingConfig",
            json!({"mode": "ANY", "allowedFunctionNames": ["add"]}),
        ),
    ] {
        assert_eq!(sent(wire, &request).await.pointer(place), Some(&expected), "{wire:?}");
    }
}

#[tokio::test]
async fn contents_in_a_row_and_a_model_that_speaks_first_are_understood() {
    let contents = json!([
        {"role": "model", "parts": [{"text": "Welcome."}]},
        {"role": "user", "parts": [{"text": "Hi"}]},
        {"role": "user", "parts": [{"text": "  "}, {"text": "there"}]},
        {"role": "model", "parts": [{"text": "Hello."}]},
        {"role": "model", "parts": [{"text": "How are you?"}]},
    ]);
    for wire in Wire::ALL {
        sent(wire, &conversation(&contents)).await;
        sent(wire, &conversation(&json!([]))).await;
    }
}
