//! `hotseat sessions`: what the page does with sessions, for scripts.

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::{Context, Result};
use clap::Subcommand;
use hotseat_core::{SessionId, SessionStatus};
use hotseat_server::{Desk, SessionFilter};
use serde_json::Value;

use crate::args::StoreArgs;
use crate::import::Import;
use crate::output;

#[derive(Debug, clap::Args)]
pub(crate) struct Sessions {
    #[command(flatten)]
    store: StoreArgs,
    #[command(subcommand)]
    what: What,
}

#[derive(Debug, Subcommand)]
enum What {
    /// List sessions, newest first.
    List {
        /// `active` or `completed`.
        #[arg(long)]
        status: Option<SessionStatus>,
        /// Only sessions with this agent.
        #[arg(long)]
        agent: Option<String>,
        /// Words in title, description or agent.
        #[arg(short, long)]
        query: Option<String>,
        /// At most this many.
        #[arg(short = 'n', long, default_value_t = 50)]
        limit: usize,
        /// As JSON, like the API.
        #[arg(long)]
        json: bool,
    },
    /// Show one session with its history.
    Show {
        id: SessionId,
        /// As JSON, like the API.
        #[arg(long)]
        json: bool,
    },
    /// Write the golden trace of a completed session, or its raw form.
    Export {
        id: SessionId,
        /// The EvalSet file [default: <agent>.evalset.json in this folder].
        #[arg(long, value_name = "FILE")]
        to: Option<PathBuf>,
        /// `evalset` writes into the file; `session` prints ADK's session JSON for `adk test`.
        #[arg(long, default_value = "evalset")]
        format: Format,
    },
    /// Bring in sessions from ADK's databases and session files. A server must be running.
    Import(Import),
    /// Compute anew what is derived from a log: title, state, messages, progress.
    Rebuild {
        /// The sessions [default: all].
        ids: Vec<SessionId>,
    },
    /// Delete a session with its log.
    Delete { id: SessionId },
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum Format {
    Evalset,
    Session,
}

pub(crate) fn run(sessions: Sessions) -> Result<ExitCode> {
    if let What::Import(import) = sessions.what {
        return import.run();
    }
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    runtime.block_on(async {
        let desk = Desk::open(&sessions.store.address()?).await?;
        carry_out(&desk, sessions.what).await
    })?;
    Ok(ExitCode::SUCCESS)
}

async fn carry_out(desk: &Desk, what: What) -> Result<()> {
    match what {
        What::List { status, agent, query, limit, json } => {
            let filter = SessionFilter { status, agent, text: query, limit };
            let list = desk.sessions(filter).await?;
            if json {
                return output::line(&list.to_string());
            }
            for session in list["items"].as_array().into_iter().flatten() {
                output::line(&row(session))?;
            }
            Ok(())
        }
        What::Show { id, json } => {
            let session = desk.session(id).await?;
            if json {
                return output::line(&session.to_string());
            }
            output::line(&row(&session))?;
            for entry in session["history"].as_array().into_iter().flatten() {
                output::line(&entry_row(entry))?;
            }
            Ok(())
        }
        What::Export { id, format: Format::Session, to: _ } => {
            output::line(&desk.session_json(id).await?)
        }
        What::Export { id, format: Format::Evalset, to } => {
            let folder = std::env::current_dir().context("the working folder is gone")?;
            let exported = desk.export(id, to.as_deref(), &folder).await?;
            let text = |name: &str| exported[name].as_str().unwrap_or_default().to_owned();
            output::line(&format!("{} {} in {}", text("action"), text("eval_id"), text("path")))
        }
        What::Import(_) => Ok(()),
        What::Rebuild { ids } => {
            let ids = if ids.is_empty() { desk.session_ids().await? } else { ids };
            for id in &ids {
                desk.rebuild(*id).await?;
            }
            output::line(&format!("rebuilt {} sessions", ids.len()))
        }
        What::Delete { id } => Ok(desk.delete(id).await?),
    }
}

fn row(session: &Value) -> String {
    let text = |name: &str| session[name].as_str().unwrap_or_default();
    let title = session["description"].as_str().or(session["title"].as_str()).unwrap_or("-");
    format!(
        "{}  {}  {:14}  {}  {title}",
        text("id"),
        text("created_at"),
        text("state"),
        text("agent")
    )
}

/// One entry in one line, cut where a terminal would wrap.
fn entry_row(entry: &Value) -> String {
    let what = ["content", "arguments", "result", "error_message", "to_agent", "response"]
        .iter()
        .find_map(|name| entry.get(*name).filter(|value| !value.is_null()));
    let what = match what {
        Some(Value::String(text)) => text.clone(),
        Some(value) => value.to_string(),
        None => String::new(),
    };
    let what: String = what.replace('\n', " ").chars().take(100).collect();
    let kind = entry["type"].as_str().unwrap_or_default();
    let tool = entry["tool_name"].as_str().unwrap_or_default();
    format!("  #{:<4} {kind:15} {tool} {what}", entry["seq"].to_string())
}
