//! How much is kept.
//!
//! Every limit is off unless it is set: a developer's log is not cut behind
//! their back. What a limit removes is counted, and leaves a mark that readers see.

/// The limits of a store. `None` means no limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Sessions; beyond it, those that nobody touched for longest go.
    pub max_sessions: Option<u64>,
    /// Events of a session; beyond it, the oldest go.
    pub max_events_per_session: Option<u64>,
    /// Derived messages of a session; beyond it, the oldest go.
    pub max_messages_per_session: u64,
    /// Bytes of payloads in all sessions; beyond it, sessions that nobody touched for longest go.
    pub max_store_bytes: Option<u64>,
    /// Payloads larger than this are compressed; `None` compresses nothing.
    pub compress_over_bytes: Option<usize>,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            max_sessions: None,
            max_events_per_session: None,
            max_messages_per_session: 500,
            max_store_bytes: None,
            compress_over_bytes: Some(4096),
        }
    }
}
