//! The only place that reads the time of day and makes ids.

use jiff::Timestamp;
use uuid::Uuid;

/// The current time.
#[expect(clippy::disallowed_methods, reason = "this is the one place that may")]
pub(crate) fn now() -> Timestamp {
    #[cfg(test)]
    if let Some(now) = crate::simulation::now() {
        return now;
    }
    Timestamp::now()
}

/// A fresh random id.
pub(crate) fn new_id() -> Uuid {
    #[cfg(test)]
    if let Some(id) = crate::simulation::new_id() {
        return id;
    }
    Uuid::new_v4()
}
