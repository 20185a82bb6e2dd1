//! agent.yaml: everything that makes a native agent, in one file.
//!
//! [`AgentFile::read`] gives a file that can be used as it is: variables are
//! filled in, paths are relative to the file's folder and exist, schemas
//! compile. What is wrong is told with its line and with what to do, and a key
//! that nobody reads is wrong too, because a setting without effect is worse
//! than an error.

mod adk;
mod fields;
mod model;
mod native;
mod problem;
mod schema;
mod text_file;
mod tools;
mod variables;
mod yaml;

use std::path::{Path, PathBuf};
use std::time::Duration;

use serde_json::Value;

pub use problem::FileProblem;

use crate::spec::ModelSpec;
use crate::tool_spec::ToolSpec;
use problem::Problem;
use variables::VariableProblem;
use yaml::{Data, Node};

/// The names of files that describe native agents.
const NAMES: [&str; 2] = ["agent.yaml", "agent.yml"];
/// ADK's own name for such a file.
const ADK_NAME: &str = "root_agent.yaml";

/// An agent as its file describes it.
#[derive(Debug, Clone, PartialEq)]
pub struct AgentFile {
    /// The file.
    pub path: PathBuf,
    /// The agent's name.
    pub name: String,
    /// What it is for.
    pub description: String,
    /// Who wrote it.
    pub author: Option<String>,
    /// The model in its seat; none, if only people sit there.
    pub model: Option<ModelSpec>,
    /// The instruction, with `{placeholders}` for the session's state.
    pub instruction: String,
    /// What its final answer must satisfy, as JSON Schema.
    pub output_schema: Option<Value>,
    /// What a structured query must satisfy, as JSON Schema.
    pub input_schema: Option<Value>,
    /// The key of the session's state that its final answer is kept under.
    pub output_key: Option<String>,
    /// Its tools.
    pub tools: Vec<ToolSpec>,
    /// What a run may use.
    pub limits: AgentLimits,
    /// Who is in the seat: `human`, `model` or `replay:FILE`.
    pub seat: Option<String>,
    /// Where its golden traces go.
    pub eval_set_path: Option<PathBuf>,
}

/// What a run may use.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AgentLimits {
    /// Most model requests in one run.
    pub max_steps: u32,
    /// How long one call of a tool may take.
    pub tool_timeout: Duration,
    /// Largest result of a tool, as JSON, in bytes.
    pub tool_output_bytes: usize,
    /// Most tools that run at the same time in one run.
    pub parallel_calls: usize,
}

impl Default for AgentLimits {
    fn default() -> Self {
        Self {
            max_steps: 25,
            tool_timeout: Duration::from_mins(2),
            tool_output_bytes: 1 << 20,
            parallel_calls: 8,
        }
    }
}

/// What reading a file needs besides the file.
struct Surroundings<'a> {
    folder: &'a Path,
    env: &'a dyn Fn(&str) -> Option<String>,
}

impl AgentFile {
    /// Reads a file, or the agent.yaml in a folder. Variables come from `env`.
    pub fn read(path: &Path, env: &dyn Fn(&str) -> Option<String>) -> Result<Self, FileProblem> {
        let path = file_in(path);
        let folder = path.parent().unwrap_or(Path::new("")).to_owned();
        read(&path, &Surroundings { folder: &folder, env })
            .map(|file| Self { path: path.clone(), ..file })
            .map_err(|problem| problem.in_file(&path))
    }

    /// The JSON Schema of agent.yaml, for editors.
    pub fn json_schema() -> Value {
        schema::json_schema()
    }

    /// The folder that relative paths start from.
    pub fn folder(&self) -> &Path {
        self.path.parent().unwrap_or(Path::new(""))
    }
}

/// Whether a path is a native agent: a file named agent.yaml, agent.yml or
/// root_agent.yaml, or a folder with one of the first two.
pub fn looks_native(path: &Path) -> bool {
    if path.is_dir() {
        return NAMES.iter().any(|name| path.join(name).is_file());
    }
    let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
    path.is_file() && (NAMES.contains(&name) || name == ADK_NAME)
}

fn file_in(path: &Path) -> PathBuf {
    if !path.is_dir() {
        return path.to_owned();
    }
    let names = NAMES.iter().chain([&ADK_NAME]).map(|name| path.join(name));
    names.into_iter().find(|file| file.is_file()).unwrap_or_else(|| path.join(NAMES[0]))
}

fn read(path: &Path, around: &Surroundings<'_>) -> Result<AgentFile, Problem> {
    let text = text_file::read(path).map_err(Problem::whole)?;
    let mut root = Node::parse(&text).map_err(|error| {
        let message = format!("this is not YAML: {}", error.reason);
        error.at.map_or_else(|| Problem::whole(&message), |at| Problem::at(at, &message))
    })?;
    root.try_map_texts(&mut |at, text| {
        if text.contains("${") {
            *text = variables::fill(text, around.env).map_err(|problem| match problem {
                VariableProblem::Missing(name) => {
                    Problem::at(at, format!("the variable `{name}` is not set"))
                        .hint(format!("set {name}, or write `${{{name}:-a default}}`"))
                }
                VariableProblem::Malformed(text) => {
                    Problem::at(at, format!("`{text}` is no variable"))
                        .hint("write `${NAME}`, or `$${` for the characters themselves")
                }
            })?;
        }
        Ok(())
    })?;
    if is_adk(path, &root) { adk::read(root, around) } else { native::read(root, around) }
}

/// Whether a file is one of ADK's own: by its name, or by keys that only those have.
fn is_adk(path: &Path, root: &Node) -> bool {
    let Data::Map(entries) = &root.data else { return false };
    path.file_name().is_some_and(|name| name == ADK_NAME)
        || entries.iter().any(|(key, _)| matches!(key.name.as_str(), "agent_class" | "instruction"))
}
