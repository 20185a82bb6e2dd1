//! Page ranges as people write them: `1-3,7`.
//!
//! Pages count from 1. A parsed [`Ranges`] is never empty and holds no page 0 and no range that runs backwards.

use std::fmt;
use std::ops::RangeInclusive;
use std::str::FromStr;

/// More parts than this are not written by a person.
const MAX_PARTS: usize = 1000;

/// Pages or slides, from 1.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ranges(Vec<RangeInclusive<usize>>);

/// The text is not a page range.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is not a page range; write it like 1-3,7")]
pub struct RangesError(String);

impl Ranges {
    /// Whether `page` is asked for.
    pub fn contains(&self, page: usize) -> bool {
        self.0.iter().any(|range| range.contains(&page))
    }

    /// The first page asked for that a document of `pages` pages does not have.
    pub fn outside(&self, pages: usize) -> Option<usize> {
        self.0
            .iter()
            .filter(|range| *range.end() > pages)
            .map(|range| (*range.start()).max(pages + 1))
            .min()
    }

    /// `pages` as ranges; they must be ascending and not empty.
    pub(crate) fn of(pages: &[usize]) -> Self {
        let mut ranges: Vec<RangeInclusive<usize>> = Vec::new();
        for &page in pages {
            match ranges.last_mut() {
                Some(last) if *last.end() + 1 == page => *last = *last.start()..=page,
                _ => ranges.push(page..=page),
            }
        }
        Self(ranges)
    }
}

impl FromStr for Ranges {
    type Err = RangesError;

    fn from_str(text: &str) -> Result<Self, RangesError> {
        let refused = || RangesError(text.chars().take(80).collect());
        let mut ranges = Vec::new();
        for part in text.split(',') {
            let (start, end) = part.split_once('-').unwrap_or((part, part));
            let start: usize = start.trim().parse().map_err(|_| refused())?;
            let end: usize = end.trim().parse().map_err(|_| refused())?;
            if start == 0 || end < start || ranges.len() == MAX_PARTS {
                return Err(refused());
            }
            ranges.push(start..=end);
        }
        Ok(Self(ranges))
    }
}

impl fmt::Display for Ranges {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (at, range) in self.0.iter().enumerate() {
            let comma = if at == 0 { "" } else { ", " };
            if range.start() == range.end() {
                write!(f, "{comma}{}", range.start())?;
            } else {
                write!(f, "{comma}{}-{}", range.start(), range.end())?;
            }
        }
        Ok(())
    }
}
