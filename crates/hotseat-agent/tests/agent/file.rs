//! What agent.yaml says, and what is told when it says something wrong.

use std::path::Path;

use hotseat_agent::{
    AgentFile, McpTransport, ModelSpec, ProviderKind, Secret, ToolSpec, looks_native,
};
use serde_json::json;
use tempfile::TempDir;

/// A folder with some files.
pub(crate) fn folder(files: &[(&str, &str)]) -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    for (name, text) in files {
        let path = folder.path().join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }
    folder
}

fn env(name: &str) -> Option<String> {
    match name {
        "KEY" => Some("k-1".to_owned()),
        "OPENAI_API_KEY" => Some("sk-env".to_owned()),
        _ => None,
    }
}

fn read(files: &[(&str, &str)]) -> Result<AgentFile, String> {
    let folder = folder(files);
    let root = folder.path().to_str().unwrap().to_owned();
    AgentFile::read(folder.path(), &env)
        .map_err(|problem| problem.to_string().replace(&format!("{root}/"), ""))
}

fn problem(text: &str) -> String {
    read(&[("agent.yaml", text), ("tools.py", "")]).unwrap_err()
}

#[test]
fn the_smallest_file_has_a_name_and_instructions() {
    let file = read(&[("agent.yaml", "name: desk\ninstructions: {inline: Be kind.}\n")]).unwrap();

    assert_eq!(file.name, "desk");
    assert_eq!(file.instruction, "Be kind.");
    assert_eq!(file.model, None);
    assert_eq!(file.limits.max_steps, 25);
    assert!(file.tools.is_empty());
}

#[test]
fn everything_in_a_full_file_is_read() {
    let file = read(&[
        (
            "agent.yaml",
            r#"
name: returns-desk
description: Answers questions on returns
author: shop team
model:
  provider: azure_openai
  name: gpt-4o
  endpoint: "https://shop.example/${NONE:-x}"
  api_key: "${KEY}"
  api_version: 2024-10-21
  temperature: ${TEMPERATURE:-0.1}
  max_tokens: 1500
  top_p: 1
  timeout: 90
  idle_timeout: 500ms
  retries: 0
  headers: {x-team: 7}
instructions: {file: prompts/system.md}
response_format: answer.json
input_schema: {type: object, properties: {order: {type: string}}}
output_key: last_answer
seat: model
eval_set_path: evals/returns.evalset.json
limits: {max_steps: 5, tool_timeout: 2m, tool_output_bytes: 1000, parallel_calls: 2}
tools:
  - {name: order_status, type: function, description: Look up an order, file: tools/orders.py, function: status}
  - {name: files, type: mcp, command: npx, args: [-y, server, 1], env: {A: "${KEY}"}, request_timeout: 30, load_tools: [read], prefix: fs_}
  - {name: web, type: mcp, transport: http, url: "https://mcp.example/mcp", headers: {Authorization: "Bearer ${KEY}"}}
  - {name: shorten, type: prompt, description: Shorten a text, template: "Shorten: {{text}}", parameters: {text: {type: string}, tone: {type: string, default: dry}}}
"#,
        ),
        ("prompts/system.md", "---\nauthor: a\n---\nYou are {name?}.\n"),
        ("answer.json", r#"{"type": "object", "required": ["answer"]}"#),
        ("tools/orders.py", "def status(): ..."),
    ])
    .unwrap();

    let folder = file.folder().to_owned();
    assert_eq!(file.instruction, "You are {name?}.\n");
    assert_eq!(file.output_schema, Some(json!({"type": "object", "required": ["answer"]})));
    assert_eq!(file.output_key.as_deref(), Some("last_answer"));
    assert_eq!(file.eval_set_path, Some(folder.join("evals/returns.evalset.json")));
    let model = file.model.unwrap();
    assert_eq!(model.provider, ProviderKind::Azure);
    assert_eq!(model.endpoint.as_deref(), Some("https://shop.example/x"));
    assert_eq!(model.api_key, Some(Secret::new("k-1")));
    assert_eq!(model.api_version.as_deref(), Some("2024-10-21"));
    assert_eq!(
        (model.temperature, model.top_p, model.max_tokens),
        (Some(0.1), Some(1.0), Some(1500))
    );
    assert_eq!((model.timeout.as_secs(), model.idle_timeout.as_millis()), (90, 500));
    assert_eq!(model.headers["x-team"], "7");
    assert_eq!((file.limits.tool_timeout.as_secs(), file.limits.parallel_calls), (120, 2));

    let [
        ToolSpec::Function(function),
        ToolSpec::Mcp(files),
        ToolSpec::Mcp(web),
        ToolSpec::Prompt(prompt),
    ] = &file.tools[..]
    else {
        panic!("{:?}", file.tools)
    };
    assert_eq!(function.file, folder.join("tools/orders.py"));
    assert_eq!(files.load_tools, Some(vec!["read".to_owned()]));
    let McpTransport::Stdio { args, env, cwd, .. } = &files.transport else { panic!("{files:?}") };
    assert_eq!((args.last().unwrap().as_str(), cwd), ("1", &folder.join("")));
    assert_eq!(env["A"].reveal(), "k-1");
    let McpTransport::Http { headers, .. } = &web.transport else { panic!("{web:?}") };
    assert_eq!(headers["Authorization"].reveal(), "Bearer k-1");
    assert_eq!(prompt.parameters["required"], json!(["text"]));
    assert!(!format!("{:?}", file.tools).contains("k-1"), "secrets are not printed");
}

#[test]
fn mistyped_keys_are_told_with_the_key_that_was_meant() {
    insta::assert_snapshot!(
        problem("name: desk\ninstructions: {inline: x}\nmodle: {}\n"),
        @"agent.yaml:3:1: unknown key `modle`; did you mean `model`?"
    );
    insta::assert_snapshot!(
        problem("name: desk\ninstructions: {inline: x}\nmodel:\n  provider: openai\n  name: a\n  temprature: 1\n"),
        @"agent.yaml:6:3: unknown key `temprature`; did you mean `temperature`?"
    );
    insta::assert_snapshot!(
        problem("name: desk\ninstructions: {inlin: x}\n"),
        @"agent.yaml:2:16: unknown key `inlin`; did you mean `inline`?"
    );
    insta::assert_snapshot!(
        problem("name: desk\ninstructions: {inline: x}\nevaluations: []\n"),
        @"agent.yaml:3:1: unknown key `evaluations`; known here: `name`, `description`, `author`, `model`, `instructions`, `response_format`, `input_schema`, `output_key`, `tools`, `limits`, `seat`, `eval_set_path`"
    );
    insta::assert_snapshot!(
        problem("name: desk\nname: chair\ninstructions: {inline: x}\n"),
        @"agent.yaml:2:1: this is not YAML: duplicate mapping key: name"
    );
}

#[test]
fn missing_things_are_told_with_what_to_add() {
    insta::assert_snapshot!(problem("instructions: {inline: x}\n"), @"agent.yaml:1:1: `name` is missing; add `name: …`");
    insta::assert_snapshot!(problem("name: ' '\ninstructions: {inline: x}\n"), @"agent.yaml:1:1: `name` is empty");
    insta::assert_snapshot!(problem("name: desk\n"), @"agent.yaml:1:1: `instructions` is missing; add `instructions: {inline: …}` or `instructions: {file: …}`");
    insta::assert_snapshot!(problem("name: desk\ninstructions: {}\n"), @"agent.yaml:2:15: exactly one of `inline`, `file` must be given, not 0");
    insta::assert_snapshot!(problem("name: desk\ninstructions: {file: gone.md}\n"), @"agent.yaml:2:16: the file `gone.md` cannot be read: No such file or directory (os error 2)");
    insta::assert_snapshot!(
        problem("name: desk\ninstructions: x\nmodel: {name: a}\n"),
        @"agent.yaml:3:8: `provider` of the model is missing; add `provider: openai`, `azure`, `anthropic`, `gemini` or `ollama`"
    );
    insta::assert_snapshot!(
        problem("name: desk\ninstructions: x\nmodel: {provider: azure, name: a}\n"),
        @"agent.yaml:3:8: a model at Azure needs its `endpoint`; add `endpoint: https://NAME.openai.azure.com`"
    );
    insta::assert_snapshot!(read(&[]).unwrap_err(), @"agent.yaml: cannot be read: No such file or directory (os error 2)");
    insta::assert_snapshot!(problem(""), @"agent.yaml:1:1: an agent file must be a mapping, not nothing");
    insta::assert_snapshot!(problem("- a\n"), @"agent.yaml:1:1: an agent file must be a mapping, not a list");
    insta::assert_snapshot!(problem("name: [a\n"), @"agent.yaml:1:7: this is not YAML: unclosed bracket '['");
}

#[test]
fn missing_variables_are_told_with_their_place() {
    insta::assert_snapshot!(
        problem("name: desk\ninstructions: x\nmodel:\n  provider: openai\n  name: a\n  api_key: ${MY_KEY}\n"),
        @"agent.yaml:6:12: the variable `MY_KEY` is not set; set MY_KEY, or write `${MY_KEY:-a default}`"
    );
    insta::assert_snapshot!(problem("name: ${9}\ninstructions: x\n"), @"agent.yaml:1:7: `${9}` is no variable; write `${NAME}`, or `$${` for the characters themselves");
}

#[test]
fn values_out_of_their_bounds_are_told() {
    let model = |line: &str| {
        problem(&format!(
            "name: d\ninstructions: x\nmodel:\n  provider: openai\n  name: a\n  {line}\n"
        ))
    };
    insta::assert_snapshot!(model("temperature: 3"), @"agent.yaml:6:16: `temperature` must be a number from 0 to 2, not 3");
    insta::assert_snapshot!(model("temperature: warm"), @"agent.yaml:6:16: `temperature` must be a number from 0 to 2, not `warm`");
    insta::assert_snapshot!(model("max_tokens: 0"), @"agent.yaml:6:15: `max_tokens` must be a whole number from 1 to 10000000, not 0");
    insta::assert_snapshot!(model("timeout: soon"), @"agent.yaml:6:12: `timeout` must be a time such as 30, `500ms`, `30s` or `5m`, at most a day, not `soon`");
    insta::assert_snapshot!(model("endpoint: api.example"), @"agent.yaml:6:3: `api.example` is no address; an endpoint begins with https:// or http://");
    insta::assert_snapshot!(model("headers: [a]"), @"agent.yaml:6:12: `headers` must be a mapping, not a list");
    insta::assert_snapshot!(
        problem("name: d\ninstructions: x\nmodel: {provider: opnai, name: a}\n"),
        @"agent.yaml:3:19: `provider` cannot be `opnai`; did you mean `openai`?"
    );
    insta::assert_snapshot!(problem("name: d\ninstructions: x\nseat: robot\n"), @"agent.yaml:3:1: `robot` is no seat; write `human`, `model` or `replay:FILE`");
    insta::assert_snapshot!(problem("name: d\ninstructions: x\nlimits: {max_steps: 0}\n"), @"agent.yaml:3:21: `max_steps` must be a whole number from 1 to 1000, not 0");
    insta::assert_snapshot!(
        problem("name: d\ninstructions: x\nresponse_format: {type: strng}\n"),
        @r#"agent.yaml:3:18: `response_format` is no JSON Schema: "strng" is not valid under any of the schemas listed in the 'anyOf' keyword"#
    );
    insta::assert_snapshot!(
        problem("name: d\ninstructions: x\nresponse_format: gone.json\n"),
        @"agent.yaml:3:18: the schema file `gone.json` cannot be read: No such file or directory (os error 2)"
    );
}

#[test]
fn tools_that_cannot_work_are_told() {
    let tool = |tool: &str| problem(&format!("name: d\ninstructions: x\ntools:\n  - {tool}\n"));
    insta::assert_snapshot!(tool("{name: a}"), @"agent.yaml:4:5: the tool has no `type`; add `type: mcp`, `type: prompt` or `type: function`");
    insta::assert_snapshot!(tool("{name: a, type: vectorstore}"), @"agent.yaml:4:21: `type` cannot be `vectorstore`; known here: `mcp`, `prompt`, `function`");
    insta::assert_snapshot!(tool("{name: a, type: mcp}"), @"agent.yaml:4:5: exactly one of `command`, `url` must be given, not 0");
    insta::assert_snapshot!(tool("{name: a, type: mcp, transport: sse, url: 'http://x/'}"), @"agent.yaml:4:37: `transport` cannot be `sse`; known here: `stdio`, `http`, `streamable_http`");
    insta::assert_snapshot!(tool("{name: a, type: mcp, url: 'ws://x/'}"), @"agent.yaml:4:26: `ws://x/` is no address; an MCP server's url begins with https:// or http://");
    insta::assert_snapshot!(tool("{name: a, type: mcp, command: npx, headers: {a: b}}"), @"agent.yaml:4:40: `headers` has no meaning for an MCP server over stdio");
    assert!(tool("{name: a, type: mcp, command: npx, cwd: gone}").contains("gone` is not there"));
    insta::assert_snapshot!(tool("{name: a b, type: function, file: tools.py}"), @"agent.yaml:4:6: a tool cannot be called `a b`; use at most 64 letters, digits, `_` and `-`");
    insta::assert_snapshot!(tool("{name: a, type: prompt, description: x, template: 'Say {{word}}'}"), @"agent.yaml:4:5: the template of `a` uses `{{word}}`, which is no parameter; add `parameters: {word: {type: string}}`");
    insta::assert_snapshot!(tool("{name: a, type: prompt, description: x, template: y, file: z}"), @"agent.yaml:4:5: exactly one of `template`, `file` must be given, not 2");
    insta::assert_snapshot!(
        tool("{name: a, type: function, file: tools.py}\n  - {name: a, type: function, file: tools.py}"),
        @"agent.yaml:5:5: the tool in line 4 is called `a` too"
    );
}

#[test]
fn a_key_of_the_environment_goes_only_to_its_own_provider() {
    let model = |lines: &str| -> ModelSpec {
        let text =
            format!("name: d\ninstructions: x\nmodel: {{provider: openai, name: a{lines}}}\n");
        read(&[("agent.yaml", &text)]).unwrap().model.unwrap()
    };

    assert_eq!(model("").api_key, Some(Secret::new("sk-env")));
    assert_eq!(model(", endpoint: 'http://localhost:9/v1'").api_key, None);
    assert_eq!(model(", api_key: own").api_key, Some(Secret::new("own")));
}

#[test]
fn native_agents_are_known_by_the_names_of_their_files() {
    let folder = folder(&[
        ("native/agent.yaml", ""),
        ("python/agent.py", ""),
        ("adk/root_agent.yaml", ""),
        ("other/settings.yaml", ""),
    ]);
    let native = |path: &str| looks_native(&folder.path().join(path));

    assert!(native("native") && native("native/agent.yaml") && native("adk/root_agent.yaml"));
    assert!(!native("python") && !native("python/agent.py") && !native("adk"));
    assert!(!native("other/settings.yaml") && !native("gone/agent.yaml"));
}

#[test]
fn the_schema_for_editors_knows_good_files_from_bad_ones() {
    let wrong = |file: serde_json::Value| {
        hotseat_core::violations(&AgentFile::json_schema(), &file).unwrap().len()
    };
    let with = |key: &str, value: serde_json::Value| {
        let mut file = json!({"name": "desk", "instructions": {"inline": "x"}});
        file[key] = value;
        file
    };

    assert_eq!(wrong(json!({"name": "desk", "instructions": "x"})), 0);
    assert_eq!(
        wrong(with("model", json!({"provider": "google", "name": "a", "timeout": "5m"}))),
        0
    );
    assert_eq!(
        wrong(with(
            "tools",
            json!([
                {"type": "mcp", "name": "a", "command": "npx", "args": ["-y"], "load_tools": ["b"]},
                {"type": "mcp", "name": "b", "url": "${URL}", "headers": {"x": "y"}},
                {"type": "prompt", "name": "c", "description": "d", "template": "{{t}}", "parameters": {"t": {}}},
                {"type": "function", "name": "d", "file": "tools.py"},
            ])
        )),
        0
    );
    assert_ne!(wrong(json!({"name": "desk"})), 0);
    assert_ne!(wrong(with("modle", json!({}))), 0);
    assert_ne!(wrong(with("instructions", json!({"inline": "x", "file": "y"}))), 0);
    assert_ne!(wrong(with("model", json!({"provider": "opnai", "name": "a"}))), 0);
    assert_ne!(wrong(with("tools", json!([{"type": "mcp", "name": "a"}]))), 0);
    assert_ne!(wrong(with("seat", json!("robot"))), 0);
}

#[test]
fn the_schema_for_editors_is_up_to_date() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/agent.schema.json");
    let wanted = format!("{:#}\n", AgentFile::json_schema());
    if std::env::var_os("UPDATE").is_some() {
        std::fs::write(&path, &wanted).unwrap();
    }

    let found = std::fs::read_to_string(&path).unwrap();

    assert!(found == wanted, "docs/agent.schema.json is old; run the test with UPDATE=1");
}
