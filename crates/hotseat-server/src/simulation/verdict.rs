//! What must be true of the log, whatever happened.

use std::collections::{HashMap, HashSet, VecDeque};

use hotseat_core::{Event, Kind, RunChange, RunStatus, Seq, TurnId};

use super::crew::STEPS;
use super::world::Record;

/// Compares what was promised with what is there.
pub(super) fn check(record: &Record, log: &[Event]) {
    let places: Vec<Seq> = log.iter().map(|event| event.seq).collect();
    let gapless: Vec<Seq> = (1..=log.len() as u64).map(Seq::new).collect();
    assert_eq!(places, gapless, "the numbers of a log have no gaps");
    let ids: HashSet<&str> = log.iter().map(|event| event.event_id.as_str()).collect();
    assert_eq!(ids.len(), log.len(), "no event is there twice");

    let at = |seq: Seq| &log[usize::try_from(seq.get()).unwrap() - 1];
    for (event_id, seq) in &record.events {
        assert_eq!(at(*seq).event_id, *event_id, "an acknowledged event is in its place");
    }
    for (turn, seq) in &record.requests {
        let event = at(*seq);
        assert_eq!((event.kind, event.turn_id), (Kind::Request, Some(*turn)), "as acknowledged");
    }
    let answered = queue(log);
    for (turn, seq) in record.answers.iter().chain(&record.heard) {
        assert_eq!(answered.get(turn), Some(seq), "one answer, and the one that was told of");
    }
    for (turn, _) in &record.requests {
        assert!(answered.contains_key(turn), "turn {turn} waits for ever");
    }
    let whole: Vec<_> = log.iter().map(|event| (event.seq, event.event_id.clone())).collect();
    for seen in &record.seen {
        assert_eq!(*seen, whole, "a watcher sees exactly the log");
    }
}

/// Goes through the queue as the log tells it, and gives the places of all answers.
fn queue(log: &[Event]) -> HashMap<TurnId, Seq> {
    let (mut waiting, mut answered) = (VecDeque::new(), HashMap::new());
    let mut opened = HashSet::new();
    for event in log {
        match (event.kind, event.turn_id) {
            (Kind::Request, Some(turn)) => {
                assert!(opened.insert(turn), "turn {turn} was opened twice");
                waiting.push_back(turn);
            }
            (Kind::Response, Some(turn)) => {
                assert_eq!(waiting.pop_front(), Some(turn), "only the head is answered, once");
                answered.insert(turn, event.seq);
            }
            _ => {}
        }
    }
    answered
}

/// Every run was finished, and every step of it done once, in its order and before its end.
pub(super) fn check_runs(log: &[Event]) {
    let mut runs: HashMap<String, usize> = HashMap::new();
    let mut asked = HashSet::new();
    let mut over = HashSet::new();
    for event in log {
        match event.kind {
            Kind::Run => {
                let change = RunChange::parse(&event.payload).unwrap();
                match change.status {
                    RunStatus::Queued => assert!(runs.insert(change.run_id, 0).is_none()),
                    RunStatus::Finished => {
                        assert_eq!(runs.get(&change.run_id), Some(&STEPS), "it has all its steps");
                        assert!(over.insert(change.run_id), "a run ends once");
                    }
                    other => panic!("nobody does this to a run: {other:?}"),
                }
            }
            Kind::Request => {
                let run = event.invocation_id.clone().unwrap();
                assert!(asked.insert(run), "a run asks once");
            }
            Kind::Event => {
                let mut words = event.event_id.split('/');
                let (run, step) = (words.next().unwrap(), words.next().unwrap());
                let done = runs.get_mut(run).unwrap();
                assert_eq!(
                    step,
                    done.to_string(),
                    "step by step, and none twice: {}",
                    event.event_id
                );
                assert!(!over.contains(run), "nothing is done of a run that is over");
                *done += 1;
            }
            Kind::Response | Kind::ToolRun | Kind::Session | Kind::Message => {}
        }
    }
    assert_eq!(over.len(), runs.len(), "a run waits for ever");
    assert_eq!(asked.len(), runs.len(), "a run never asked");
}
