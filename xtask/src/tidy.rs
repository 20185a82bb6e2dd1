//! The invariants of docs/ARCHITECTURE.md that a program can check.
//!
//! Each check says what is absent, and where it was found.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail};

/// Which of our crates a crate may depend on, apart from its tests.
const DIRECTION: &[(&str, &[&str])] = &[
    ("hotseat-core", &[]),
    ("hotseat-store", &["hotseat-core"]),
    ("hotseat-agent", &["hotseat-core"]),
    ("hotseat-agui", &["hotseat-core"]),
    ("hotseat-extract", &[]),
    (
        "hotseat-server",
        &["hotseat-core", "hotseat-store", "hotseat-agent", "hotseat-agui", "hotseat-extract"],
    ),
    ("hotseat", &["hotseat-core", "hotseat-store", "hotseat-agent", "hotseat-server"]),
    ("hotseat-testkit", &["hotseat-core", "hotseat-store", "hotseat-agent", "hotseat-server"]),
    ("xtask", &["hotseat-server"]),
];

/// Words that must not be in the sources below a folder, and why.
const ABSENT: &[Absent] = &[
    Absent {
        below: "crates/hotseat-core/src",
        words: &["std::fs", "std::net", "std::env", "tokio::", "SystemTime::now", "Timestamp::now"],
        why: "hotseat-core does no I/O and reads no clock",
    },
    Absent {
        below: "crates/hotseat-server/src",
        words: &["rusqlite", "tokio_postgres", "SELECT ", "INSERT INTO", "UPDATE "],
        why: "only hotseat-store knows SQL",
    },
    Absent {
        below: "crates/hotseat/src",
        words: &["rusqlite", "tokio_postgres", "axum::", "tonic::"],
        why: "the binary only wires; SQL is hotseat-store's, HTTP and gRPC are hotseat-server's",
    },
    Absent {
        below: "crates/hotseat-store/src",
        words: &["axum::", "tonic::", "hyper::"],
        why: "only hotseat-server knows HTTP and gRPC",
    },
    Absent {
        below: "crates/hotseat-server/src/service",
        words: &["axum::", "tonic::", "prost::", "crate::http", "crate::grpc", "crate::proto"],
        why: "use cases know no transport",
    },
    Absent {
        below: "crates",
        words: &["#[allow("],
        why: "a silenced lint needs a reason: use #[expect(…, reason = …)]",
    },
];

struct Absent {
    below: &'static str,
    words: &'static [&'static str],
    why: &'static str,
}

/// The longest source file. Past this there is a second idea hiding in it.
const LONGEST_FILE: usize = 500;

pub(crate) fn check(root: &Path) -> Result<()> {
    let mut problems = direction(root)?;
    let sources = sources(root)?;
    for rule in ABSENT {
        problems.extend(rule.found_in(root, &sources)?);
    }
    for source in &sources {
        problems.extend(shape(root, source)?);
    }
    if problems.is_empty() {
        return Ok(());
    }
    bail!("the repository is not tidy:\n  {}", problems.join("\n  "))
}

fn direction(root: &Path) -> Result<Vec<String>> {
    let output = Command::new(env!("CARGO"))
        .args(["metadata", "--no-deps", "--offline", "--format-version=1"])
        .current_dir(root)
        .output()
        .context("cargo metadata did not run")?;
    let metadata: serde_json::Value =
        serde_json::from_slice(&output.stdout).context("cargo metadata gave no JSON")?;
    let mut problems = Vec::new();
    for package in metadata["packages"].as_array().map(Vec::as_slice).unwrap_or_default() {
        let name = package["name"].as_str().unwrap_or_default();
        let Some((_, allowed)) = DIRECTION.iter().find(|(known, _)| *known == name) else {
            problems.push(format!("crate {name} has no place in xtask's table of directions"));
            continue;
        };
        for dependency in package["dependencies"].as_array().map(Vec::as_slice).unwrap_or_default()
        {
            let used = dependency["name"].as_str().unwrap_or_default();
            let ours = DIRECTION.iter().any(|(known, _)| *known == used);
            if dependency["kind"].is_null() && ours && !allowed.contains(&used) {
                problems.push(format!("crate {name} must not depend on {used}"));
            }
        }
    }
    Ok(problems)
}

/// Every Rust source of the crates, tests included.
fn sources(root: &Path) -> Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    let mut folders = vec![root.join("crates")];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(&folder)? {
            let path = entry?.path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|extension| extension == "rs") {
                found.push(path);
            }
        }
    }
    found.sort();
    Ok(found)
}

impl Absent {
    fn found_in(&self, root: &Path, sources: &[PathBuf]) -> Result<Vec<String>> {
        let below = root.join(self.below);
        let mut problems = Vec::new();
        for source in sources.iter().filter(|source| source.starts_with(&below)) {
            let text = std::fs::read_to_string(source)?;
            for (number, line) in text.lines().enumerate() {
                let code = line.split("//").next().unwrap_or_default();
                for word in self.words.iter().filter(|word| code.contains(**word)) {
                    let place = source.strip_prefix(root).unwrap_or(source).display();
                    problems.push(format!("{place}:{}: `{word}`: {}", number + 1, self.why));
                }
            }
        }
        Ok(problems)
    }
}

/// Every module says what it is, and none is too long to be one thing.
fn shape(root: &Path, source: &Path) -> Result<Vec<String>> {
    let text = std::fs::read_to_string(source)?;
    let place = source.strip_prefix(root).unwrap_or(source).display();
    let in_tests = source.components().any(|part| part.as_os_str() == "tests");
    let mut problems = Vec::new();
    if !in_tests && !text.starts_with("//!") {
        problems.push(format!("{place}: has no header that says what it is"));
    }
    if source.file_name().is_some_and(|name| name == "mod.rs") {
        problems.push(format!("{place}: name it after its module, not mod.rs"));
    }
    let lines = text.split("#[cfg(test)]").next().unwrap_or_default().lines().count();
    if !in_tests && lines > LONGEST_FILE {
        problems.push(format!("{place}: {lines} lines; look for the second idea in it"));
    }
    Ok(problems)
}
