//! The tools of an agent as a run sees them: by name, with their declarations
//! made once.
//!
//! A [`ToolSet`] never changes. When an MCP server says that its tools did, a
//! new set takes the place of the old one, and runs that already started keep
//! the one they showed to the model.

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::Arc;

use serde::Serialize;
use serde_json::{Map, Value, json};

use crate::host::Functions;
use crate::mcp::{McpServer, ProgressSender};
use crate::prompt::PromptTool;

/// Most tools of one agent; models get lost long before.
pub(crate) const MAX_TOOLS: usize = 1_000;

/// A tool, for people and for listings.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ToolCard {
    /// The name to call it by.
    pub name: String,
    /// What it does, as the model is told.
    pub description: String,
    /// Its parameters as JSON Schema.
    pub parameters: Value,
    /// `mcp`, `prompt` or `function`.
    pub kind: &'static str,
}

/// Something that can be called.
#[derive(Clone)]
pub(crate) enum Tool {
    /// A tool of an MCP server, by the server's own name for it.
    Mcp { server: Arc<McpServer>, name: String },
    /// A template that a model answers.
    Prompt(Arc<PromptTool>),
    /// A Python function.
    Function { functions: Arc<dyn Functions>, file: PathBuf, function: String },
}

impl Tool {
    /// Calls it. An error is what the model is told.
    pub(crate) async fn call(
        &self,
        args: &Map<String, Value>,
        progress: ProgressSender,
    ) -> Result<Value, String> {
        match self {
            Self::Mcp { server, name } => server.call(name, args, progress).await,
            Self::Prompt(prompt) => prompt.call(&Value::Object(args.clone())).await,
            Self::Function { functions, file, function } => {
                functions.call(file, function, &Value::Object(args.clone())).await
            }
        }
    }
}

/// Tools that do not change while they are used.
pub(crate) struct ToolSet {
    cards: Vec<ToolCard>,
    tools: HashMap<String, Tool>,
    declarations: Vec<Value>,
}

/// Two tools want the same name.
#[derive(Debug)]
pub(crate) struct Duplicate {
    pub(crate) name: String,
}

impl ToolSet {
    /// A set of these; the second of two with one name is refused.
    pub(crate) fn new(entries: Vec<(ToolCard, Tool)>) -> Result<Self, Duplicate> {
        let mut set = Self {
            cards: Vec::with_capacity(entries.len()),
            tools: HashMap::with_capacity(entries.len()),
            declarations: Vec::with_capacity(entries.len()),
        };
        for (card, tool) in entries {
            if set.tools.contains_key(&card.name) {
                return Err(Duplicate { name: card.name });
            }
            set.tools.insert(card.name.clone(), tool);
            set.declarations.push(declaration(&card.name, &card.description, &card.parameters));
            set.cards.push(card);
        }
        Ok(set)
    }

    pub(crate) fn cards(&self) -> &[ToolCard] {
        &self.cards
    }

    pub(crate) fn get(&self, name: &str) -> Option<&Tool> {
        self.tools.get(name)
    }

    /// genai FunctionDeclarations.
    pub(crate) fn declarations(&self) -> &[Value] {
        &self.declarations
    }
}

/// A genai FunctionDeclaration.
pub(crate) fn declaration(name: &str, description: &str, parameters: &Value) -> Value {
    json!({"name": name, "description": description, "parameters_json_schema": parameters})
}
