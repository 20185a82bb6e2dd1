//! The log: sessions and their events, kept whole.
//!
//! One contract, [`Store`], over SQLite or PostgreSQL. It appends, reads,
//! lists and wakes readers; everything computed from events is elsewhere. Which events may
//! follow which is decided in `rules.rs`, the same for both.
//!
//! Kept true here, and relied on by everything above:
//!
//! * sequence numbers of a session are 1, 2, 3 … without gaps;
//! * an append is all or none, and durable once it is acknowledged;
//! * a turn has exactly one request and at most one response, and only the
//!   head of a session's queue can be decided;
//! * a session with an open turn or run is not completed, and nothing follows its
//!   completion;
//! * events are never updated.
//!
//! Only this crate knows SQL.

mod address;
mod audit;
mod copy;
mod error;
mod figures;
mod gate;
mod hub;
mod latency;
mod leases;
mod limits;
mod people;
mod postgres;
mod query;
mod recent;
mod rules;
mod session;
mod shared;
mod sqlite;
mod store;
mod tally;
mod warnings;
mod words;
mod written;

pub use address::Address;
pub use audit::{AuditAction, AuditEntry, AuditQuery, NewAuditEntry};
pub use copy::{CopyError, Progress};
pub use error::{AppendError, OpenError, StoreError};
pub use figures::{
    Access, AccessWarning, Figures, Intrusion, MinuteUsage, Removal, RemovalReason, SearchHit,
    SearchPage, SearchQuery, SessionSize, Sweep, ToolUsage, Totals, Visit,
};
pub use gate::{Gate, Wakes};
pub use hub::{Change, MAX_SIGNAL_BYTES, Signal, SignalTooLarge};
pub use latency::Latency;
pub use leases::{Lease, LeaseRequest, Leased, MAX_LEASES_PER_SESSION, claim_on};
pub use limits::Limits;
pub use people::{
    Act, Bearer, MAX_TOKENS_PER_USER, MAX_USERS, NewToken, PeopleError, Token, TokenHash, User,
};
pub use query::{
    AdkCursor, AdkEventQuery, AdkSessionQuery, Cursor, EventQuery, Expected, InvalidCursor, Order,
    Page, Running, SessionQuery, Sort, TurnQuery, Waiting,
};
pub use rules::Answerer;
pub use session::{
    AdkPage, AdkRead, AdkStored, Appended, Counts, Created, NewSession, OpenRun, Owner, Session,
    SharedState, Turn,
};
pub use shared::{HeldRun, MAX_RUNS_TOLD, RunClaim, ServerCard, TakeOver};
pub use store::{Shared, Store};
pub use written::{EventRef, WriteEvent, WrittenEvents};
