//! What is worth telling the owner of a session about its readers, the same for every database.

use jiff::{SignedDuration, Timestamp};

use crate::{Access, AccessWarning, Visit};

/// Warnings kept of a session; the oldest go.
const MAX_WARNINGS: usize = 50;

/// A change of client is not told again within this time.
const CLIENT_QUIET: SignedDuration = SignedDuration::from_hours(1);

/// What to say of a visit by another client than the last one. People use two programs
/// side by side, so it is said once in a while, and not each time they alternate.
pub(crate) fn change_of_client(before: &Access, visit: &Visit) -> Option<&'static str> {
    let differs =
        |old: &Option<String>, new: &Option<String>| old.is_some() && new.is_some() && old != new;
    let message = match (
        differs(&before.client_ip, &visit.client_ip),
        differs(&before.user_agent, &visit.user_agent),
    ) {
        (false, false) => return None,
        (true, false) => "it was opened from another address than before",
        (false, true) => "it was opened with another program than before",
        (true, true) => "it was opened from another address and with another program than before",
    };
    let told = before.warnings.iter().rev().find(|warning| warning.code == "client_changed");
    let lately = told.is_some_and(|told| visit.at.duration_since(told.at) < CLIENT_QUIET);
    (!lately).then_some(message)
}

/// Adds a warning, and forgets the oldest beyond the limit.
pub(crate) fn push(warnings: &mut Vec<AccessWarning>, code: &str, at: Timestamp, message: String) {
    warnings.push(AccessWarning { at, code: code.to_owned(), message });
    let excess = warnings.len().saturating_sub(MAX_WARNINGS);
    warnings.drain(..excess);
}

/// Warnings as they are kept.
pub(crate) fn text(warnings: &[AccessWarning]) -> String {
    serde_json::to_string(warnings).unwrap_or_default()
}
