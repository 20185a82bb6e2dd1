//! One extraction under way: whose it is, and what it may still spend.
//!
//! Every reader gets the [`Job`] and asks it before each step that a document can make long, so a limit is hit
//! within one step of being passed.

use std::time::{Duration, Instant};

use crate::error::ExtractError;
use crate::format::Format;
use crate::options::Options;
use crate::ranges::Ranges;

/// Stands in for a time limit too large to add to the clock.
const FAR_AWAY: Duration = Duration::from_hours(366 * 24);

/// One extraction: the document's name and format, the options, and what is left of the limits.
pub(crate) struct Job {
    pub(crate) name: String,
    pub(crate) format: Format,
    pub(crate) options: Options,
    pub(crate) notes: Vec<String>,
    deadline: Instant,
    expanded_left: u64,
}

impl Job {
    pub(crate) fn new(name: String, format: Format, options: Options, started: Instant) -> Self {
        let deadline = started.checked_add(options.limits.time).unwrap_or(started + FAR_AWAY);
        let expanded_left = options.limits.expanded_bytes;
        Self { name, format, options, notes: Vec::new(), deadline, expanded_left }
    }

    /// Fails once the time is up.
    pub(crate) fn check_time(&self) -> Result<(), ExtractError> {
        if self.time_left().is_zero() { Err(self.timed_out()) } else { Ok(()) }
    }

    pub(crate) fn time_left(&self) -> Duration {
        self.deadline.saturating_duration_since(Instant::now())
    }

    /// How many more bytes may come out of the container.
    pub(crate) fn expanded_left(&self) -> u64 {
        self.expanded_left
    }

    /// Accounts for `bytes` taken out of the container.
    pub(crate) fn expand(&mut self, bytes: u64) -> Result<(), ExtractError> {
        match self.expanded_left.checked_sub(bytes) {
            Some(left) => {
                self.expanded_left = left;
                Ok(())
            }
            None => Err(self.too_large()),
        }
    }

    /// Checks the number of pages and the pages asked for, and answers with those to read, from 1.
    pub(crate) fn pages_to_read(&self, pages: usize) -> Result<Vec<usize>, ExtractError> {
        let limit = self.options.limits.pages;
        if pages > limit {
            return Err(ExtractError::TooManyPages { name: self.name.clone(), pages, limit });
        }
        let Some(asked) = &self.options.pages else { return Ok((1..=pages).collect()) };
        if let Some(page) = asked.outside(pages) {
            return Err(ExtractError::PageOutside { name: self.name.clone(), page, pages });
        }
        Ok((1..=pages).filter(|page| asked.contains(*page)).collect())
    }

    /// Notes what happened to `pages`, which must be ascending; nothing for none.
    pub(crate) fn note_pages(&mut self, pages: &[usize], what: &str) {
        match pages {
            [] => {}
            [page] => self.notes.push(format!("page {page} was {what}")),
            _ => self.notes.push(format!("pages {} were {what}", Ranges::of(pages))),
        }
    }

    pub(crate) fn corrupt(&self, detail: impl Into<String>) -> ExtractError {
        ExtractError::Corrupt {
            name: self.name.clone(),
            format: self.format,
            detail: detail.into(),
        }
    }

    pub(crate) fn encrypted(&self) -> ExtractError {
        ExtractError::Encrypted { name: self.name.clone() }
    }

    pub(crate) fn timed_out(&self) -> ExtractError {
        ExtractError::TimedOut { name: self.name.clone(), limit: self.options.limits.time }
    }

    pub(crate) fn too_large(&self) -> ExtractError {
        let limit = self.options.limits.expanded_bytes;
        ExtractError::TooLarge { name: self.name.clone(), limit, unit: "bytes" }
    }
}
