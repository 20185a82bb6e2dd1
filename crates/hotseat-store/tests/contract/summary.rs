//! The summary of a session is a fold over its log.

use std::collections::BTreeSet;

use hotseat_core::{Event, Kind, NewEvent, Seq, SessionStatus};
use hotseat_store::{NewSession, Session, Store};
use jiff::Timestamp;
use serde_json::Value;

use crate::log::{
    answer, append, at, completion, created, dismissal, event, id, log, new_session, raw, refusal,
    request, run, run_id, said, session,
};
use crate::suite;

suite!(
    the_summary_is_what_the_log_says,
    the_first_words_of_the_user_are_the_title,
    a_run_is_open_until_it_ends,
    a_second_run_is_refused_while_one_is_open,
    a_session_with_an_open_run_is_not_completed,
    the_end_of_another_run_ends_nothing,
    a_run_that_has_ended_is_not_opened_again_by_a_late_start,
    a_run_of_a_program_of_the_users_opens_when_it_starts,
);

/// What a summary must say of a session whose runs are queued here, computed from the
/// log alone and without the code under test.
#[derive(Debug, PartialEq)]
pub(crate) struct Summary {
    last_seq: Seq,
    pending_turns: u32,
    run: Option<(String, String, Timestamp)>,
    completed: bool,
    title: Option<String>,
    updated_at: Timestamp,
}

impl Summary {
    pub(crate) fn stored(session: &Session) -> Self {
        let run = session.run.clone().map(|run| (run.run_id, run.status, run.since));
        Self {
            last_seq: session.last_seq,
            pending_turns: session.pending_turns,
            run,
            completed: session.status == SessionStatus::Completed,
            title: session.title.clone(),
            updated_at: session.updated_at,
        }
    }

    pub(crate) fn computed(created_at: Timestamp, log: &[Event]) -> Self {
        let mut open = BTreeSet::new();
        let mut summary = Self {
            last_seq: Seq::new(log.len() as u64),
            pending_turns: 0,
            run: None,
            completed: false,
            title: None,
            updated_at: created_at,
        };
        for event in log {
            let payload: Value = serde_json::from_str(event.payload.get()).unwrap();
            summary.updated_at = summary.updated_at.max(event.timestamp);
            match event.kind {
                Kind::Request => assert!(open.insert(event.turn_id.unwrap()), "requested twice"),
                Kind::Response => assert!(open.remove(&event.turn_id.unwrap()), "ended twice"),
                Kind::Run => {
                    let field = |name: &str| payload[name].as_str().unwrap().to_owned();
                    let (run_id, status) = (field("run_id"), field("status"));
                    let is_open = summary.run.as_ref().is_some_and(|(open, ..)| *open == run_id);
                    match status.as_str() {
                        "queued" => summary.run = Some((run_id, status, event.timestamp)),
                        "started" if is_open => {
                            summary.run = Some((run_id, status, event.timestamp));
                        }
                        "finished" | "failed" | "cancelled" if is_open => summary.run = None,
                        _ => {}
                    }
                }
                Kind::Session => summary.completed = payload["status"] == "completed",
                Kind::Event if event.author == "user" && summary.title.is_none() => {
                    let text = payload["content"]["parts"][0]["text"].as_str();
                    summary.title = text.map(str::to_owned);
                }
                Kind::Message if summary.title.is_none() && payload["role"] == "user" => {
                    summary.title = payload["content"].as_str().map(str::to_owned);
                }
                Kind::Event | Kind::ToolRun | Kind::Message => {}
            }
        }
        summary.pending_turns = u32::try_from(open.len()).unwrap();
        summary
    }
}

async fn the_summary_is_what_the_log_says(store: Store) {
    created(&store, 1).await;
    let chapters = vec![
        vec![run(1, "queued")],
        vec![run(1, "started"), said("hello", "What is 2 + 3?")],
        vec![request(1), request(2), request(3)],
        vec![answer(1), event("a")],
        vec![dismissal(3)],
        vec![run(1, "finished"), said("more", "And 3 + 4?"), request(4)],
        vec![NewEvent { timestamp: at(-100), ..run(2, "queued") }],
        vec![answer(2), answer(4), run(2, "cancelled"), completion()],
    ];
    for events in chapters {
        append(&store, id(1), events).await;
        let stored = Summary::stored(&session(&store, id(1)).await);
        let log = log(&store, id(1)).await;
        assert_eq!(stored, Summary::computed(at(0), &log), "after event {}", log.len());
    }
    let last = session(&store, id(1)).await;
    assert_eq!(last.title.as_deref(), Some("What is 2 + 3?"));
    assert_eq!((last.pending_turns, last.status), (0, SessionStatus::Completed));
}

async fn the_first_words_of_the_user_are_the_title(store: Store) {
    created(&store, 1).await;
    append(&store, id(1), vec![event("agent"), request(1)]).await;
    assert_eq!(session(&store, id(1)).await.title, None);
    append(&store, id(1), vec![said("first", "\n  Add 2 and 3 \nplease")]).await;
    append(&store, id(1), vec![said("second", "Something else")]).await;
    assert_eq!(session(&store, id(1)).await.title.as_deref(), Some("Add 2 and 3"));

    created(&store, 2).await;
    let mut queued = run(1, "queued");
    queued.payload = raw(
        r#"{"run_id":"r","status":"queued","message":{"role":"user","parts":[{"text":"Ask"}]}}"#,
    );
    append(&store, id(2), vec![queued]).await;
    assert_eq!(session(&store, id(2)).await.title.as_deref(), Some("Ask"));
}

async fn a_run_is_open_until_it_ends(store: Store) {
    created(&store, 1).await;
    append(&store, id(1), vec![NewEvent { timestamp: at(10), ..run(1, "queued") }]).await;
    let open = session(&store, id(1)).await.run.unwrap();
    assert_eq!((open.run_id, open.status, open.since), (run_id(1), "queued".to_owned(), at(10)));
    append(&store, id(1), vec![NewEvent { timestamp: at(20), ..run(1, "started") }]).await;
    let open = session(&store, id(1)).await.run.unwrap();
    assert_eq!((open.status, open.since), ("started".to_owned(), at(20)));
    append(&store, id(1), vec![run(1, "failed")]).await;
    assert_eq!(session(&store, id(1)).await.run, None);
}

async fn a_second_run_is_refused_while_one_is_open(store: Store) {
    created(&store, 1).await;
    append(&store, id(1), vec![run(1, "queued")]).await;
    let expected = format!("session {} has an open run {}", id(1), run_id(1));
    assert_eq!(refusal(&store, id(1), vec![run(2, "queued")]).await, expected);
    append(&store, id(1), vec![run(1, "started")]).await;
    assert_eq!(refusal(&store, id(1), vec![run(2, "queued")]).await, expected);
    append(&store, id(1), vec![run(1, "finished"), run(2, "queued")]).await;
    assert_eq!(session(&store, id(1)).await.run.unwrap().run_id, run_id(2));
}

async fn a_session_with_an_open_run_is_not_completed(store: Store) {
    created(&store, 1).await;
    append(&store, id(1), vec![run(1, "queued")]).await;
    let refused = refusal(&store, id(1), vec![completion()]).await;
    assert_eq!(refused, format!("session {} has an open turn or run", id(1)));
    append(&store, id(1), vec![run(1, "cancelled"), completion()]).await;
}

async fn the_end_of_another_run_ends_nothing(store: Store) {
    created(&store, 1).await;
    append(&store, id(1), vec![run(1, "queued"), run(1, "cancelled"), run(2, "queued")]).await;
    append(&store, id(1), vec![run(1, "finished")]).await;
    assert_eq!(session(&store, id(1)).await.run.unwrap().run_id, run_id(2));
}

/// A worker that begins while the run is being cancelled tells of it afterwards.
async fn a_run_that_has_ended_is_not_opened_again_by_a_late_start(store: Store) {
    created(&store, 1).await;
    append(&store, id(1), vec![run(1, "queued"), run(1, "cancelled")]).await;
    append(&store, id(1), vec![run(1, "started")]).await;
    assert_eq!(session(&store, id(1)).await.run, None);
    append(&store, id(1), vec![run(2, "queued")]).await;
    assert_eq!(session(&store, id(1)).await.run.unwrap().run_id, run_id(2));
    append(&store, id(1), vec![run(1, "finished")]).await;
    assert_eq!(session(&store, id(1)).await.run.unwrap().run_id, run_id(2));
}

async fn a_run_of_a_program_of_the_users_opens_when_it_starts(store: Store) {
    let new = NewSession { source: "plugin".to_owned(), ..new_session(1) };
    store.create_session(new).await.unwrap();
    append(&store, id(1), vec![run(1, "started")]).await;
    assert_eq!(session(&store, id(1)).await.run.unwrap().run_id, run_id(1));
    append(&store, id(1), vec![run(1, "finished"), run(2, "started")]).await;
    assert_eq!(session(&store, id(1)).await.run.unwrap().run_id, run_id(2));
}
