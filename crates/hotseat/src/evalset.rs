//! `hotseat evalset`: EvalSet files from the command line.
//!
//! Exit code 1 means that cases differ or a file is not valid, so that CI can ask.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context, Result, bail};
use clap::Subcommand;
use hotseat_core::{EvalSetView, SessionId, case_problems, diff_cases, read_eval_set};
use hotseat_server::Desk;
use serde_json::Value;

use crate::args::StoreArgs;
use crate::output;

#[derive(Debug, clap::Args)]
pub(crate) struct Evalset {
    #[command(subcommand)]
    what: What,
}

#[derive(Debug, Subcommand)]
enum What {
    /// Put the golden trace of a completed session into a file.
    Add {
        /// The EvalSet file.
        file: PathBuf,
        /// The session.
        session: SessionId,
        #[command(flatten)]
        store: StoreArgs,
    },
    /// List the cases of files.
    List {
        #[arg(required = true)]
        files: Vec<PathBuf>,
        /// As JSON.
        #[arg(long)]
        json: bool,
    },
    /// Print one case as JSON.
    Show {
        /// FILE or FILE:EVAL_ID.
        case: String,
    },
    /// Compare two cases, each FILE or FILE:EVAL_ID.
    Diff { left: String, right: String },
    /// Check files for what `adk eval` could not run.
    Validate {
        #[arg(required = true)]
        files: Vec<PathBuf>,
    },
}

pub(crate) fn run(evalset: Evalset) -> Result<ExitCode> {
    match evalset.what {
        What::Add { file, session, store } => add(&file, session, &store),
        What::List { files, json } => list(&files, json),
        What::Show { case } => {
            output::line(&serde_json::to_string_pretty(&find(&case)?)?)?;
            Ok(ExitCode::SUCCESS)
        }
        What::Diff { left, right } => diff(&find(&left)?, &find(&right)?),
        What::Validate { files } => validate(&files),
    }
}

fn add(file: &Path, session: SessionId, store: &StoreArgs) -> Result<ExitCode> {
    let folder = std::env::current_dir().context("the working folder is gone")?;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let exported = runtime.block_on(async {
        let desk = Desk::open(&store.address()?).await?;
        anyhow::Ok(desk.export(session, Some(file), &folder).await?)
    })?;
    output::line(exported["eval_id"].as_str().unwrap_or_default())?;
    Ok(ExitCode::SUCCESS)
}

fn list(files: &[PathBuf], json: bool) -> Result<ExitCode> {
    for file in files {
        let view = read(file)?;
        for case in &view.cases {
            let invocations = case_field(case, "conversation").and_then(Value::as_array);
            let messages = invocations.map_or(0, Vec::len);
            let eval_id = eval_id(case);
            if json {
                let row = serde_json::json!({"file": file, "eval_set_id": view.eval_set_id, "eval_id": eval_id, "messages": messages});
                output::line(&row.to_string())?;
            } else {
                output::line(&format!("{}:{eval_id}  {messages} messages", file.display()))?;
            }
        }
    }
    Ok(ExitCode::SUCCESS)
}

fn diff(left: &Value, right: &Value) -> Result<ExitCode> {
    let differences = diff_cases(left, right);
    for difference in &differences {
        let shown = |value: &Option<Value>| {
            value.as_ref().map_or_else(|| "(nothing)".to_owned(), Value::to_string)
        };
        output::line(&difference.path)?;
        output::line(&format!("- {}", shown(&difference.left)))?;
        output::line(&format!("+ {}", shown(&difference.right)))?;
    }
    Ok(if differences.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

fn validate(files: &[PathBuf]) -> Result<ExitCode> {
    let mut valid = true;
    for file in files {
        let view = match read(file) {
            Ok(view) => view,
            Err(error) => {
                valid = false;
                output::line(&format!("{error:#}"))?;
                continue;
            }
        };
        for case in &view.cases {
            for problem in case_problems(case) {
                valid = false;
                let place = format!("{}:{}{}", file.display(), eval_id(case), problem.path);
                output::line(&format!("{place}: {}", problem.message))?;
            }
        }
    }
    Ok(if valid { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

fn read(file: &Path) -> Result<EvalSetView> {
    let text = std::fs::read_to_string(file)
        .with_context(|| format!("could not read {}", file.display()))?;
    read_eval_set(&text).with_context(|| format!("{} is not an EvalSet", file.display()))
}

/// The case that FILE:EVAL_ID names, or the only one of FILE.
fn find(name: &str) -> Result<Value> {
    if Path::new(name).exists() {
        let cases = read(Path::new(name))?.cases;
        return match <[Value; 1]>::try_from(cases) {
            Ok([case]) => Ok(case),
            Err(cases) => bail!("{name} has {} cases: name one as {name}:EVAL_ID", cases.len()),
        };
    }
    let Some((file, wanted)) = name.rsplit_once(':') else {
        bail!("there is no file {name}");
    };
    let cases = read(Path::new(file))?.cases;
    let found = cases.into_iter().find(|case| eval_id(case) == wanted);
    found.with_context(|| format!("{file} has no case {wanted}"))
}

fn eval_id(case: &Value) -> &str {
    case_field(case, "eval_id").and_then(Value::as_str).unwrap_or_default()
}

/// A field of a case in either of ADK's spellings.
fn case_field<'c>(case: &'c Value, name: &str) -> Option<&'c Value> {
    match name {
        "eval_id" => case.get("eval_id").or_else(|| case.get("evalId")),
        _ => case.get(name),
    }
}
