//! A native agent: its file, with the tools connected.
//!
//! Opening an agent is the slow part: processes start, servers are greeted,
//! declarations are read. After that an agent is shared by all sessions, and a
//! run only reads what is there.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, PoisonError, RwLock};

use futures_util::future::{join_all, try_join_all};
use hotseat_core::normalise;
use serde_json::Value;

use crate::file::AgentFile;
use crate::host::Functions;
use crate::mcp::McpServer;
use crate::model::Model;
use crate::prompt::PromptTool;
use crate::provider::{self, ConnectError};
use crate::spec::ModelSpec;
use crate::tool::{MAX_TOOLS, Tool, ToolCard, ToolSet};
use crate::tool_spec::{FunctionSpec, PromptSpec, ToolSpec};

/// An agent that can run. Clones share everything.
#[derive(Clone)]
pub struct NativeAgent(Arc<Inner>);

struct Inner {
    file: AgentFile,
    model: Option<Arc<dyn Model>>,
    sources: Vec<Source>,
    /// Counts up whenever a server changes its tools.
    changes: Arc<AtomicU64>,
    set: RwLock<Current>,
}

/// The tools, and how many changes they include.
struct Current {
    changes: u64,
    set: Arc<ToolSet>,
}

/// Where tools come from, in the order of the file.
enum Source {
    Server(Arc<McpServer>),
    One(Box<ToolCard>, Tool),
}

/// Why an agent cannot be opened.
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    /// The model's settings cannot be used.
    #[error("the model of `{agent}` cannot be used")]
    Model {
        /// The agent.
        agent: String,
        /// Why.
        #[source]
        source: ConnectError,
    },
    /// A tool cannot be connected or declared.
    #[error("the tool `{tool}` of `{agent}` cannot be used: {reason}")]
    Tool {
        /// The agent.
        agent: String,
        /// The tool, as the file names it.
        tool: String,
        /// Why.
        reason: String,
    },
    /// Two tools have one name.
    #[error(
        "`{agent}` has two tools called `{tool}`: give one of the MCP servers a `prefix`, or choose its tools with `load_tools`"
    )]
    DuplicateTool {
        /// The agent.
        agent: String,
        /// The name.
        tool: String,
    },
    /// There are more tools than anybody could use.
    #[error("`{agent}` has {count} tools, more than {MAX_TOOLS}: choose some with `load_tools`")]
    TooManyTools {
        /// The agent.
        agent: String,
        /// How many there are.
        count: usize,
    },
}

/// Why an agent cannot work now, though it could be opened.
#[derive(Debug, Clone, thiserror::Error)]
#[error("{reason}")]
pub struct Unready {
    /// The MCP server that does not answer, as the file names it.
    pub server: String,
    /// Why; its own words may be among these.
    pub reason: String,
}

impl NativeAgent {
    /// Connects the model and the tools of a file.
    pub async fn open(file: AgentFile, functions: Arc<dyn Functions>) -> Result<Self, OpenError> {
        let model = file.model.as_ref().map(|spec| connect(&file, spec)).transpose()?;
        let changes = Arc::new(AtomicU64::new(0));
        let opening =
            file.tools.iter().map(|spec| source(&file, spec, model.as_ref(), &functions, &changes));
        let opened = join_all(opening).await;
        // Servers that did start are closed if another one did not.
        if opened.iter().any(Result::is_err) {
            for source in opened.iter().flatten() {
                source.close().await;
            }
        }
        let sources: Vec<Source> = opened.into_iter().collect::<Result<_, _>>()?;
        let seen = changes.load(Ordering::Acquire);
        let set = match tool_set(&file, &sources) {
            Ok(set) => Arc::new(set),
            Err(error) => {
                join_all(sources.iter().map(Source::close)).await;
                return Err(error);
            }
        };
        let set = RwLock::new(Current { changes: seen, set });
        Ok(Self(Arc::new(Inner { file, model, sources, changes, set })))
    }

    /// The file.
    pub fn file(&self) -> &AgentFile {
        &self.0.file
    }

    /// The tools, as they are now.
    pub fn tools(&self) -> Vec<ToolCard> {
        self.tool_set().cards().to_vec()
    }

    /// The model that the file names.
    pub fn model(&self) -> Option<&dyn Model> {
        self.0.model.as_deref()
    }

    /// Whether all MCP servers answer. One that died is reached again.
    pub async fn ready(&self) -> Result<(), Unready> {
        try_join_all(self.0.sources.iter().map(Source::ready)).await.map(|_| ())
    }

    /// Ends all connections and child processes.
    pub async fn close(&self) {
        join_all(self.0.sources.iter().map(Source::close)).await;
    }

    /// The tools as they are now, made anew only after a server changed its own.
    pub(crate) fn tool_set(&self) -> Arc<ToolSet> {
        let inner = &self.0;
        let changes = inner.changes.load(Ordering::Acquire);
        {
            let current = inner.set.read().unwrap_or_else(PoisonError::into_inner);
            if current.changes == changes {
                return Arc::clone(&current.set);
            }
        }
        let mut current = inner.set.write().unwrap_or_else(PoisonError::into_inner);
        if current.changes != changes {
            current.changes = changes;
            match tool_set(&inner.file, &inner.sources) {
                Ok(set) => current.set = Arc::new(set),
                Err(error) => tracing::warn!("the tools stay as they were: {error}"),
            }
        }
        Arc::clone(&current.set)
    }
}

impl std::fmt::Debug for NativeAgent {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("NativeAgent").field("file", &self.0.file).finish_non_exhaustive()
    }
}

impl Source {
    async fn ready(&self) -> Result<(), Unready> {
        match self {
            Self::Server(server) => server
                .ready()
                .await
                .map_err(|reason| Unready { server: server.spec().name.clone(), reason }),
            Self::One(..) => Ok(()),
        }
    }

    async fn close(&self) {
        match self {
            Self::Server(server) => server.close().await,
            Self::One(..) => {}
        }
    }
}

fn connect(file: &AgentFile, spec: &ModelSpec) -> Result<Arc<dyn Model>, OpenError> {
    provider::connect(spec).map_err(|source| OpenError::Model { agent: file.name.clone(), source })
}

async fn source(
    file: &AgentFile,
    spec: &ToolSpec,
    model: Option<&Arc<dyn Model>>,
    functions: &Arc<dyn Functions>,
    changes: &Arc<AtomicU64>,
) -> Result<Source, OpenError> {
    let unusable = |tool: &str, reason: String| OpenError::Tool {
        agent: file.name.clone(),
        tool: tool.to_owned(),
        reason,
    };
    match spec {
        ToolSpec::Mcp(spec) => {
            let server = McpServer::open(spec.clone(), Arc::clone(changes)).await;
            let server = server.map_err(|reason| unusable(&spec.name, reason))?;
            let missing = server.missing();
            if missing.is_empty() {
                return Ok(Source::Server(server));
            }
            server.close().await;
            let reason = format!("its server has no tool called `{}`", missing.join("`, `"));
            Err(unusable(&spec.name, reason))
        }
        ToolSpec::Prompt(spec) => {
            let model = match &spec.model {
                Some(own) => connect(file, own)?,
                None => model.map(Arc::clone).ok_or_else(|| {
                    let reason = "it needs a `model`, its own or the agent's".to_owned();
                    unusable(&spec.name, reason)
                })?,
            };
            Ok(prompt(spec, model))
        }
        ToolSpec::Function(spec) => {
            let card = function_card(spec, functions.as_ref()).await;
            let card = card.map_err(|reason| unusable(&spec.name, reason))?;
            let tool = Tool::Function {
                functions: Arc::clone(functions),
                file: spec.file.clone(),
                function: spec.function.clone(),
            };
            Ok(Source::One(Box::new(card), tool))
        }
    }
}

fn prompt(spec: &PromptSpec, model: Arc<dyn Model>) -> Source {
    let card = ToolCard {
        name: spec.name.clone(),
        description: spec.description.clone(),
        parameters: spec.parameters.clone(),
        kind: "prompt",
    };
    Source::One(Box::new(card), Tool::Prompt(Arc::new(PromptTool::new(spec.clone(), model))))
}

/// What the file says of a function goes before what the function says of itself.
async fn function_card(spec: &FunctionSpec, functions: &dyn Functions) -> Result<ToolCard, String> {
    let declared = match (&spec.parameters, &spec.description) {
        (Some(_), Some(_)) => Value::Null,
        _ => functions.declaration(&spec.file, &spec.function).await?,
    };
    let parameters = match &spec.parameters {
        Some(parameters) => parameters.clone(),
        None => normalise(&declared).map_err(|error| error.to_string())?,
    };
    let own = declared.get("description").and_then(Value::as_str).unwrap_or_default();
    Ok(ToolCard {
        name: spec.name.clone(),
        description: spec.description.clone().unwrap_or_else(|| own.to_owned()),
        parameters,
        kind: "function",
    })
}

fn tool_set(file: &AgentFile, sources: &[Source]) -> Result<ToolSet, OpenError> {
    let mut entries = Vec::new();
    for source in sources {
        match source {
            Source::One(card, tool) => entries.push((ToolCard::clone(card), tool.clone())),
            Source::Server(server) => entries.extend(server_tools(server)),
        }
    }
    if entries.len() > MAX_TOOLS {
        let count = entries.len();
        return Err(OpenError::TooManyTools { agent: file.name.clone(), count });
    }
    ToolSet::new(entries).map_err(|duplicate| OpenError::DuplicateTool {
        agent: file.name.clone(),
        tool: duplicate.name,
    })
}

fn server_tools(server: &Arc<McpServer>) -> Vec<(ToolCard, Tool)> {
    let prefix = server.spec().prefix.as_deref().unwrap_or_default();
    let tools = server.tools().into_iter().map(|tool| {
        let card = ToolCard {
            name: format!("{prefix}{}", tool.name),
            description: tool.description.as_deref().unwrap_or_default().to_owned(),
            parameters: Value::Object(tool.input_schema.as_ref().clone()),
            kind: "mcp",
        };
        (card, Tool::Mcp { server: Arc::clone(server), name: tool.name.into_owned() })
    });
    tools.collect()
}
