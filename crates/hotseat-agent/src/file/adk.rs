//! ADK's own root_agent.yaml, where it says the same as agent.yaml.
//!
//! A file that needs Python (callbacks, tools by reference, other agents) is
//! refused with the key that needs it, never run without it: an agent that
//! silently lost a tool or a callback would be another agent.

use super::fields::Fields;
use super::model::{MAX_TOKENS, usual_key};
use super::native::{name, schema};
use super::problem::Problem;
use super::tools::secrets;
use super::yaml::{Data, Node, Place};
use super::{AgentFile, AgentLimits, Surroundings};
use crate::spec::{ModelSpec, ProviderKind};
use crate::tool_spec::{
    DEFAULT_CONNECT_TIMEOUT, DEFAULT_REQUEST_TIMEOUT, McpSpec, McpTransport, ToolSpec,
};

/// The keys that mean the same here.
const KEYS: [&str; 13] = [
    "agent_class",
    "name",
    "description",
    "model",
    "instruction",
    "tools",
    "output_schema",
    "input_schema",
    "output_key",
    "generate_content_config",
    "include_contents",
    "disallow_transfer_to_parent",
    "disallow_transfer_to_peers",
];
/// The classes that are plain agents.
const CLASSES: [&str; 3] = ["LlmAgent", "Agent", "google.adk.agents.LlmAgent"];
/// The names of ADK's MCP toolset.
const MCP_CLASSES: [&str; 4] = [
    "McpToolset",
    "MCPToolset",
    "google.adk.tools.mcp_tool.McpToolset",
    "google.adk.tools.mcp_tool.MCPToolset",
];
/// The arguments of the toolset that mean the same here.
const MCP_KEYS: [&str; 5] = [
    "stdio_server_params",
    "stdio_connection_params",
    "streamable_http_connection_params",
    "tool_filter",
    "tool_name_prefix",
];

const WORKER: &str = "give the agent's folder to Hotseat instead, and the Python worker runs it";

/// Reads root_agent.yaml.
pub(super) fn read(root: Node, around: &Surroundings<'_>) -> Result<AgentFile, Problem> {
    let mut fields = with_keys(root, "an agent file", &KEYS)?;
    let class = (fields.place("agent_class"), fields.text("agent_class")?);
    if let (place, Some(class)) = class
        && !CLASSES.contains(&class.as_str())
    {
        return Err(needs_python(place, &format!("an agent of the class `{class}`")));
    }
    let contents = (fields.place("include_contents"), fields.text("include_contents")?);
    if let (place, Some(contents)) = contents
        && contents != "default"
    {
        return Err(needs_python(place, &format!("`include_contents: {contents}`")));
    }
    fields.flag("disallow_transfer_to_parent")?;
    fields.flag("disallow_transfer_to_peers")?;
    let name = name(&mut fields)?;
    let mut model = model(&mut fields, around)?;
    generation(&mut fields, model.as_mut())?;
    Ok(AgentFile {
        path: around.folder.to_owned(),
        name,
        description: fields.text("description")?.unwrap_or_default(),
        author: None,
        model,
        instruction: fields.required_text("instruction")?,
        output_schema: python_or_schema(&mut fields, "output_schema", around)?,
        input_schema: python_or_schema(&mut fields, "input_schema", around)?,
        output_key: fields.text("output_key")?,
        tools: tools(&mut fields, around)?,
        limits: AgentLimits::default(),
        seat: None,
        eval_set_path: None,
    })
}

/// ADK names a model by its name alone.
fn model(fields: &mut Fields, around: &Surroundings<'_>) -> Result<Option<ModelSpec>, Problem> {
    let place = fields.place("model");
    let Some(name) = fields.text("model")? else { return Ok(None) };
    let (provider, model) = match name.split_once('/') {
        None if name.starts_with("gemini") => (ProviderKind::Gemini, name.as_str()),
        Some(("gemini", model)) => (ProviderKind::Gemini, model),
        Some(("openai", model)) => (ProviderKind::OpenAi, model),
        Some(("anthropic", model)) => (ProviderKind::Anthropic, model),
        Some(("ollama" | "ollama_chat", model)) => (ProviderKind::Ollama, model),
        _ => return Err(needs_python(place, &format!("the model `{name}`"))),
    };
    let mut spec = ModelSpec::new(provider, model);
    spec.api_key = usual_key(provider, around);
    Ok(Some(spec))
}

fn generation(fields: &mut Fields, model: Option<&mut ModelSpec>) -> Result<(), Problem> {
    let Some(node) = fields.take("generate_content_config") else { return Ok(()) };
    let mut config = with_keys(
        node,
        "`generate_content_config`",
        &["temperature", "max_output_tokens", "top_p"],
    )?;
    let temperature = config.number("temperature", 0.0, 2.0)?;
    let max_tokens = config.count("max_output_tokens", 1, MAX_TOKENS)?;
    let top_p = config.number("top_p", 0.0, 1.0)?;
    if let Some(model) = model {
        model.temperature = temperature;
        model.max_tokens = max_tokens;
        model.top_p = top_p;
    }
    Ok(())
}

/// ADK refers to a Python class; a JSON Schema in its place is understood too.
fn python_or_schema(
    fields: &mut Fields,
    key: &str,
    around: &Surroundings<'_>,
) -> Result<Option<serde_json::Value>, Problem> {
    let place = fields.place(key);
    let Some(node) = fields.take(key) else { return Ok(None) };
    let is_schema = match &node.data {
        Data::Map(entries) => entries.iter().any(|(key, _)| {
            matches!(key.name.as_str(), "type" | "properties" | "$ref" | "anyOf" | "$schema")
        }),
        _ => false,
    };
    if !is_schema {
        return Err(needs_python(place, &format!("a Python class as `{key}`")));
    }
    let key_node = super::yaml::Key { at: place, name: key.to_owned() };
    let again = Node { at: place, data: Data::Map(vec![(key_node, node)]) };
    schema(&mut Fields::open(again, key)?, key, around)
}

fn tools(fields: &mut Fields, around: &Surroundings<'_>) -> Result<Vec<ToolSpec>, Problem> {
    let Some(node) = fields.take("tools") else { return Ok(Vec::new()) };
    let (at, kind) = (node.at, node.kind());
    let Data::List(items) = node.data else {
        return Err(Problem::at(at, format!("`tools` must be a list, not {kind}")));
    };
    items
        .into_iter()
        .enumerate()
        .map(|(index, item)| toolset(item, index, around).map(ToolSpec::Mcp))
        .collect()
}

fn toolset(node: Node, index: usize, around: &Surroundings<'_>) -> Result<McpSpec, Problem> {
    let mut tool = Fields::of(node, "a tool", &["name", "args"])?;
    let place = tool.place("name");
    let class = tool.required_text("name")?;
    if !MCP_CLASSES.contains(&class.as_str()) {
        return Err(needs_python(place, &format!("the tool `{class}`")));
    }
    let at = tool.at;
    let Some(args) = tool.take("args") else {
        return Err(Problem::at(at, format!("`{class}` has no `args`"))
            .hint("say how its server is reached: `stdio_server_params: {command: …}`"));
    };
    let mut args = with_keys(args, "`args`", &MCP_KEYS)?;
    args.exactly_one(&MCP_KEYS[..3])?;
    let mut connect_timeout = DEFAULT_CONNECT_TIMEOUT;
    let transport = if let Some(node) = args.take("stdio_server_params") {
        stdio(node, around)?
    } else if let Some(node) = args.take("stdio_connection_params") {
        let mut params =
            with_keys(node, "`stdio_connection_params`", &["server_params", "timeout"])?;
        connect_timeout = params.duration("timeout")?.unwrap_or(connect_timeout);
        let at = params.at;
        let server = params.take("server_params");
        stdio(server.ok_or_else(|| Problem::at(at, "`server_params` is missing"))?, around)?
    } else {
        let node = args.take("streamable_http_connection_params");
        let node = node.ok_or_else(|| Problem::at(at, "the server's address is missing"))?;
        let mut params = with_keys(node, "the connection", &["url", "headers", "timeout"])?;
        connect_timeout = params.duration("timeout")?.unwrap_or(connect_timeout);
        McpTransport::Http {
            url: params.required_text("url")?,
            headers: secrets(params.text_map("headers")?),
        }
    };
    Ok(McpSpec {
        name: format!("{class} {}", index + 1),
        transport,
        load_tools: args.texts("tool_filter")?,
        // ADK puts an underscore between the two.
        prefix: args.text("tool_name_prefix")?.map(|prefix| format!("{prefix}_")),
        request_timeout: DEFAULT_REQUEST_TIMEOUT,
        connect_timeout,
    })
}

fn stdio(node: Node, around: &Surroundings<'_>) -> Result<McpTransport, Problem> {
    let mut params = with_keys(node, "the server", &["command", "args", "env", "cwd"])?;
    Ok(McpTransport::Stdio {
        command: params.required_text("command")?,
        args: params.texts("args")?.unwrap_or_default(),
        env: secrets(params.text_map("env")?),
        cwd: around.folder.join(params.text("cwd")?.unwrap_or_default()),
    })
}

/// The entries of a mapping of ADK's, which may have keys that only Python understands.
fn with_keys(node: Node, what: &str, known: &[&str]) -> Result<Fields, Problem> {
    if let Data::Map(entries) = &node.data
        && let Some((key, _)) = entries.iter().find(|(key, _)| !known.contains(&key.name.as_str()))
    {
        return Err(needs_python(key.at, &format!("`{}`", key.name)));
    }
    Fields::open(node, what)
}

fn needs_python(at: Place, what: &str) -> Problem {
    Problem::at(at, format!("{what} needs Python's ADK")).hint(WORKER)
}
