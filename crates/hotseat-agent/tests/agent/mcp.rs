//! A real MCP server, as a child process and over HTTP.

use std::io::BufRead as _;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::sync::OnceLock;

use hotseat_agent::NativeAgent;
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::host::{Cancel, Script, asked, calls, open, says};

/// The server's program, an example of this package.
fn program() -> &'static str {
    static PROGRAM: OnceLock<String> = OnceLock::new();
    PROGRAM.get_or_init(|| {
        let mut path: PathBuf = std::env::current_exe().unwrap();
        path.pop();
        path.pop();
        path.push("examples");
        path.push(format!("mcp_server{}", std::env::consts::EXE_SUFFIX));
        // `cargo test` builds examples, `cargo test --test agent` does not.
        if !path.is_file() {
            let mut build = Command::new(env!("CARGO"));
            build.args(["build", "--package", "hotseat-agent", "--example", "mcp_server"]);
            assert!(build.current_dir(env!("CARGO_MANIFEST_DIR")).status().unwrap().success());
        }
        path.to_str().unwrap().to_owned()
    })
}

/// A server over HTTP, ended with the test.
struct HttpServer {
    process: Child,
    url: String,
}

impl HttpServer {
    fn start(port: &str) -> Self {
        let mut process = Command::new(program())
            .args(["--http", "--port", port])
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut line = String::new();
        std::io::BufReader::new(process.stdout.take().unwrap()).read_line(&mut line).unwrap();
        Self { process, url: line.trim().to_owned() }
    }

    fn port(&self) -> String {
        self.url.trim_end_matches("/mcp").rsplit(':').next().unwrap().to_owned()
    }
}

impl Drop for HttpServer {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

async fn over_stdio(more: &str) -> (NativeAgent, TempDir) {
    let file = format!(
        "name: desk\ninstructions: x\ntools:\n  - {{type: mcp, name: test, command: '{}'{more}}}\n",
        program()
    );
    open(&file).await.unwrap()
}

async fn over_http(
    url: &str,
    key: &str,
) -> Result<(NativeAgent, TempDir), hotseat_agent::OpenError> {
    open(&format!(
        "name: desk\ninstructions: x\ntools:\n  - {{type: mcp, name: test, url: '{url}', headers: {{x-key: {key}}}}}\n"
    ))
    .await
}

/// What a call answers to the model.
async fn answer(agent: &NativeAgent, tool: &str, args: Value) -> Value {
    let script = Script::new(vec![calls(&[("c1", tool, args)]), says("ok")]);
    agent.run(asked("x"), &script).await.unwrap();
    script.last_request()["contents"][2]["parts"][0]["function_response"]["response"].clone()
}

#[tokio::test]
async fn tools_are_listed_over_all_pages() {
    let (agent, _folder) = over_stdio("").await;

    let cards = agent.tools();

    assert_eq!(cards.len(), 10);
    assert_eq!((cards[0].name.as_str(), cards[0].kind), ("add", "mcp"));
    assert_eq!(cards[0].description, "Adds two numbers.");
    assert_eq!(cards[0].parameters["required"], json!(["a", "b"]));
    agent.close().await;
}

#[tokio::test]
async fn results_have_the_form_that_adk_gives_them() {
    let (agent, _folder) = over_stdio("").await;

    assert_eq!(
        answer(&agent, "add", json!({"a": 2, "b": 3})).await,
        json!({
            "content": [{"type": "text", "text": "5"}],
            "structuredContent": {"sum": 5},
            "isError": false,
        })
    );
    let image = answer(&agent, "image", json!({})).await;
    assert_eq!(image["content"][0], json!({"type": "text", "text": "a pixel"}));
    assert_eq!(image["content"][1]["mimeType"], "image/png");
    assert_eq!(answer(&agent, "fail", json!({})).await, json!({"error": "it cannot be done"}));
    agent.close().await;
}

#[tokio::test]
async fn progress_is_told_before_the_end() {
    let (agent, _folder) = over_stdio("").await;
    let script = Script::new(vec![calls(&[("c1", "slow", json!({"steps": 3}))]), says("ok")]);

    agent.run(asked("x"), &script).await.unwrap();

    assert_eq!(
        script.statuses(),
        ["slow started", "slow progress", "slow progress", "slow progress", "slow succeeded"]
    );
    agent.close().await;
    let seen = script.seen.lock().unwrap();
    assert_eq!(seen.tool_runs[1]["message"], "step 1 of slow");
    assert_eq!(seen.tool_runs[3]["fraction"], json!(1.0));
}

#[tokio::test]
async fn the_server_hears_that_a_call_was_cancelled() {
    let (agent, _folder) = over_stdio("").await;
    let script = Script::new(vec![calls(&[("c1", "hang", json!({}))]), says("ok")])
        .cancelling("progress", Cancel::Call("c1"));

    agent.run(asked("x"), &script).await.unwrap();

    assert_eq!(script.statuses(), ["hang started", "hang progress", "hang cancelled"]);
    // The tool answers only after the server saw a cancellation.
    let waited = answer(&agent, "wait_for_cancel", json!({})).await;
    assert_eq!(waited["content"][0]["text"], "true");
    agent.close().await;
}

#[tokio::test]
async fn a_silent_call_ends_and_the_server_hears_of_it() {
    let (agent, _folder) = over_stdio(", request_timeout: 100ms").await;

    let silent = answer(&agent, "hang", json!({})).await;

    assert_eq!(silent, json!({"error": "`hang` was silent for 0.1 s"}));
    agent.close().await;
}

#[tokio::test]
async fn a_server_that_died_is_started_again() {
    let (agent, _folder) = over_stdio("").await;

    let died = answer(&agent, "die", json!({})).await;
    let again = answer(&agent, "add", json!({"a": 1, "b": 1})).await;

    let error = died["error"].as_str().unwrap();
    assert!(error.starts_with("the MCP server went away during the call of `die`"), "{error}");
    assert_eq!(again["structuredContent"], json!({"sum": 2}));
    agent.ready().await.unwrap();
    agent.close().await;
    let closed = answer(&agent, "add", json!({"a": 1, "b": 1})).await;
    assert_eq!(closed, json!({"error": "the MCP server `test` was closed"}));
}

#[tokio::test]
async fn new_tools_of_a_server_are_there_for_the_next_run() {
    let (agent, _folder) = over_stdio("").await;
    answer(&agent, "grow", json!({})).await;
    // The notification was sent before the answer, but the list is asked for after it.
    let listed = async {
        while !agent.tools().iter().any(|card| card.name == "late") {
            answer(&agent, "echo", json!({"text": "."})).await;
        }
    };

    tokio::time::timeout(std::time::Duration::from_secs(20), listed).await.unwrap();

    let script = Script::new(vec![says("ok")]);
    agent.run(asked("x"), &script).await.unwrap();
    let declared = &script.last_request()["config"]["tools"][0]["function_declarations"];
    assert_eq!(declared.as_array().unwrap().len(), 11);
    agent.close().await;
}

#[tokio::test]
async fn a_server_gets_only_the_variables_that_it_is_given() {
    let (agent, _folder) = over_stdio(", env: {MY_OWN: x}").await;

    let names = answer(&agent, "variables", json!({})).await;

    let names: Vec<&str> = names["content"][0]["text"].as_str().unwrap().split(' ').collect();
    assert!(names.contains(&"MY_OWN") && names.contains(&"PATH"), "{names:?}");
    assert!(!names.iter().any(|name| name.starts_with("CARGO")), "{names:?}");
    agent.close().await;
}

#[tokio::test]
async fn tools_can_be_chosen_and_prefixed() {
    let (agent, _folder) = over_stdio(", load_tools: [add, echo], prefix: t_").await;

    let names: Vec<String> = agent.tools().into_iter().map(|card| card.name).collect();
    let sum = answer(&agent, "t_add", json!({"a": 1, "b": 2})).await;

    assert_eq!(names, ["t_add", "t_echo"]);
    assert_eq!(sum["structuredContent"], json!({"sum": 3}));
    agent.close().await;
}

#[tokio::test]
async fn names_that_clash_or_do_not_exist_are_told_at_once() {
    let tool = |name: &str, more: &str| {
        format!("  - {{type: mcp, name: {name}, command: '{}'{more}}}\n", program())
    };
    let error =
        async |tools: String| match open(&format!("name: desk\ninstructions: x\ntools:\n{tools}"))
            .await
        {
            Err(error) => error.to_string(),
            Ok(_) => panic!("it was opened"),
        };

    insta::assert_snapshot!(error(tool("a", "") + &tool("b", "")).await, @"`desk` has two tools called `add`: give one of the MCP servers a `prefix`, or choose its tools with `load_tools`");
    insta::assert_snapshot!(error(tool("a", ", load_tools: [ad]")).await, @"the tool `a` of `desk` cannot be used: its server has no tool called `ad`");
    let broken = error(tool("a", ", args: [--broken]")).await;
    assert!(broken.contains("the test server was told to fail"), "{broken}");
}

#[tokio::test]
async fn everything_works_over_http_too() {
    let server = HttpServer::start("0");
    let (agent, _folder) = over_http(&server.url, "secret").await.unwrap();

    assert_eq!(agent.tools().len(), 10);
    agent.ready().await.unwrap();
    let sum = answer(&agent, "add", json!({"a": 20, "b": 22})).await;
    assert_eq!(sum["structuredContent"], json!({"sum": 42}));
    let script = Script::new(vec![calls(&[("c1", "slow", json!({"steps": 2}))]), says("ok")]);
    agent.run(asked("x"), &script).await.unwrap();
    assert_eq!(
        script.statuses(),
        ["slow started", "slow progress", "slow progress", "slow succeeded"]
    );
    agent.close().await;
}

#[tokio::test]
async fn an_http_server_that_comes_back_is_used_again() {
    let server = HttpServer::start("0");
    let port = server.port();
    let (agent, _folder) = over_http(&server.url, "secret").await.unwrap();
    drop(server);

    let gone = answer(&agent, "add", json!({"a": 1, "b": 1})).await;
    assert!(gone["error"].is_string(), "{gone}");
    let _server = HttpServer::start(&port);
    let back = async {
        while agent.ready().await.is_err() {
            // After a failure the next attempt waits for its pause.
            tokio::task::yield_now().await;
        }
    };

    tokio::time::timeout(std::time::Duration::from_secs(20), back).await.unwrap();

    let sum = answer(&agent, "add", json!({"a": 1, "b": 1})).await;
    assert_eq!(sum["structuredContent"], json!({"sum": 2}));
    agent.close().await;
}

#[tokio::test]
async fn a_wrong_key_is_told_when_the_agent_is_opened() {
    let server = HttpServer::start("0");

    let error = over_http(&server.url, "wrong").await.err().unwrap().to_string();

    assert!(error.starts_with("the tool `test` of `desk` cannot be used"), "{error}");
    assert!(error.contains("401"), "{error}");
}
