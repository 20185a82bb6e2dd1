//! Prompt tools, functions, and what keeps an agent from being opened.

use std::sync::{Arc, Mutex};

use axum::extract::State;
use axum::routing::post;
use axum::{Json, Router};
use hotseat_agent::OpenError;
use serde_json::{Value, json};

use crate::host::{Script, asked, calls, open, says};

/// A model that speaks Ollama's wire format, answers everything with the same
/// text, and remembers what it was asked.
async fn ollama(text: &'static str) -> (String, Arc<Mutex<Vec<Value>>>) {
    let asked = Arc::new(Mutex::new(Vec::new()));
    let router = Router::new()
        .route(
            "/api/chat",
            post(
                async move |State(asked): State<Arc<Mutex<Vec<Value>>>>,
                            Json(body): Json<Value>| {
                    asked.lock().unwrap().push(body);
                    let answer = json!({
                        "model": "small",
                        "message": {"role": "assistant", "content": text},
                        "done": true,
                        "done_reason": "stop",
                    });
                    format!("{answer}\n")
                },
            ),
        )
        .with_state(Arc::clone(&asked));
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    tokio::spawn(async move { axum::serve(listener, router).await.unwrap() });
    (url, asked)
}

fn shortening(model: &str) -> String {
    format!(
        "name: desk\ninstructions: Be brief.\n{model}
tools:
  - {{type: prompt, name: shorten, description: Shortens., template: 'Shorten: {{{{text}}}}', parameters: {{text: {{type: string}}}}}}
"
    )
}

#[tokio::test]
async fn a_prompt_tool_asks_the_model_with_its_template_alone() {
    let (url, asked_for) = ollama("short").await;
    let model = format!("model: {{provider: ollama, name: small, endpoint: '{url}'}}");
    let (agent, _folder) = open(&shortening(&model)).await.unwrap();
    let script = Script::new(vec![
        calls(&[("c1", "shorten", json!({"text": "a {{text}} that is long"}))]),
        says("done"),
    ]);

    agent.run(asked("shorten it"), &script).await.unwrap();

    let result = &script.last_request()["contents"][2]["parts"][0]["function_response"];
    assert_eq!(result["response"], json!({"result": "short"}));
    let bodies = asked_for.lock().unwrap();
    assert_eq!(bodies.len(), 1, "the loop itself asks the host, not the model");
    let messages = bodies[0]["messages"].as_array().unwrap();
    assert_eq!(messages.len(), 1, "{messages:?}");
    assert_eq!(messages[0]["content"], "Shorten: a {{text}} that is long");
    assert!(bodies[0].get("tools").is_none_or(|tools| tools == &json!([])));
}

#[tokio::test]
async fn a_failing_model_is_an_error_of_the_tool() {
    let model =
        "model: {provider: ollama, name: small, endpoint: 'http://127.0.0.1:9', retries: 0}";
    let (agent, _folder) = open(&shortening(model)).await.unwrap();
    let script =
        Script::new(vec![calls(&[("c1", "shorten", json!({"text": "x"}))]), says("sorry")]);

    agent.run(asked("x"), &script).await.unwrap();

    assert_eq!(script.statuses(), ["shorten started", "shorten failed"]);
}

#[tokio::test]
async fn tools_are_listed_with_their_kinds() {
    let file = "name: d\ninstructions: x\nmodel: {provider: ollama, name: m}
tools:
  - {type: prompt, name: shorten, description: Shortens., template: t}
  - {type: function, name: double, file: tools.py}
";
    let (agent, _folder) = open(file).await.unwrap();

    let cards = agent.tools();

    let listed: Vec<(&str, &str)> =
        cards.iter().map(|card| (card.name.as_str(), card.kind)).collect();
    assert_eq!(listed, [("shorten", "prompt"), ("double", "function")]);
    assert_eq!(cards[1].parameters["type"], "object");
    assert!(agent.model().is_some());
    agent.ready().await.unwrap();
}

#[tokio::test]
async fn an_agent_with_a_tool_that_cannot_work_is_not_opened() {
    let error = async |file: &str| match open(file).await {
        Err(error) => error,
        Ok(_) => panic!("it was opened"),
    };

    let without_model = error(&shortening("")).await;
    insta::assert_snapshot!(without_model, @"the tool `shorten` of `desk` cannot be used: it needs a `model`, its own or the agent's");
    let gone = error(
        "name: d\ninstructions: x\ntools:\n  - {type: function, name: gone, file: tools.py}\n",
    )
    .await;
    insta::assert_snapshot!(gone, @"the tool `gone` of `d` cannot be used: module `tools` has no function `gone`");
    let no_program = error("name: d\ninstructions: x\ntools:\n  - {type: mcp, name: files, command: ./no-such-program}\n").await;
    assert!(matches!(no_program, OpenError::Tool { .. }), "{no_program}");
    assert!(
        no_program.to_string().contains("`./no-such-program` cannot be started"),
        "{no_program}"
    );
}
