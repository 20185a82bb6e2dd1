//! Whether a decision fits the request that it answers.

use serde_json::Value;

use super::{Decision, calls_in, candidate_text, parts};
use crate::content::visible_text;
use crate::request::{ModelRequest, ToolDeclaration};
use crate::violation::{Violation, shorten, violations};

/// Most tool names in one message.
const MAX_LISTED_TOOLS: usize = 10;
/// Longest name for which a similar one is looked up, in bytes; the search is quadratic.
const MAX_COMPARED_NAME: usize = 100;

impl Decision {
    /// Checks the decision against its request: every tool called exists and
    /// its arguments satisfy its schema, and where the request asks for
    /// structured output, an answer in text is that output.
    ///
    /// A schema that cannot be used accepts everything: the person in the seat
    /// is not at fault, and ADK would run the call too.
    pub fn check(&self, request: &ModelRequest) -> Result<(), Vec<Violation>> {
        let mut found = Vec::new();
        for (path, call) in calls_in(&self.candidates) {
            match request.tool(call.name) {
                Some(tool) => {
                    let wrong = violations(&tool.parameters, call.args).unwrap_or_default();
                    found.extend(wrong.into_iter().map(|v| v.under(&format!("{path}/args"))));
                }
                None => found.push(Violation::new(
                    format!("{path}/name"),
                    unknown_tool(call.name, &request.tools),
                )),
            }
        }
        if let Some(schema) = &request.output_schema {
            self.check_output(schema, &mut found);
        }
        if found.is_empty() { Ok(()) } else { Err(found) }
    }

    /// Paths go on inside the text, as if it were the JSON that it holds.
    fn check_output(&self, schema: &Value, found: &mut Vec<Violation>) {
        for (c, candidate) in self.candidates.iter().enumerate() {
            let parts = parts(candidate);
            if parts.iter().any(|part| part.get("function_call").is_some()) {
                continue;
            }
            let shown = |part: &Value| part.as_object().and_then(visible_text).is_some();
            let first = parts.iter().position(shown).unwrap_or_default();
            let path = format!("/candidates/{c}/parts/{first}/text");
            match serde_json::from_str::<Value>(&candidate_text(candidate)) {
                Ok(output) => {
                    let wrong = violations(schema, &output).unwrap_or_default();
                    found.extend(wrong.into_iter().map(|violation| violation.under(&path)));
                }
                Err(error) => found.push(Violation::new(
                    path,
                    format!("must be JSON, because the agent has an output schema: {error}"),
                )),
            }
        }
    }
}

fn unknown_tool(name: &str, tools: &[ToolDeclaration]) -> String {
    let problem = format!("there is no tool `{}`", shorten(name, 64));
    if tools.is_empty() {
        return format!("{problem}: this request offers none");
    }
    let nearest = tools
        .iter()
        .map(|tool| (distance(name, &tool.name), tool.name.as_str()))
        .min()
        .filter(|(distance, nearest)| *distance <= nearest.len() / 3 + 1);
    if let Some((_, nearest)) = nearest {
        return format!("{problem}: did you mean `{nearest}`?");
    }
    let listed: Vec<String> =
        tools.iter().take(MAX_LISTED_TOOLS).map(|tool| format!("`{}`", tool.name)).collect();
    let more = match tools.len().saturating_sub(MAX_LISTED_TOOLS) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    format!("{problem}: there are {}{more}", listed.join(", "))
}

/// Levenshtein's distance between two names, whatever their case.
fn distance(a: &str, b: &str) -> usize {
    if a.len().max(b.len()) > MAX_COMPARED_NAME {
        return usize::MAX;
    }
    let b: Vec<char> = b.to_lowercase().chars().collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, from) in a.to_lowercase().chars().enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, to) in b.iter().enumerate() {
            let substituted = diagonal + usize::from(from != *to);
            diagonal = row[j + 1];
            row[j + 1] = substituted.min(row[j] + 1).min(diagonal + 1);
        }
    }
    row[b.len()]
}
