//! ADK's own root_agent.yaml.

use hotseat_agent::{AgentFile, McpTransport, ProviderKind, ToolSpec};
use serde_json::json;

use crate::file::folder;

fn read(text: &str) -> Result<AgentFile, String> {
    let folder = folder(&[("root_agent.yaml", text)]);
    let root = folder.path().to_str().unwrap().to_owned();
    let env = |name: &str| (name == "GOOGLE_API_KEY").then(|| "g-1".to_owned());
    AgentFile::read(&folder.path().join("root_agent.yaml"), &env)
        .map_err(|problem| problem.to_string().replace(&format!("{root}/"), ""))
}

#[test]
fn a_file_that_says_the_same_is_read() {
    let file = read(
        r"
# yaml-language-server: $schema=https://raw.githubusercontent.com/google/adk-python/refs/heads/main/src/google/adk/agents/config_schemas/AgentConfig.json
agent_class: LlmAgent
name: assistant_agent
model: gemini-2.5-flash
description: A helper agent that can answer users' questions.
instruction: You are an agent to help {user:name}.
output_key: answer
output_schema: {type: object, properties: {text: {type: string}}}
generate_content_config: {temperature: 0.1, max_output_tokens: 2000}
tools:
  - name: MCPToolset
    args:
      stdio_server_params:
        command: npx
        args: [-y, '@notionhq/notion-mcp-server']
        env: {OPENAPI_MCP_HEADERS: x}
      tool_filter: [search]
      tool_name_prefix: notion
  - name: McpToolset
    args:
      streamable_http_connection_params: {url: 'https://mcp.example/', timeout: 10}
",
    )
    .unwrap();

    assert_eq!(file.name, "assistant_agent");
    assert_eq!(file.instruction, "You are an agent to help {user:name}.");
    assert_eq!(file.output_key.as_deref(), Some("answer"));
    assert_eq!(file.output_schema.unwrap()["type"], json!("object"));
    let model = file.model.unwrap();
    assert_eq!((model.provider, model.name.as_str()), (ProviderKind::Gemini, "gemini-2.5-flash"));
    assert_eq!((model.temperature, model.max_tokens), (Some(0.1), Some(2000)));
    assert_eq!(model.api_key.unwrap().reveal(), "g-1");
    let [ToolSpec::Mcp(notion), ToolSpec::Mcp(web)] = &file.tools[..] else {
        panic!("{:?}", file.tools)
    };
    assert_eq!(notion.prefix.as_deref(), Some("notion_"));
    assert_eq!(notion.load_tools, Some(vec!["search".to_owned()]));
    assert!(matches!(&notion.transport, McpTransport::Stdio { command, .. } if command == "npx"));
    assert!(matches!(&web.transport, McpTransport::Http { .. }));
    assert_eq!(web.connect_timeout.as_secs(), 10);
}

#[test]
fn what_needs_python_is_refused_by_name() {
    let with = |lines: &str| {
        read(&format!("name: a\nmodel: gemini-2.5-flash\ninstruction: x\n{lines}\n")).unwrap_err()
    };
    insta::assert_snapshot!(with("sub_agents: [{config_path: b.yaml}]"), @"root_agent.yaml:4:1: `sub_agents` needs Python's ADK; give the agent's folder to Hotseat instead, and the Python worker runs it");
    insta::assert_snapshot!(with("before_model_callbacks: [{name: a.b}]"), @"root_agent.yaml:4:1: `before_model_callbacks` needs Python's ADK; give the agent's folder to Hotseat instead, and the Python worker runs it");
    insta::assert_snapshot!(with("agent_class: LoopAgent"), @"root_agent.yaml:4:1: an agent of the class `LoopAgent` needs Python's ADK; give the agent's folder to Hotseat instead, and the Python worker runs it");
    insta::assert_snapshot!(with("tools: [{name: google_search}]"), @"root_agent.yaml:4:10: the tool `google_search` needs Python's ADK; give the agent's folder to Hotseat instead, and the Python worker runs it");
    insta::assert_snapshot!(with("output_schema: {name: my.Schema}"), @"root_agent.yaml:4:1: a Python class as `output_schema` needs Python's ADK; give the agent's folder to Hotseat instead, and the Python worker runs it");
    insta::assert_snapshot!(with("include_contents: none"), @"root_agent.yaml:4:1: `include_contents: none` needs Python's ADK; give the agent's folder to Hotseat instead, and the Python worker runs it");
    insta::assert_snapshot!(
        with("tools: [{name: McpToolset, args: {sse_connection_params: {url: 'http://x/'}}}]"),
        @"root_agent.yaml:4:35: `sse_connection_params` needs Python's ADK; give the agent's folder to Hotseat instead, and the Python worker runs it"
    );
    insta::assert_snapshot!(
        read("name: a\nmodel: my-own\ninstruction: x\n").unwrap_err(),
        @"root_agent.yaml:2:1: the model `my-own` needs Python's ADK; give the agent's folder to Hotseat instead, and the Python worker runs it"
    );
    insta::assert_snapshot!(read("name: a\n").unwrap_err(), @"root_agent.yaml:1:1: `instruction` is missing; add `instruction: …`");
}
