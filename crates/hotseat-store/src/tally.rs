//! Figures about agents and tools, summed up before they are written.
//!
//! They are summed over the events that are written down together, so that counting costs
//! next to nothing and every event counts once.

use std::collections::BTreeMap;

use hotseat_core::Usage;
use jiff::Timestamp;

/// Sums that are not written yet.
#[derive(Debug, Clone, Default)]
pub(crate) struct Tally {
    /// By minute, since 1970.
    pub(crate) minutes: BTreeMap<i64, MinuteSums>,
    /// By name.
    pub(crate) tools: BTreeMap<String, ToolSums>,
}

#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct MinuteSums {
    pub(crate) events: i64,
    pub(crate) errors: i64,
    pub(crate) prompt_tokens: i64,
    pub(crate) output_tokens: i64,
}

#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct ToolSums {
    pub(crate) calls: i64,
    pub(crate) errors: i64,
    pub(crate) timed: i64,
    pub(crate) total_ms: f64,
    pub(crate) max_ms: f64,
}

impl Tally {
    /// Adds an event that arrived at `arrived`.
    pub(crate) fn add(&mut self, arrived: Timestamp, usage: &Usage) {
        let minute = self.minutes.entry(arrived.as_second().div_euclid(60)).or_default();
        minute.events += 1;
        minute.errors += i64::from(usage.failed);
        minute.prompt_tokens += i64::try_from(usage.prompt_tokens).unwrap_or(i64::MAX);
        minute.output_tokens += i64::try_from(usage.output_tokens).unwrap_or(i64::MAX);
        for (name, failed) in &usage.results {
            let tool = self.tools.entry(name.clone()).or_default();
            tool.calls += 1;
            tool.errors += i64::from(*failed);
        }
        if let Some((name, took)) = &usage.took {
            let tool = self.tools.entry(name.clone()).or_default();
            tool.timed += 1;
            tool.total_ms += took;
            tool.max_ms = tool.max_ms.max(*took);
        }
    }
}

impl ToolSums {
    /// Adds the sums of others.
    pub(crate) fn merge(&mut self, other: &Self) {
        self.calls += other.calls;
        self.errors += other.errors;
        self.timed += other.timed;
        self.total_ms += other.total_ms;
        self.max_ms = self.max_ms.max(other.max_ms);
    }
}
