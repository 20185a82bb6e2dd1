//! What is wrong with a file, where, and what to do about it.

use std::fmt;
use std::path::{Path, PathBuf};

use super::yaml::Place;

/// Longest name for which a similar one is looked up; the search is quadratic.
const MAX_COMPARED_CHARS: usize = 64;

/// Why a file describes no agent. It reads as compilers write:
/// ``agents/desk/agent.yaml:7:3: unknown key `modle`; did you mean `model`?``
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileProblem {
    /// The file.
    pub path: PathBuf,
    /// The line, from 1, where it can be told.
    pub line: Option<u64>,
    /// The column, from 1.
    pub column: Option<u64>,
    /// What is wrong.
    pub message: String,
    /// What to do.
    pub hint: Option<String>,
}

impl std::error::Error for FileProblem {}

impl fmt::Display for FileProblem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.path.display())?;
        if let (Some(line), Some(column)) = (self.line, self.column) {
            write!(f, ":{line}:{column}")?;
        }
        write!(f, ": {}", self.message)?;
        match &self.hint {
            Some(hint) => write!(f, "; {hint}"),
            None => Ok(()),
        }
    }
}

/// The same before the file's name is known.
#[derive(Debug)]
pub(crate) struct Problem {
    at: Option<Place>,
    message: String,
    hint: Option<String>,
}

impl Problem {
    /// Something is wrong at a place.
    pub(crate) fn at(at: Place, message: impl Into<String>) -> Self {
        // A place that is not known is line 0.
        Self { at: Some(at).filter(|at| at.line > 0), message: message.into(), hint: None }
    }

    /// Something is wrong with the whole file.
    pub(crate) fn whole(message: impl Into<String>) -> Self {
        Self { at: None, message: message.into(), hint: None }
    }

    /// Says what to do about it.
    pub(crate) fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }

    /// Says in which file.
    pub(crate) fn in_file(self, path: &Path) -> FileProblem {
        FileProblem {
            path: path.to_owned(),
            line: self.at.map(|at| at.line),
            column: self.at.map(|at| at.column),
            message: self.message,
            hint: self.hint,
        }
    }
}

/// `did you mean …?` if one of the known names is close, else the names.
pub(crate) fn suggestion(name: &str, known: &[&str]) -> String {
    let nearest = known
        .iter()
        .map(|known| (distance(name, known), *known))
        .min()
        .filter(|(distance, nearest)| *distance <= nearest.chars().count() / 3 + 1);
    match nearest {
        Some((_, nearest)) => format!("did you mean `{nearest}`?"),
        None => format!("known here: {}", quoted(known)),
    }
}

/// Names in backticks, with commas.
pub(crate) fn quoted(names: &[&str]) -> String {
    names.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ")
}

/// Levenshtein's distance between two names.
fn distance(a: &str, b: &str) -> usize {
    let a: Vec<char> = a.chars().take(MAX_COMPARED_CHARS).collect();
    let b: Vec<char> = b.chars().take(MAX_COMPARED_CHARS).collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, from) in a.iter().enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, to) in b.iter().enumerate() {
            let substituted = diagonal + usize::from(from != to);
            diagonal = row[j + 1];
            row[j + 1] = substituted.min(row[j] + 1).min(diagonal + 1);
        }
    }
    row[b.len()]
}
