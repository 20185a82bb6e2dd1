//! Turns: one request, at most one response, answered from the head.

use hotseat_core::{NewEvent, Seq};
use hotseat_store::{AppendError, Expected, NewSession, Store, Turn, TurnQuery};

use crate::log::{
    answer, append, at, completion, created, dismissal, event, id, ids, new_session, refusal,
    request, session, turn,
};
use crate::suite;

suite!(
    a_request_opens_a_turn_and_a_response_ends_it,
    a_request_sent_again_is_the_one_that_is_there,
    a_response_to_an_unknown_turn_is_refused,
    a_second_response_is_refused_with_the_place_of_the_first,
    only_the_head_can_be_answered,
    any_pending_turn_can_be_dismissed,
    a_turn_opened_in_the_same_append_can_be_answered_there,
    the_same_turn_id_in_two_sessions_is_two_turns,
    turns_are_listed_oldest_first_whatever_the_clock_said,
    turns_of_all_sessions_are_listed_by_time,
    turns_of_a_user_are_in_their_sessions,
    a_session_with_an_open_turn_is_not_completed,
);

const PENDING: TurnQuery = TurnQuery { session: None, user_id: None, answered: false };

async fn pending(store: &Store, n: u128) -> Vec<u128> {
    let query = TurnQuery { session: Some(id(n)), ..PENDING };
    numbers(&store.turns(query).await.unwrap())
}

fn numbers(turns: &[Turn]) -> Vec<u128> {
    turns.iter().map(|turn| turn.turn_id.uuid().as_u128()).collect()
}

async fn a_request_opens_a_turn_and_a_response_ends_it(store: Store) {
    created(&store, 1).await;
    append(&store, id(1), vec![event("a"), request(1)]).await;
    let open = store.turn(id(1), turn(1)).await.unwrap().unwrap();
    let expected =
        Turn { session_id: id(1), turn_id: turn(1), request: Seq::new(2), response: None };
    assert_eq!(open, expected);
    assert_eq!(session(&store, id(1)).await.pending_turns, 1);
    assert_eq!(store.counts().await.unwrap().pending_turns, 1);

    append(&store, id(1), vec![answer(1)]).await;
    let ended = store.turn(id(1), turn(1)).await.unwrap().unwrap();
    assert_eq!(ended, Turn { response: Some(Seq::new(3)), ..expected });
    assert_eq!(session(&store, id(1)).await.pending_turns, 0);
    assert_eq!(store.counts().await.unwrap().pending_turns, 0);
    assert!(pending(&store, 1).await.is_empty());
    let all =
        store.turns(TurnQuery { session: Some(id(1)), answered: true, ..PENDING }).await.unwrap();
    assert_eq!(numbers(&all), [1]);
}

async fn a_request_sent_again_is_the_one_that_is_there(store: Store) {
    created(&store, 1).await;
    append(&store, id(1), vec![event("a"), request(1), event("b")]).await;
    let again = NewEvent { event_id: "another".to_owned(), ..request(1) };
    let appended = append(&store, id(1), vec![again.clone()]).await;
    assert_eq!((appended.new, appended.seqs), (0, vec![Seq::new(2)]));
    assert_eq!(session(&store, id(1)).await.pending_turns, 1);

    append(&store, id(1), vec![answer(1)]).await;
    assert_eq!(append(&store, id(1), vec![again]).await.new, 0, "an answered turn stays answered");
    assert!(pending(&store, 1).await.is_empty());
}

async fn a_response_to_an_unknown_turn_is_refused(store: Store) {
    created(&store, 1).await;
    created(&store, 2).await;
    append(&store, id(2), vec![request(1)]).await;
    for response in [answer(1), dismissal(1)] {
        let refused = refusal(&store, id(1), vec![response]).await;
        assert_eq!(refused, format!("session {} has no turn {}", id(1), turn(1)));
    }
}

async fn a_second_response_is_refused_with_the_place_of_the_first(store: Store) {
    created(&store, 1).await;
    append(&store, id(1), vec![request(1), answer(1)]).await;
    for mut second in [answer(1), dismissal(1)] {
        second.event_id = format!("second-{}", second.event_id);
        let refused = store.append(id(1), Expected::Any, vec![second]).await.unwrap_err();
        assert!(
            matches!(refused, AppendError::TurnAnswered { turn: t, response } if t == turn(1) && response == Seq::new(2)),
            "{refused}"
        );
    }
    assert_eq!(ids(&store, id(1)).await, ["request-1", "answer-1"]);
}

async fn only_the_head_can_be_answered(store: Store) {
    created(&store, 1).await;
    append(&store, id(1), vec![request(3), request(1), request(2)]).await;
    assert_eq!(pending(&store, 1).await, [3, 1, 2]);
    let refused = refusal(&store, id(1), vec![answer(1)]).await;
    assert_eq!(
        refused,
        format!("turn {} is not at the head of its session's queue: turn {} is", turn(1), turn(3))
    );
    for n in [3, 1, 2] {
        append(&store, id(1), vec![answer(n)]).await;
    }
    assert!(pending(&store, 1).await.is_empty());
}

async fn any_pending_turn_can_be_dismissed(store: Store) {
    created(&store, 1).await;
    append(&store, id(1), vec![request(1), request(2), request(3)]).await;
    append(&store, id(1), vec![dismissal(2)]).await;
    assert_eq!(pending(&store, 1).await, [1, 3]);
    append(&store, id(1), vec![answer(1), answer(3)]).await;
    assert_eq!(session(&store, id(1)).await.pending_turns, 0);
}

async fn a_turn_opened_in_the_same_append_can_be_answered_there(store: Store) {
    created(&store, 1).await;
    let appended = append(&store, id(1), vec![request(1), answer(1), request(2)]).await;
    assert_eq!(appended.new, 3);
    assert_eq!(pending(&store, 1).await, [2]);
}

async fn the_same_turn_id_in_two_sessions_is_two_turns(store: Store) {
    created(&store, 1).await;
    created(&store, 2).await;
    append(&store, id(1), vec![request(1), answer(1)]).await;
    append(&store, id(2), vec![request(1)]).await;
    assert_eq!(pending(&store, 2).await, [1]);
    assert!(pending(&store, 1).await.is_empty());
}

async fn turns_are_listed_oldest_first_whatever_the_clock_said(store: Store) {
    created(&store, 1).await;
    for (n, milliseconds) in [(1, 300), (2, 200), (3, 100)] {
        let event = NewEvent { timestamp: at(milliseconds), ..request(n) };
        append(&store, id(1), vec![event]).await;
    }
    assert_eq!(pending(&store, 1).await, [1, 2, 3]);
}

async fn turns_of_all_sessions_are_listed_by_time(store: Store) {
    for (n, milliseconds) in [(1, 300), (2, 100), (3, 200)] {
        created(&store, n).await;
        let event = NewEvent { timestamp: at(milliseconds), ..request(n) };
        append(&store, id(n), vec![event]).await;
    }
    assert_eq!(numbers(&store.turns(PENDING).await.unwrap()), [2, 3, 1]);
}

async fn turns_of_a_user_are_in_their_sessions(store: Store) {
    created(&store, 1).await;
    let theirs = NewSession { user_id: "bob".to_owned(), ..new_session(2) };
    store.create_session(theirs).await.unwrap();
    append(&store, id(1), vec![request(1)]).await;
    append(&store, id(2), vec![request(2)]).await;
    for (user, expected) in [("bob", vec![2]), ("local", vec![1]), ("nobody", vec![])] {
        let query = TurnQuery { user_id: Some(user.to_owned()), ..PENDING };
        assert_eq!(numbers(&store.turns(query).await.unwrap()), expected, "{user}");
        let both = TurnQuery { session: Some(id(2)), user_id: Some(user.to_owned()), ..PENDING };
        assert_eq!(store.turns(both).await.unwrap().len(), usize::from(user == "bob"));
    }
}

async fn a_session_with_an_open_turn_is_not_completed(store: Store) {
    created(&store, 1).await;
    append(&store, id(1), vec![request(1), request(2)]).await;
    for rest in [vec![], vec![answer(1)], vec![dismissal(2)]] {
        let refused = refusal(&store, id(1), [rest, vec![completion()]].concat()).await;
        assert_eq!(refused, format!("session {} has an open turn or run", id(1)));
    }
    assert_eq!(pending(&store, 1).await, [1, 2]);
    append(&store, id(1), vec![dismissal(2), answer(1), completion()]).await;
}
