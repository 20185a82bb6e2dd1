//! The rules of Hotseat: what a session, an event and a turn are, what a
//! decision must satisfy, and everything that is computed from the log.
//!
//! This crate does no I/O and reads no clock; callers pass time, ids and JSON
//! in. Both databases and both front doors rely on the same functions here, so
//! they cannot disagree.

mod adk_event;
mod alias;
mod camel;
mod case_diff;
mod content;
mod decision;
mod effect;
mod eval_case;
mod eval_set;
mod event;
mod fork;
mod golden;
mod history;
mod id;
mod input_request;
mod instant;
mod json_text;
mod live;
mod name;
mod payload;
mod person;
mod record;
mod recording;
mod request;
mod schema;
mod search_text;
mod seat;
mod session;
mod session_json;
mod state;
mod tool_calls;
mod violation;
mod word;

pub use adk_event::{AdkEvent, AdkHead, AdkPart, InvalidEvent, is_failure};
pub use alias::is_camel_of;
pub use camel::camel_event;
pub use case_diff::{Difference, diff_cases};
pub use decision::{Answer, DecidedCall, Decision, Dismissal};
pub use effect::{Effect, RunEffect, TurnEnd, Usage};
pub use eval_case::case_problems;
pub use eval_set::{
    EvalSetError, EvalSetView, MergeAction, Merged, NewCase, NewText, merge, put_case,
    read_eval_set, remove_case,
};
pub use event::{Event, Kind, NewEvent, UnknownKind};
pub use fork::{ForkError, fork_prefix};
pub use golden::{GoldenCase, GoldenError, GoldenTrace, Subject};
pub use history::{Answered, HistoryEntry, HistoryItem, HistoryProjector};
pub use id::{InvalidId, RunId, Seq, SessionId, TurnId};
pub use input_request::InputKind;
pub use instant::{rfc3339, write_rfc3339};
pub use live::{Delta, Piece};
pub use name::snake_case;
pub use payload::{InvalidPayload, RunChange, RunFailure, RunStatus, ToolRun, ToolRunStatus};
pub use person::{InvalidUserName, MAX_USER_NAME_CHARS, Role, UserName};
pub use record::{
    Account, InvalidMessage, MESSAGE_ENTRY, Message, Record, Research, adk_account, backfill_event,
    read_message,
};
pub use recording::{
    MAX_RECORDING_BYTES, Player, Recording, RecordingError, ReplayProblem, Replayed,
};
pub use request::{InvalidRequest, ModelRequest, ToolDeclaration};
pub use schema::{SchemaError, normalise, normalise_schema};
pub use search_text::{MAX_SEARCH_BYTES, search_text, search_text_of, snippet};
pub use seat::Seat;
pub use session::{
    AgentName, InvalidAgentName, MAX_AGENT_NAME_CHARS, MAX_DESCRIPTION_CHARS, MAX_TITLE_CHARS,
    SessionState, SessionStatus, title_from, truncate_description,
};
pub use session_json::adk_session_json;
pub use state::{StateOwner, merge_state};
pub use violation::{MAX_VIOLATIONS, Violation, violations};
pub use word::UnknownWord;
