//! Two workers at one server: one that was taken for dead comes back, and another has its run.

use hotseat_testkit::proto::{DismissTurnRequest, Register};
use hotseat_testkit::{ScriptedWorker, TestServer, sample, soon};
use serde_json::json;
use tonic::{Code, Status};

/// A worker that comes back with the run that it had.
async fn back(server: &TestServer, run_id: &str) -> ScriptedWorker {
    let active_run_ids = vec![run_id.to_owned()];
    let again = Register { active_run_ids, ..ScriptedWorker::registering("slow", "math") };
    ScriptedWorker::attach_as(&server.api, again).await.unwrap()
}

fn is_elsewhere(refused: &Status) -> bool {
    let code = refused.metadata().get("hotseat-code");
    refused.code() == Code::Aborted && code.is_some_and(|code| code == "run_elsewhere")
}

#[tokio::test]
async fn it_is_told_to_leave_it_and_nothing_that_it_says_counts() {
    let server = TestServer::sqlite().await;
    let mut slow = ScriptedWorker::attach(&server.api, "slow", "math").await;
    let session = server.api.session_with(&json!({"agent": "math"})).await;
    server.api.query(&session, "2 + 3?").await.json(202);
    let run = slow.run().await;
    slow.begin(&run).await.unwrap();
    let turn = slow.grpc.ask(&session).await;
    drop(slow);
    server.api.until_connected("math", false).await;
    let mut other = ScriptedWorker::attach(&server.api, "other", "math").await;
    let taken = other.run().await;
    assert_eq!((&taken.run_id, taken.resume), (&run.run_id, true));

    let mut slow = back(&server, &run.run_id).await;
    let told = slow.cancellation().await;
    assert_eq!((&told.run_id, told.taken_over), (&run.run_id, true));
    let late = sample::agent_event("late", "math", "5");
    let refused = slow.append(&run, "event", "late", &late).await.unwrap_err();
    assert!(is_elsewhere(&refused), "{refused:?}");
    let dismiss = DismissTurnRequest {
        session_id: session.clone(),
        turn_id: turn.clone(),
        worker_id: "slow".to_owned(),
        ..DismissTurnRequest::default()
    };
    let refused = slow.grpc.seat.dismiss_turn(dismiss.clone()).await.unwrap_err();
    assert!(is_elsewhere(&refused), "{refused:?}");
    slow.end(&run, "failed").await;

    let by_the_other = DismissTurnRequest { worker_id: "other".to_owned(), ..dismiss };
    other.grpc.seat.dismiss_turn(by_the_other).await.unwrap();
    other.end(&taken, "finished").await;
    let ended = async {
        loop {
            let log = server.api.events(&session).await;
            let last = log.last().unwrap();
            if last["kind"] == "run" && last["event"]["status"] != "started" {
                return last["event"]["status"].clone();
            }
        }
    };
    assert_eq!(soon("the end of the run", ended).await, "finished");
    let refused = slow.append(&run, "event", "late", &late).await.unwrap_err();
    assert!(is_elsewhere(&refused), "also when it is over: {refused:?}");
}

#[tokio::test]
async fn it_is_given_the_run_anew_where_the_other_is_gone_too() {
    let server = TestServer::sqlite().await;
    let mut slow = ScriptedWorker::attach(&server.api, "slow", "math").await;
    let session = server.api.session_with(&json!({"agent": "math"})).await;
    server.api.query(&session, "2 + 3?").await.json(202);
    let run = slow.run().await;
    slow.begin(&run).await.unwrap();
    drop(slow);
    server.api.until_connected("math", false).await;
    let mut other = ScriptedWorker::attach(&server.api, "other", "math").await;
    let taken = other.run().await;
    let said = sample::agent_event("said", "math", "5");
    other.append(&taken, "event", "said", &said).await.unwrap();
    drop(other);
    server.api.until_connected("math", false).await;

    // What it remembers is older than the log.
    let mut slow = back(&server, &run.run_id).await;
    let told = slow.cancellation().await;
    assert_eq!((&told.run_id, told.taken_over), (&run.run_id, true));
    let anew = slow.run().await;
    assert_eq!((&anew.run_id, anew.resume), (&run.run_id, true));
    let next = sample::agent_event("next", "math", "6");
    slow.append(&anew, "event", "next", &next).await.unwrap();
}
