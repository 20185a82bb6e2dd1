//! What was done by whom.
//!
//! Entries are only ever added. They outlive the sessions and users they tell of.

use hotseat_core::SessionId;
use jiff::Timestamp;
use serde_json::Value;

/// What is written down. The words are in the database and in what scripts look for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AuditAction {
    /// A user was added.
    UserAdded,
    /// A user has another role.
    RoleChanged,
    /// A user and all their tokens were revoked.
    UserRevoked,
    /// A user has a new token.
    TokenAdded,
    /// A token was revoked.
    TokenRevoked,
    /// Somebody came in by single sign-on.
    SignedIn,
    /// A session was deleted.
    SessionDeleted,
    /// The events of a session were removed.
    EventsCleared,
    /// What is derived from a log was computed anew.
    SessionRebuilt,
    /// A session was marked as completed.
    SessionCompleted,
    /// A run was stopped.
    RunCancelled,
    /// A golden trace was written.
    SessionExported,
    /// A case of an EvalSet file was written or removed.
    EvalSetChanged,
    /// A turn was answered.
    TurnDecided,
    /// A turn was ended with an error.
    TurnDismissed,
    /// Somebody took a turn for themselves.
    TurnClaimed,
    /// Somebody let go of a turn.
    TurnReleased,
    /// Somebody gave their turn to another.
    TurnHandedOver,
    /// The audit was exported.
    AuditExported,
}

impl AuditAction {
    /// All of them.
    pub const ALL: &[Self] = &[
        Self::UserAdded,
        Self::RoleChanged,
        Self::UserRevoked,
        Self::TokenAdded,
        Self::TokenRevoked,
        Self::SignedIn,
        Self::SessionDeleted,
        Self::EventsCleared,
        Self::SessionRebuilt,
        Self::SessionCompleted,
        Self::RunCancelled,
        Self::SessionExported,
        Self::EvalSetChanged,
        Self::TurnDecided,
        Self::TurnDismissed,
        Self::TurnClaimed,
        Self::TurnReleased,
        Self::TurnHandedOver,
        Self::AuditExported,
    ];

    /// Its word.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::UserAdded => "user.added",
            Self::RoleChanged => "user.role_changed",
            Self::UserRevoked => "user.revoked",
            Self::TokenAdded => "token.added",
            Self::TokenRevoked => "token.revoked",
            Self::SignedIn => "user.signed_in",
            Self::SessionDeleted => "session.deleted",
            Self::EventsCleared => "session.events_cleared",
            Self::SessionRebuilt => "session.rebuilt",
            Self::SessionCompleted => "session.completed",
            Self::RunCancelled => "run.cancelled",
            Self::SessionExported => "session.exported",
            Self::EvalSetChanged => "eval_set.changed",
            Self::TurnDecided => "turn.decided",
            Self::TurnDismissed => "turn.dismissed",
            Self::TurnClaimed => "turn.claimed",
            Self::TurnReleased => "turn.released",
            Self::TurnHandedOver => "turn.handed_over",
            Self::AuditExported => "audit.exported",
        }
    }
}

/// Something to write down.
#[derive(Debug, Clone)]
pub struct NewAuditEntry {
    /// When.
    pub at: Timestamp,
    /// Who did it.
    pub actor: String,
    /// What they did.
    pub action: AuditAction,
    /// To whom or what.
    pub subject: String,
    /// In which session.
    pub session: Option<SessionId>,
    /// What else there is to say, as JSON.
    pub detail: Value,
}

/// Something that was written down.
#[derive(Debug, Clone, PartialEq)]
pub struct AuditEntry {
    /// Its place; later entries have higher ones.
    pub seq: u64,
    /// When.
    pub at: Timestamp,
    /// Who did it.
    pub actor: String,
    /// What they did: the word of an [`AuditAction`] of this version or another.
    pub action: String,
    /// To whom or what.
    pub subject: String,
    /// In which session.
    pub session: Option<SessionId>,
    /// What else there is to say.
    pub detail: Value,
}

/// Which entries to list.
#[derive(Debug, Clone, Default)]
pub struct AuditQuery {
    /// Where the page before ended: only entries beyond this one.
    pub after: Option<u64>,
    /// Oldest or newest first.
    pub order: crate::Order,
    /// Only by this person.
    pub actor: Option<String>,
    /// Only of this kind.
    pub action: Option<String>,
    /// Only in this session.
    pub session: Option<SessionId>,
    /// At most this many; 0 means 100.
    pub limit: usize,
}
