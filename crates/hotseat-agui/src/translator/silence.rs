//! Whether a run gave an answer, and what it said instead of one.
//!
//! A run may come to its end without an answer, because whoever sat in the seat gave a reason:
//! dismissed, refused, out of tokens. That is no answer to the user, and the run failed.

use crate::adk::{Adk, PartKind};

/// What came instead of an answer.
#[derive(Debug, Default)]
pub(super) struct Silence {
    reason: Option<String>,
    answered: bool,
}

impl Silence {
    /// An agent said something that is complete.
    pub(super) fn heard(&mut self, event: Adk<'_>) {
        let words = ["error_code", "error_message"].map(|name| event.text(name));
        let words: Vec<_> = words.into_iter().flatten().collect();
        self.reason = (!words.is_empty()).then(|| words.join(": "));
        let parts = event.parts();
        let says = |part: &PartKind<'_>| matches!(part, PartKind::Text(text) if !text.is_empty());
        let calls = |part: &PartKind<'_>| matches!(part, PartKind::Call { .. });
        self.answered |= parts.iter().any(|part| says(&part.kind))
            && !parts.iter().any(|part| calls(&part.kind));
    }

    /// Why there is no answer.
    pub(super) fn reason(&self) -> Option<&str> {
        self.reason.as_deref().filter(|_| !self.answered)
    }
}
