//! Servers that share a database: who is there, and who works on a run.

use std::any::Any;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use hotseat_core::SessionId;
use hotseat_store::{
    Answerer, AppendError, Change, Gate, HeldRun, Limits, RunClaim, ServerCard, Shared, Store,
    TakeOver,
};
use tokio::time::timeout;
use uuid::Uuid;

use crate::database::Database;
use crate::log::{
    append, at, created, dismissal, event, id, ids, new_session, request, run, run_id,
};

crate::suite! { in databases:
    servers_know_of_each_other_while_they_are_there,
    a_run_is_taken_once,
    what_a_server_worked_on_that_is_gone_is_taken_over,
    a_worker_keeps_its_run_when_it_goes_to_another_server,
    a_worker_writes_nothing_of_a_run_that_another_has_or_had_after_it,
    a_worker_does_not_take_its_run_back_from_another_of_the_same_server,
    a_run_that_was_let_go_of_is_anybodys,
    a_run_that_has_ended_is_taken_by_nobody,
    who_goes_leaves_its_own_runs_at_once_and_those_of_workers_after_a_grace,
    a_question_is_taken_once_and_answered_once,
    a_deleted_session_leaves_no_lease,
}

/// Longer than a test takes.
const LONG: Duration = Duration::from_mins(10);

/// Over at once.
const NOTHING: Duration = Duration::ZERO;

const ONE: Uuid = Uuid::from_u128(1);
const TWO: Uuid = Uuid::from_u128(2);

/// Lets every call through.
#[derive(Debug)]
struct Open;

impl Gate for Open {
    fn pass(&self) -> Pin<Box<dyn Future<Output = Box<dyn Any + Send>> + Send>> {
        Box::pin(std::future::ready(Box::new(()) as _))
    }
}

/// A store that servers share. Over a file they do only in one process.
async fn open(database: &Database) -> (Store, Shared) {
    let mut store = database.open(Limits::default()).await;
    if let Database::Sqlite(_) = database {
        (store, _) = store.apart(Arc::new(Open));
    }
    let shared = store.shared().unwrap();
    (store, shared)
}

fn card(server: Uuid, edition: i64) -> ServerCard {
    ServerCard { server, edition, text: format!("edition {edition}") }
}

fn claim(session: SessionId, n: u128, server: Uuid) -> RunClaim {
    let take_over = TakeOver::OfTheGone;
    RunClaim { session, run_id: run_id(n), server, worker: None, take_over }
}

/// A session of the agent `math` with an open run.
async fn running(store: &Store, n: u128) -> SessionId {
    let mut new = new_session(n);
    (new.agent, new.source) = (Some("math".to_owned()), "web".to_owned());
    store.create_session(new).await.unwrap();
    append(store, id(n), vec![run(n, "queued")]).await;
    id(n)
}

/// Two servers that are there, and a session with an open run that nobody works on.
async fn two_servers(database: &Database) -> (Store, Shared, SessionId) {
    let (store, shared) = open(database).await;
    let session = running(&store, 1).await;
    for server in [ONE, TWO] {
        shared.present(&card(server, 1), LONG).await.unwrap();
    }
    (store, shared, session)
}

async fn waiting(shared: &Shared) -> Vec<SessionId> {
    shared.waiting_runs(vec!["math".to_owned()]).await.unwrap()
}

#[test]
fn a_server_that_has_its_log_for_itself_shares_nothing() {
    assert!(Store::scratch(Limits::default()).unwrap().shared().is_none());
}

async fn servers_know_of_each_other_while_they_are_there(database: &Database) {
    let (store, shared) = open(database).await;
    let there = store.shared().unwrap();
    assert_eq!(shared.present(&card(ONE, 7), LONG).await.unwrap(), []);
    let mut changes = store.changes();
    assert_eq!(there.present(&card(TWO, 1), LONG).await.unwrap(), [(ONE, 7)]);
    if let Database::Postgres(_) = database {
        let told = timeout(LONG, changes.recv()).await.unwrap().unwrap();
        assert_eq!(told, Change::Missed, "a new card is told of");
    }
    assert_eq!(shared.cards(vec![TWO]).await.unwrap(), [card(TWO, 1)]);
    there.present(&card(TWO, 1), NOTHING).await.unwrap();
    assert_eq!(shared.present(&card(ONE, 7), LONG).await.unwrap(), [], "its time is over");
}

async fn a_run_is_taken_once(database: &Database) {
    let (store, shared) = open(database).await;
    let session = running(&store, 1).await;
    assert_eq!(waiting(&shared).await, [session]);
    let claims = (1..=8).map(|server| {
        let (store, shared) = (store.clone(), shared.clone());
        tokio::spawn(async move {
            let server = Uuid::from_u128(server);
            shared.present(&card(server, 1), LONG).await.unwrap();
            store.take_run(&claim(session, 1, server)).await.unwrap()
        })
    });
    let claims: Vec<_> = claims.collect();
    let mut taken = 0;
    for claim in claims {
        taken += u32::from(claim.await.unwrap());
    }
    assert_eq!(taken, 1);
    assert_eq!(waiting(&shared).await, []);
}

async fn what_a_server_worked_on_that_is_gone_is_taken_over(database: &Database) {
    let (store, shared, session) = two_servers(database).await;
    assert!(store.take_run(&claim(session, 1, ONE)).await.unwrap());
    assert!(store.take_run(&claim(session, 1, ONE)).await.unwrap(), "it has it still");
    assert!(!store.take_run(&claim(session, 1, TWO)).await.unwrap());
    shared.present(&card(ONE, 1), NOTHING).await.unwrap();
    assert_eq!(waiting(&shared).await, [session]);
    let careful = RunClaim { take_over: TakeOver::OfItsOwn, ..claim(session, 1, TWO) };
    assert!(!store.take_run(&careful).await.unwrap());
    assert!(store.take_run(&claim(session, 1, TWO)).await.unwrap());
    shared.present(&card(ONE, 1), LONG).await.unwrap();
    assert!(!store.take_run(&claim(session, 1, ONE)).await.unwrap(), "it came back too late");
    assert_eq!(shared.held_runs(ONE).await.unwrap(), []);
}

async fn a_worker_keeps_its_run_when_it_goes_to_another_server(database: &Database) {
    let (store, shared, session) = two_servers(database).await;
    let of_worker = |worker: &str, server| RunClaim {
        worker: Some(worker.to_owned()),
        ..claim(session, 1, server)
    };
    assert!(store.take_run(&of_worker("w", ONE)).await.unwrap());
    assert!(!store.take_run(&of_worker("another", TWO)).await.unwrap());
    assert!(store.take_run(&of_worker("w", TWO)).await.unwrap());
    shared.release_run(session, &run_id(1), ONE).await.unwrap();
    assert_eq!(shared.held_runs(TWO).await.unwrap().len(), 1, "only its server lets go of it");
}

async fn a_worker_writes_nothing_of_a_run_that_another_has_or_had_after_it(database: &Database) {
    let (store, shared) = open(database).await;
    let session = running(&store, 1).await;
    shared.present(&card(ONE, 1), NOTHING).await.unwrap();
    shared.present(&card(TWO, 1), LONG).await.unwrap();
    let take = async |worker: &str, server| {
        let worker = Some(worker.to_owned());
        store.take_run(&RunClaim { worker, ..claim(session, 1, server) }).await.unwrap()
    };
    let write = async |worker: &str, id: &str| {
        store.append_work(session, worker, vec![event(id)]).await.map(|appended| appended.new)
    };
    assert!(take("slow", ONE).await);
    assert_eq!(write("slow", "a").await.unwrap(), 1);
    assert!(take("other", TWO).await, "the first server is gone");
    let refused = write("slow", "b").await.unwrap_err();
    assert!(matches!(refused, AppendError::RunElsewhere { .. }), "{refused:?}");
    assert_eq!(write("slow", "a").await.unwrap(), 0, "what is there already is no news");
    assert_eq!(write("other", "c").await.unwrap(), 1);
    append(&store, session, vec![run(1, "finished")]).await;
    shared.release_run(session, &run_id(1), TWO).await.unwrap();
    assert!(write("slow", "d").await.is_err(), "also when it is over");
    assert_eq!(write("other", "e").await.unwrap(), 1);
}

async fn dismiss(store: &Store, session: SessionId, by: &str) -> Result<(), AppendError> {
    let by =
        Answerer { name: "owner".to_owned(), now: at(2), worker: Some(by.to_owned()), noted: None };
    store.answer(session, dismissal(1), by).await.map(drop)
}

/// Two workers at one server, as on a database that it has for itself.
async fn a_worker_does_not_take_its_run_back_from_another_of_the_same_server(database: &Database) {
    let store = database.open(Limits::default()).await;
    let session = running(&store, 1).await;
    let take = async |worker: &str, take_over| {
        let worker = Some(worker.to_owned());
        store.take_run(&RunClaim { worker, take_over, ..claim(session, 1, ONE) }).await.unwrap()
    };
    assert!(take("slow", TakeOver::Nothing).await, "nobody had it");
    store.append_work(session, "slow", vec![request(1)]).await.unwrap();
    assert!(take("slow", TakeOver::Nothing).await, "it came back in time");
    assert!(!take("other", TakeOver::Nothing).await);
    assert!(take("other", TakeOver::OfItsOwn).await, "the first one is taken for dead");
    assert!(!take("slow", TakeOver::Nothing).await, "it came back too late");
    let refused = dismiss(&store, session, "slow").await.unwrap_err();
    assert!(matches!(refused, AppendError::RunElsewhere { .. }), "{refused:?}");
    let refused = store.append_work(session, "slow", vec![event("a")]).await.unwrap_err();
    assert!(matches!(refused, AppendError::RunElsewhere { .. }), "{refused:?}");
    drop(store);
    let store = database.open(Limits::default()).await;
    let refused = store.append_work(session, "slow", vec![event("b")]).await.unwrap_err();
    assert!(matches!(refused, AppendError::RunElsewhere { .. }), "also after a restart");
    dismiss(&store, session, "other").await.unwrap();
    assert_eq!(ids(&store, session).await, ["run-1-queued", "request-1", "dismissal-1"]);
}

async fn a_run_that_was_let_go_of_is_anybodys(database: &Database) {
    let (store, shared, session) = two_servers(database).await;
    assert!(store.take_run(&claim(session, 1, ONE)).await.unwrap());
    shared.release_run(session, &run_id(1), ONE).await.unwrap();
    assert_eq!(waiting(&shared).await, [session]);
    let careful = RunClaim { take_over: TakeOver::OfItsOwn, ..claim(session, 1, TWO) };
    assert!(store.take_run(&careful).await.unwrap());
}

async fn a_run_that_has_ended_is_taken_by_nobody(database: &Database) {
    let (store, shared) = open(database).await;
    let session = running(&store, 1).await;
    shared.present(&card(ONE, 1), LONG).await.unwrap();
    assert!(store.take_run(&claim(session, 1, ONE)).await.unwrap());
    append(&store, session, vec![run(1, "finished")]).await;
    let held = HeldRun { session, run_id: run_id(1), open: false };
    assert_eq!(shared.held_runs(ONE).await.unwrap(), [held]);
    shared.release_run(session, &run_id(1), ONE).await.unwrap();
    assert!(!store.take_run(&claim(session, 1, ONE)).await.unwrap());
    created(&store, 2).await;
    assert!(!store.take_run(&claim(id(2), 2, ONE)).await.unwrap(), "there never was one");
}

async fn who_goes_leaves_its_own_runs_at_once_and_those_of_workers_after_a_grace(
    database: &Database,
) {
    let (store, shared) = open(database).await;
    let (own, workers) = (running(&store, 1).await, running(&store, 2).await);
    for server in [ONE, TWO] {
        shared.present(&card(server, 1), LONG).await.unwrap();
    }
    assert!(store.take_run(&claim(own, 1, ONE)).await.unwrap());
    let of_worker = RunClaim { worker: Some("w".to_owned()), ..claim(workers, 2, ONE) };
    assert!(store.take_run(&of_worker).await.unwrap());
    shared.leave(ONE, LONG).await.unwrap();
    assert_eq!(waiting(&shared).await, [own]);
    shared.leave(ONE, NOTHING).await.unwrap();
    assert_eq!(waiting(&shared).await, [own, workers]);
}

async fn a_question_is_taken_once_and_answered_once(database: &Database) {
    let (_store, shared) = open(database).await;
    let id = Uuid::from_u128(9);
    shared.put_question(id, b"what?", LONG).await.unwrap();
    assert_eq!(shared.take_question(id).await.unwrap().as_deref(), Some(&b"what?"[..]));
    assert_eq!(shared.take_question(id).await.unwrap(), None);
    assert_eq!(shared.question_answer(id).await.unwrap(), None);
    shared.answer_question(id, b"that").await.unwrap();
    assert_eq!(shared.question_answer(id).await.unwrap().as_deref(), Some(&b"that"[..]));
    shared.drop_question(id).await.unwrap();
    assert_eq!(shared.question_answer(id).await.unwrap(), None);
}

async fn a_deleted_session_leaves_no_lease(database: &Database) {
    let (store, shared) = open(database).await;
    let session = running(&store, 1).await;
    assert!(store.take_run(&claim(session, 1, ONE)).await.unwrap());
    assert!(store.delete_session(session).await.unwrap());
    assert_eq!(shared.held_runs(ONE).await.unwrap(), []);
}
