//! What those who listen hear, whenever they come and however slow they are.

use hotseat_core::Delta;
use uuid::Uuid;

use super::*;
use crate::service::adk_event;
use crate::service::sessions::raw;

const SESSION: SessionId = SessionId::new(Uuid::from_u128(7));

fn piece_of(author: &str, delta: Delta) -> Piece {
    Piece {
        invocation_id: "e-1".to_owned(),
        author: author.to_owned(),
        branch: None,
        after_event_id: None,
        delta,
    }
}

fn text(text: &str) -> Piece {
    piece_of("math", Delta::Text(text.to_owned()))
}

fn completion(id: &str, author: &str) -> NewEvent {
    let event = serde_json::json!({"id": id, "author": author, "invocationId": "e-1"});
    adk_event(raw(&event)).unwrap()
}

fn deltas(ear: &mut Ear) -> Vec<Delta> {
    std::iter::from_fn(|| ear.heard()).map(|told| told.piece.delta.clone()).collect()
}

fn said(ear: &mut Ear) -> String {
    let text = |delta| match delta {
        Delta::Text(text) | Delta::Thought(text) => text,
        other => panic!("{other:?}"),
    };
    deltas(ear).into_iter().map(text).collect()
}

#[tokio::test]
async fn those_who_listen_hear_and_nothing_stays_when_the_run_is_over() {
    let live = Live::default();
    live.tell(SESSION, text("without a run"));
    assert!(live.lock().by_session.is_empty());
    live.begin(SESSION, "run", Seq::new(3));
    let (mut one, mut two) = (live.listen(SESSION), live.listen(SESSION));
    live.tell(SESSION, text("both"));
    let told = one.hear().await;
    assert_eq!((told.after, &told.piece), (Seq::new(3), &text("both")));
    assert_eq!(said(&mut two), "both");
    drop(one);
    live.end(SESSION);
    assert_eq!(live.lock().by_session.len(), 1, "somebody listens");
    drop(two);
    assert!(live.lock().by_session.is_empty());
    live.begin(SESSION, "run", Seq::new(5));
    live.tell(SESSION, text("to nobody"));
    live.end(SESSION);
    assert!(live.lock().by_session.is_empty());
}

#[tokio::test]
async fn who_comes_in_the_middle_hears_the_answer_from_its_beginning_and_goes_on() {
    let live = Live::default();
    live.begin(SESSION, "run", Seq::new(1));
    live.tell(SESSION, piece_of("math", Delta::Thought("hm".to_owned())));
    for word in ["one ", "two "] {
        live.tell(SESSION, text(word));
    }
    let call = Delta::Call { id: "c".to_owned(), name: "add".to_owned() };
    let args = |json: &str| Delta::Args { id: "c".to_owned(), json: json.to_owned() };
    live.tell(SESSION, piece_of("math", call.clone()));
    live.tell(SESSION, piece_of("math", args("{\"a\"")));
    let mut late = live.listen(SESSION);
    live.tell(SESSION, piece_of("math", args(":1}")));
    assert_eq!(
        deltas(&mut late),
        [
            Delta::Thought("hm".to_owned()),
            Delta::Text("one two ".to_owned()),
            call,
            args("{\"a\""),
            args(":1}"),
        ]
    );
}

#[tokio::test]
async fn what_is_complete_is_not_heard_again() {
    let live = Live::default();
    live.begin(SESSION, "run", Seq::new(1));
    live.tell(SESSION, text("first"));
    live.tell(SESSION, piece_of("other", Delta::Text("beside".to_owned())));
    live.complete(SESSION, &[completion("a", "math")]);
    live.reached(SESSION, Seq::new(4));
    live.tell(SESSION, text("second"));
    let mut late = live.listen(SESSION);
    let told: Vec<_> = std::iter::from_fn(|| late.heard()).collect();
    let told: Vec<_> = told.iter().map(|told| (told.after.get(), &told.piece.delta)).collect();
    let text = |text: &str| Delta::Text(text.to_owned());
    assert_eq!(told, [(1, &text("beside")), (4, &text("second"))]);
    live.begin(SESSION, "run", Seq::new(9));
    assert_eq!(said(&mut live.listen(SESSION)), "", "it is given anew");
}

#[tokio::test]
async fn who_is_too_slow_hears_everything_once_all_the_same() {
    let live = Live::default();
    live.begin(SESSION, "run", Seq::new(1));
    let mut slow = live.listen(SESSION);
    let words: Vec<_> = (0..3 * PIECES_KEPT).map(|n| format!("ä{n} ")).collect();
    live.tell(SESSION, text(&words[0]));
    assert_eq!(said(&mut slow), words[0]);
    for word in &words[1..] {
        live.tell(SESSION, text(word));
    }
    let mut rest = slow.hear().await.piece.delta.clone();
    if let Delta::Text(rest) = &mut rest {
        rest.push_str(&said(&mut slow));
    }
    assert_eq!(rest, Delta::Text(words[1..].concat()));
    live.tell(SESSION, text("end"));
    assert_eq!(said(&mut slow), "end");
}

#[tokio::test]
async fn an_answer_too_long_to_keep_is_passed_over_by_who_comes_late_and_the_next_is_not() {
    let live = Live::default();
    live.begin(SESSION, "run", Seq::new(1));
    for _ in 0..3 {
        live.tell(SESSION, text(&"x".repeat(500_000)));
    }
    let mut late = live.listen(SESSION);
    live.tell(SESSION, text("its second half"));
    assert_eq!(said(&mut late), "");
    live.complete(SESSION, &[completion("a", "math")]);
    live.tell(SESSION, text("next"));
    assert_eq!(said(&mut late), "next");
}

#[tokio::test]
async fn only_so_many_answers_are_kept() {
    let live = Live::default();
    live.begin(SESSION, "run", Seq::new(1));
    for n in 0..2 * OPEN_ANSWERS {
        live.tell(SESSION, piece_of(&n.to_string(), Delta::Text("x".to_owned())));
    }
    assert_eq!(said(&mut live.listen(SESSION)).len(), OPEN_ANSWERS);
}

#[tokio::test]
async fn a_piece_that_its_event_has_overtaken_is_dropped() {
    let live = Live::default();
    live.begin(SESSION, "run", Seq::new(1));
    let mut ear = live.listen(SESSION);
    let after = |id: &str, said: &str| Piece { after_event_id: Some(id.to_owned()), ..text(said) };
    live.tell(SESSION, after("run", "of the first, "));
    live.complete(SESSION, &[completion("a", "math"), completion("b", "other")]);
    live.tell(SESSION, after("run", "overtaken"));
    live.tell(SESSION, after("a", "of the next, "));
    live.tell(SESSION, after("who knows", "after anything"));
    live.complete(SESSION, &[completion("c", "math")]);
    live.tell(SESSION, after("b", "overtaken"));
    live.tell(SESSION, after("c", "."));
    assert_eq!(said(&mut ear), "of the first, of the next, after anything.");
}
