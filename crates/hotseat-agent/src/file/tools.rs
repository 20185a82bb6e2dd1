//! The `tools` of a file.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

use super::Surroundings;
use super::fields::{Fields, wrong};
use super::model::{self, is_http};
use super::native::usable_schema;
use super::problem::Problem;
use super::text_file::{read as read_text, without_front_matter};
use super::yaml::{Data, Node, Place};
use crate::prompt::placeholders;
use crate::spec::Secret;
use crate::tool_spec::{
    DEFAULT_CONNECT_TIMEOUT, DEFAULT_REQUEST_TIMEOUT, FunctionSpec, McpSpec, McpTransport,
    PromptSpec, ToolSpec,
};

/// The kinds of tools.
pub(super) const TYPES: [&str; 3] = ["mcp", "prompt", "function"];
/// The keys of an MCP server.
pub(super) const MCP_KEYS: [&str; 14] = [
    "type",
    "name",
    "description",
    "transport",
    "command",
    "args",
    "env",
    "cwd",
    "url",
    "headers",
    "load_tools",
    "prefix",
    "request_timeout",
    "connect_timeout",
];
/// The keys of a prompt tool.
pub(super) const PROMPT_KEYS: [&str; 7] =
    ["type", "name", "description", "template", "file", "parameters", "model"];
/// The keys of a function tool.
pub(super) const FUNCTION_KEYS: [&str; 6] =
    ["type", "name", "description", "file", "function", "parameters"];
/// The ways to an MCP server.
pub(super) const TRANSPORTS: [&str; 3] = ["stdio", "http", "streamable_http"];

/// Most entries of `tools`.
const MAX_TOOLS: usize = 50;
/// Longest name of a tool that every provider takes.
const MAX_NAME_CHARS: usize = 64;

/// Reads the list of tools.
pub(super) fn read(
    node: Option<Node>,
    around: &Surroundings<'_>,
) -> Result<Vec<ToolSpec>, Problem> {
    let Some(node) = node else { return Ok(Vec::new()) };
    let (at, kind) = (node.at, node.kind());
    let Data::List(items) = node.data else {
        return Err(Problem::at(at, format!("`tools` must be a list, not {kind}")));
    };
    if items.len() > MAX_TOOLS {
        let message = format!("there are {} tools, more than {MAX_TOOLS}", items.len());
        return Err(Problem::at(at, message));
    }
    let mut names: Vec<(Place, String)> = Vec::with_capacity(items.len());
    let mut tools = Vec::with_capacity(items.len());
    for item in items {
        let at = item.at;
        let tool = tool(item, around)?;
        let name = match &tool {
            ToolSpec::Mcp(spec) => &spec.name,
            ToolSpec::Prompt(spec) => &spec.name,
            ToolSpec::Function(spec) => &spec.name,
        };
        if let Some((other, _)) = names.iter().find(|(_, other)| other == name) {
            let message = format!("the tool in line {} is called `{name}` too", other.line);
            return Err(Problem::at(at, message));
        }
        names.push((at, name.clone()));
        tools.push(tool);
    }
    Ok(tools)
}

fn tool(node: Node, around: &Surroundings<'_>) -> Result<ToolSpec, Problem> {
    let mut peek = Fields::open(node.clone(), "a tool")?;
    let at = peek.at;
    let kind = peek.word("type", &TYPES)?;
    match kind.as_deref() {
        Some("mcp") => mcp(node, around).map(ToolSpec::Mcp),
        Some("prompt") => prompt(node, around).map(ToolSpec::Prompt),
        Some("function") => function(node, around).map(ToolSpec::Function),
        _ => Err(Problem::at(at, "the tool has no `type`")
            .hint("add `type: mcp`, `type: prompt` or `type: function`")),
    }
}

fn mcp(node: Node, around: &Surroundings<'_>) -> Result<McpSpec, Problem> {
    let mut fields = Fields::of(node, "an MCP tool", &MCP_KEYS)?;
    let name = fields.required_text("name")?;
    let given = fields.word("transport", &TRANSPORTS)?;
    fields.exactly_one(&["command", "url"])?;
    let over_http = fields.has("url");
    if given.is_some_and(|given| (given != "stdio") != over_http) {
        return Err(Problem::at(fields.at, "`transport` does not fit the other keys")
            .hint("stdio has a `command`, http has a `url`"));
    }
    let elsewhere: &[&str] = if over_http { &["args", "env", "cwd"] } else { &["headers"] };
    if let Some(key) = elsewhere.iter().find(|key| fields.has(key)) {
        let other = if over_http { "http" } else { "stdio" };
        let message = format!("`{key}` has no meaning for an MCP server over {other}");
        return Err(Problem::at(fields.place(key), message));
    }
    let transport = if over_http { http(&mut fields)? } else { stdio(&mut fields, around)? };
    Ok(McpSpec {
        name,
        transport,
        load_tools: load_tools(&mut fields)?,
        prefix: fields.text("prefix")?.filter(|prefix| !prefix.is_empty()),
        request_timeout: fields.duration("request_timeout")?.unwrap_or(DEFAULT_REQUEST_TIMEOUT),
        connect_timeout: fields.duration("connect_timeout")?.unwrap_or(DEFAULT_CONNECT_TIMEOUT),
    })
}

fn stdio(fields: &mut Fields, around: &Surroundings<'_>) -> Result<McpTransport, Problem> {
    let command = fields.required_text("command")?;
    let place = fields.place("cwd");
    let cwd = around.folder.join(fields.text("cwd")?.unwrap_or_default());
    if !cwd.as_os_str().is_empty() && !cwd.is_dir() {
        return Err(Problem::at(place, format!("the folder `{}` is not there", cwd.display())));
    }
    Ok(McpTransport::Stdio {
        command,
        args: fields.texts("args")?.unwrap_or_default(),
        env: secrets(fields.text_map("env")?),
        cwd,
    })
}

fn http(fields: &mut Fields) -> Result<McpTransport, Problem> {
    let place = fields.place("url");
    let url = fields.required_text("url")?;
    if !is_http(&url) {
        return Err(Problem::at(place, format!("`{url}` is no address"))
            .hint("an MCP server's url begins with https:// or http://"));
    }
    let url = url.trim().to_owned();
    Ok(McpTransport::Http { url, headers: secrets(fields.text_map("headers")?) })
}

pub(super) fn secrets(texts: BTreeMap<String, String>) -> BTreeMap<String, Secret> {
    texts.into_iter().map(|(name, value)| (name, Secret::new(value))).collect()
}

/// Names of tools, or simply whether there should be any.
fn load_tools(fields: &mut Fields) -> Result<Option<Vec<String>>, Problem> {
    let Some(node) = fields.take("load_tools") else { return Ok(None) };
    match &node.data {
        Data::Bool(true) => Ok(None),
        Data::Bool(false) => Ok(Some(Vec::new())),
        Data::List(items) => items
            .iter()
            .map(|item| match &item.data {
                Data::Text(name) => Ok(name.clone()),
                _ => Err(wrong(item, "load_tools", "a list of names")),
            })
            .collect::<Result<_, _>>()
            .map(Some),
        _ => Err(wrong(&node, "load_tools", "a list of names, true or false")),
    }
}

fn prompt(node: Node, around: &Surroundings<'_>) -> Result<PromptSpec, Problem> {
    let mut fields = Fields::of(node, "a prompt tool", &PROMPT_KEYS)?;
    let at = fields.at;
    let name = tool_name(&mut fields)?;
    let description = fields.required_text("description")?;
    fields.exactly_one(&["template", "file"])?;
    let place = fields.place("file");
    let template = match (fields.text("template")?, fields.text("file")?) {
        (Some(template), _) => template,
        (None, Some(file)) => {
            let text = read_text(&around.folder.join(&file))
                .map_err(|error| Problem::at(place, format!("the file `{file}` {error}")))?;
            without_front_matter(&text).to_owned()
        }
        (None, None) => String::new(),
    };
    let parameters = parameters(&mut fields)?.unwrap_or_else(no_parameters);
    let known = parameters.get("properties").and_then(Value::as_object);
    for placeholder in placeholders(&template) {
        if !known.is_some_and(|known| known.contains_key(placeholder)) {
            let message = format!(
                "the template of `{name}` uses `{{{{{placeholder}}}}}`, which is no parameter"
            );
            return Err(Problem::at(at, message)
                .hint(format!("add `parameters: {{{placeholder}: {{type: string}}}}`")));
        }
    }
    let model = fields.take("model").map(|node| model::read(node, around)).transpose()?;
    Ok(PromptSpec { name, description, template, parameters, model })
}

fn function(node: Node, around: &Surroundings<'_>) -> Result<FunctionSpec, Problem> {
    let mut fields = Fields::of(node, "a function tool", &FUNCTION_KEYS)?;
    let name = tool_name(&mut fields)?;
    let place = fields.place("file");
    let file = around.folder.join(fields.required_text("file")?);
    if !file.is_file() {
        let message = format!("the file `{}` is not there", file.display());
        return Err(Problem::at(place, message));
    }
    Ok(FunctionSpec {
        description: fields.text("description")?,
        function: fields.text("function")?.unwrap_or_else(|| name.clone()),
        parameters: parameters(&mut fields)?,
        name,
        file,
    })
}

/// A name that every provider takes.
fn tool_name(fields: &mut Fields) -> Result<String, Problem> {
    let place = fields.place("name");
    let name = fields.required_text("name")?;
    let usable = name.len() <= MAX_NAME_CHARS
        && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_' || c == '-');
    if usable {
        return Ok(name);
    }
    let hint = format!("use at most {MAX_NAME_CHARS} letters, digits, `_` and `-`");
    Err(Problem::at(place, format!("a tool cannot be called `{name}`")).hint(hint))
}

/// Parameters by name, or a whole JSON Schema of an object.
fn parameters(fields: &mut Fields) -> Result<Option<Value>, Problem> {
    let Some(node) = fields.take("parameters") else { return Ok(None) };
    let at = node.at;
    let json = node.to_json();
    let Value::Object(given) = json else {
        return Err(wrong(&node, "parameters", "a mapping of names to JSON Schemas"));
    };
    let whole = given.get("type").is_some_and(|kind| kind == "object");
    let schema = if whole { Value::Object(given) } else { named(given, at)? };
    usable_schema(schema)
        .map(Some)
        .map_err(|error| Problem::at(at, format!("`parameters` is no JSON Schema: {error}")))
}

/// Every parameter is needed unless it has a default or says otherwise.
fn named(given: Map<String, Value>, at: Place) -> Result<Value, Problem> {
    let mut properties = Map::new();
    let mut required = Vec::new();
    for (name, schema) in given {
        let Value::Object(mut schema) = schema else {
            let message = format!("the parameter `{name}` must be a JSON Schema");
            return Err(Problem::at(at, message).hint(format!("write `{name}: {{type: string}}`")));
        };
        let needed = match schema.shift_remove("required") {
            Some(Value::Bool(needed)) => needed,
            Some(other) => {
                // A list belongs to the schema of an object.
                schema.insert("required".to_owned(), other);
                !schema.contains_key("default")
            }
            None => !schema.contains_key("default"),
        };
        if needed {
            required.push(Value::from(name.as_str()));
        }
        properties.insert(name, Value::Object(schema));
    }
    Ok(json!({"type": "object", "properties": properties, "required": required}))
}

fn no_parameters() -> Value {
    json!({"type": "object", "properties": {}})
}
