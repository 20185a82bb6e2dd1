use hotseat_core::{Effect, ForkError, Kind, NewEvent, RunEffect, TurnId, fork_prefix};
use proptest::prelude::*;
use serde_json::{Value, json};

use crate::log::{Log, RUN, turn};

const NEW_RUN: &str = "5c0f6a52-32f1-4b3e-9e0d-1f4f9f6b2a33";

fn said(text: &str) -> Value {
    json!([{"text": text}])
}

fn lines(events: &[NewEvent]) -> Vec<String> {
    let line = |event: &NewEvent| format!("{} {}", event.kind, event.event_id);
    events.iter().map(line).collect()
}

/// Turns that wait, oldest first, and the open run.
fn standing(events: &[NewEvent]) -> (Vec<TurnId>, Option<String>) {
    let (mut pending, mut run) = (Vec::new(), None);
    for event in events {
        match event.kind {
            Kind::Request => pending.extend(event.turn_id),
            Kind::Response => pending.retain(|turn| Some(*turn) != event.turn_id),
            _ => match Effect::of(event).run {
                Some(RunEffect::Open { run_id, .. }) => run = Some(run_id),
                Some(RunEffect::Closed { .. }) => run = None,
                None => {}
            },
        }
    }
    (pending, run)
}

#[test]
fn a_fork_stands_before_the_answer_with_a_run_of_its_own() {
    let mut log = Log::default();
    log.push(
        Kind::Run,
        "root",
        &json!({"run_id": "earlier", "status": "queued", "message": {"parts": said("hi")}}),
    );
    log.push(Kind::Run, "root", &json!({"run_id": "earlier", "status": "finished"}));
    log.run("queued", &json!({"message": {"parts": said("go")}, "later_field": 1.50}));
    log.run("started", &json!({}));
    log.adk("user", said("go"));
    log.turn(1, "root", said("first"));
    log.turn(2, "root", said("second"));
    log.run("finished", &json!({}));
    log.push(Kind::Session, "user", &json!({"status": "completed"}));

    let fork = fork_prefix(&log.events, turn(2), NEW_RUN).unwrap();
    assert_eq!(
        lines(&fork),
        [
            "run event-1".to_owned(),
            "run event-2".to_owned(),
            format!("run run-{NEW_RUN}-queued"),
            format!("run run-{NEW_RUN}-started"),
            "event event-5".to_owned(),
            "request event-6".to_owned(),
            "response event-7".to_owned(),
            "request event-8".to_owned(),
        ]
    );
    assert_eq!(
        fork[2].payload.get(),
        format!(
            r#"{{"run_id":"{NEW_RUN}","status":"queued","message":{{"parts":[{{"text":"go"}}]}},"later_field":1.5}}"#
        )
    );
    assert_eq!(fork[2].timestamp, log.events[2].timestamp);
    assert_eq!(fork[0].payload.get(), log.events[0].payload.get());
    assert_eq!(standing(&fork), (vec![turn(2)], Some(NEW_RUN.to_owned())));
}

#[test]
fn a_turn_that_nobody_answered_is_the_end_of_its_fork() {
    let mut log = Log::default();
    log.run("queued", &json!({}));
    log.turn(1, "root", said("first"));
    log.events.pop();
    log.adk("other", said("meanwhile"));
    assert_eq!(fork_prefix(&log.events, turn(1), NEW_RUN).unwrap().len(), 2);
}

#[test]
fn there_is_no_fork_without_turn_or_run() {
    let mut log = Log::default();
    log.run("queued", &json!({})).run("finished", &json!({}));
    log.turn(1, "root", said("by a program"));
    let error = |n| fork_prefix(&log.events, turn(n), NEW_RUN).unwrap_err();
    assert_eq!(error(1), ForkError::NoRun { turn_id: turn(1) });
    assert_eq!(error(9).to_string(), "there is no turn 00000000-0000-4000-8000-000000000009");
}

proptest! {
    #[test]
    fn every_answered_turn_is_the_head_of_its_fork(
        ahead in prop::collection::vec(0..3_usize, 1..20),
        chosen in any::<prop::sample::Index>(),
    ) {
        // Turns are answered in their order, with some opened ahead of the answers.
        let mut log = Log::default();
        log.run("queued", &json!({"message": {"parts": said("go")}})).run("started", &json!({}));
        let count = ahead.len() as u128;
        let mut asked = 0;
        for (n, ahead) in (1..=count).zip(ahead) {
            while asked < (n + ahead as u128).min(count) {
                asked += 1;
                log.push(Kind::Request, "root", &json!({"request": {}})).entry.turn_id = Some(turn(asked));
            }
            let answer = json!({"candidates": [{"parts": said("x")}]});
            log.push(Kind::Response, "human", &answer).entry.turn_id = Some(turn(n));
        }
        log.run("finished", &json!({}));
        let chosen = turn(chosen.index(usize::try_from(count).unwrap()) as u128 + 1);

        let fork = fork_prefix(&log.events, chosen, NEW_RUN).unwrap();
        let (pending, run) = standing(&fork);
        prop_assert_eq!(pending.first(), Some(&chosen));
        prop_assert_eq!(run.as_deref(), Some(NEW_RUN));
        prop_assert!(fork.iter().all(|event| !event.payload.get().contains(RUN)));
        prop_assert!(fork.iter().zip(&log.events).filter(|(copy, _)| copy.kind != Kind::Run)
            .all(|(copy, event)| copy.event_id == event.event_id && copy.payload.get() == event.payload.get()));
    }
}
