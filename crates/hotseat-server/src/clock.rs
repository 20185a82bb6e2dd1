//! The only place that reads the time of day and makes ids.

use jiff::Timestamp;
use uuid::Uuid;

/// The current time.
#[expect(clippy::disallowed_methods, reason = "this is the one place that may")]
pub(crate) fn now() -> Timestamp {
    Timestamp::now()
}

/// A fresh random id.
pub(crate) fn new_id() -> Uuid {
    Uuid::new_v4()
}
