//! Appends into many sessions over one stream.

use std::collections::HashMap;

use tokio::sync::mpsc;
use tokio_stream::wrappers::ReceiverStream;
use tonic::{Code, Streaming};

use hotseat_testkit::proto::append_adk_events_request::Append;
use hotseat_testkit::proto::append_adk_events_response::Answer;
use hotseat_testkit::proto::{
    AdkSessionKey, AppendAdkEventRequest, AppendAdkEventsRequest, AppendAdkEventsResponse,
    CreateAdkSessionRequest, GetAdkSessionRequest,
};
use hotseat_testkit::{Grpc, TestServer, sample};

fn key(id: &str) -> Option<AdkSessionKey> {
    let (app_name, user_id) = ("notes".to_owned(), "ada".to_owned());
    Some(AdkSessionKey { app_name, user_id, id: id.to_owned() })
}

fn append(number: u64, session: &str, event_id: &str) -> Append {
    let raw_json = sample::user_event(event_id, "hi").to_string().into();
    let event = AppendAdkEventRequest { key: key(session), raw_json, ..Default::default() };
    Append { number, event: Some(event) }
}

async fn create(grpc: &mut Grpc, id: &str) {
    let new = CreateAdkSessionRequest { key: key(id), ..Default::default() };
    grpc.sessions.create_adk_session(new).await.unwrap();
}

async fn logged(grpc: &mut Grpc, id: &str) -> Vec<u64> {
    let wish = GetAdkSessionRequest { key: key(id), ..Default::default() };
    let read = grpc.sessions.get_adk_session(wish).await.unwrap().into_inner();
    read.events.iter().map(|event| event.seq).collect()
}

/// A stream that is open, and what is said on it.
struct Line {
    to: mpsc::Sender<AppendAdkEventsRequest>,
    answers: Streaming<AppendAdkEventsResponse>,
}

impl Line {
    async fn open(grpc: &mut Grpc) -> Self {
        let (to, from) = mpsc::channel(8);
        let answers = grpc.sessions.append_adk_events(ReceiverStream::new(from)).await;
        Self { to, answers: answers.unwrap().into_inner() }
    }

    async fn send(&self, appends: Vec<Append>) {
        self.to.send(AppendAdkEventsRequest { appends }).await.unwrap();
    }

    /// So many answers, by number.
    async fn receive(&mut self, count: usize) -> HashMap<u64, Answer> {
        let mut got = HashMap::new();
        while got.len() < count {
            for answer in self.answers.message().await.unwrap().unwrap().answers {
                assert!(got.insert(answer.number, answer).is_none(), "answered once");
            }
        }
        got
    }
}

#[tokio::test]
async fn every_append_is_answered_by_its_number_and_is_in_its_session() {
    let server = TestServer::scratch().await;
    let mut grpc = server.api.grpc().await;
    let names: Vec<_> = (0..40).map(|n| format!("s{n}")).collect();
    for name in &names {
        create(&mut grpc, name).await;
    }
    let mut line = Line::open(&mut grpc).await;
    for round in 1..=3_u64 {
        let event_id = format!("e{round}");
        line.send((0_u64..).zip(&names).map(|(n, name)| append(n, name, &event_id)).collect())
            .await;
        let answers = line.receive(names.len()).await;
        assert!(answers.values().all(|answer| answer.appended.unwrap().seq == round));
    }
    for name in &names {
        assert_eq!(logged(&mut grpc, name).await, [1, 2, 3]);
    }
}

#[tokio::test]
async fn what_is_refused_is_said_with_its_reason_and_harms_no_other() {
    let server = TestServer::scratch().await;
    let mut grpc = server.api.grpc().await;
    create(&mut grpc, "s").await;
    let mut line = Line::open(&mut grpc).await;
    let no_json =
        AppendAdkEventRequest { raw_json: "{".into(), ..append(0, "s", "x").event.unwrap() };
    let stale =
        AppendAdkEventRequest { expected_head: Some(7), ..append(0, "s", "y").event.unwrap() };
    line.send(vec![
        append(1, "nowhere", "a"),
        Append { number: 2, event: Some(no_json) },
        Append { number: 3, event: Some(stale) },
        Append { number: 4, event: None },
        append(5, "s", "b"),
    ])
    .await;
    let answers = line.receive(5).await;
    let code = |number: u64| Code::from(i32::try_from(answers[&number].code).unwrap());
    assert_eq!(code(1), Code::NotFound);
    assert_eq!(code(2), Code::InvalidArgument);
    assert_eq!(code(3), Code::FailedPrecondition);
    assert_eq!(code(4), Code::InvalidArgument);
    assert!((1..=4).all(|n| !answers[&n].message.is_empty() && answers[&n].appended.is_none()));
    assert_eq!(answers[&5].appended.unwrap().seq, 1);
    assert_eq!(logged(&mut grpc, "s").await, [1]);
}

#[tokio::test]
async fn what_is_under_way_is_answered_after_the_caller_has_ended() {
    let server = TestServer::scratch().await;
    let mut grpc = server.api.grpc().await;
    create(&mut grpc, "s").await;
    let mut line = Line::open(&mut grpc).await;
    line.send((0..50).map(|n| append(n, "s", &format!("e{n}"))).collect()).await;
    let Line { to, .. } = &mut line;
    let (closed, _) = mpsc::channel(1);
    drop(std::mem::replace(to, closed));
    assert_eq!(line.receive(50).await.len(), 50);
    assert!(line.answers.message().await.unwrap().is_none());
    assert_eq!(logged(&mut grpc, "s").await.len(), 50);
}
