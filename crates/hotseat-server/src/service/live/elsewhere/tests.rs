//! What is heard of an answer that is given at another server.

use super::*;

const SESSION: SessionId = SessionId::new(Uuid::from_u128(7));
const SERVER: Uuid = Uuid::from_u128(1);
const OTHER: Uuid = Uuid::from_u128(2);

fn said(text: &str) -> Piece {
    Piece {
        invocation_id: "e-1".to_owned(),
        author: "math".to_owned(),
        branch: None,
        after_event_id: None,
        delta: Delta::Text(text.to_owned()),
    }
}

fn part(answer: u64, offset: usize, text: &str) -> AnswerPiece {
    AnswerPiece { answer, after: 5, offset, piece: said(text) }
}

fn heard(ear: &mut Ear) -> String {
    let text = |told: Arc<Told>| match &told.piece.delta {
        Delta::Text(text) => text.clone(),
        other => panic!("{other:?}"),
    };
    std::iter::from_fn(|| ear.heard()).map(text).collect()
}

#[test]
fn pieces_are_heard_once_however_often_they_come() {
    let live = Live::default();
    live.told_elsewhere(SESSION, SERVER, part(1, 0, "nobody listens"));
    assert!(live.lock().by_session.is_empty());
    let mut ear = live.listen(SESSION);
    live.told_elsewhere(SESSION, SERVER, part(1, 0, "one "));
    live.told_elsewhere(SESSION, SERVER, part(1, 0, "one "));
    // Somebody else began to listen, so all of it comes again, put together.
    live.told_elsewhere(SESSION, SERVER, part(1, 0, "one two "));
    live.told_elsewhere(SESSION, SERVER, part(1, 8, "three"));
    assert_eq!(heard(&mut ear), "one two three");
    assert_eq!(heard(&mut live.listen(SESSION)), "one two three", "who comes late hears all");
}

#[test]
fn an_answer_of_which_a_piece_was_lost_is_left_to_its_event() {
    let live = Live::default();
    let mut ear = live.listen(SESSION);
    live.told_elsewhere(SESSION, SERVER, part(1, 0, "one "));
    live.told_elsewhere(SESSION, SERVER, part(1, 8, "three "));
    live.told_elsewhere(SESSION, SERVER, part(1, 14, "four"));
    assert_eq!(heard(&mut ear), "one ");
    live.told_elsewhere(SESSION, SERVER, part(2, 3, "its beginning is lost"));
    assert_eq!(heard(&mut ear), "");
}

#[test]
fn an_answer_that_another_server_gives_anew_is_left_to_its_event() {
    let live = Live::default();
    let mut ear = live.listen(SESSION);
    live.told_elsewhere(SESSION, SERVER, part(1, 0, "Hel"));
    live.told_elsewhere(SESSION, OTHER, part(1, 0, "Hello"));
    assert_eq!(heard(&mut ear), "Hel");
    live.told_elsewhere(SESSION, SERVER, part(2, 0, "the next of the same"));
    assert_eq!(heard(&mut ear), "the next of the same");
}

#[test]
fn what_comes_before_the_place_where_one_began_is_not_heard() {
    let live = Live::default();
    let mut ear = live.listen(SESSION);
    ear.begin_at(Seq::new(6));
    live.told_elsewhere(SESSION, SERVER, part(1, 0, "complete by then"));
    assert_eq!(heard(&mut ear), "");
}

#[test]
fn an_answer_that_was_passed_is_complete_and_a_later_one_is_not() {
    let mut passed = Passed::default();
    let lane = Lane::of(&said(""));
    passed.note(lane.clone(), Seq::new(6));
    assert!(passed.completes(&lane, Seq::new(5)));
    assert!(!passed.completes(&lane, Seq::new(6)), "it began behind the event");
    let other = Lane::of(&Piece { author: "other".to_owned(), ..said("") });
    assert!(!passed.completes(&other, Seq::new(5)));
}

#[test]
fn only_what_is_wanted_is_remembered_and_only_so_much() {
    let mut wanted = Wanted::default();
    for n in 0..=WANTED_KEPT as u128 {
        wanted.note(SessionId::new(Uuid::from_u128(n)));
    }
    assert!(wanted.0.len() <= WANTED_KEPT);
    wanted.note(SESSION);
    assert!(wanted.is(SESSION));
    wanted.forget(SESSION);
    assert!(!wanted.is(SESSION));
}

#[test]
fn a_long_piece_goes_in_parts_between_letters() {
    let text = "é".repeat(2 * PIECE_BYTES);
    let parts = in_parts(&Delta::Text(text.clone()));
    let together: String = parts
        .iter()
        .map(|part| match part {
            Delta::Text(part) if part.len() <= PIECE_BYTES => part.as_str(),
            other => panic!("{other:?}"),
        })
        .collect();
    assert_eq!(together, text);
    let args = Delta::Args { id: "c".to_owned(), json: "{}".to_owned() };
    assert_eq!(in_parts(&args), [args]);
}
