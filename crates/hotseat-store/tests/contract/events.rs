//! Reading the log: filters, order, limits.

use std::io::Write as _;

use hotseat_core::{Kind, NewEvent, Seq};
use hotseat_store::{EventQuery, EventRef, Order, Sort, Store};

use crate::log::{answer, append, at, created, event, id, raw, request, said, seqs};
use crate::suite;

suite!(
    events_are_read_after_a_place,
    events_are_read_backwards,
    a_limit_cuts_from_the_side_that_was_asked_for,
    a_page_has_a_thousand_and_one_that_tells_of_more,
    events_are_filtered_by_kind,
    events_are_filtered_by_invocation_and_author,
    events_are_filtered_by_their_own_time,
    events_are_sorted_by_time_and_then_by_arrival,
    events_are_filtered_by_branch,
    events_are_filtered_by_type,
    filters_apply_together,
    one_event_is_found_by_its_place,
    a_page_written_where_it_is_read_says_what_its_events_say,
);

/// Seven events: 1 user, 2 agent, 3 request, 4 response, 5 and 6 agent, 7 user; 10 ms apart.
async fn seven(store: &Store) {
    created(store, 1).await;
    let invocation = |mut event: NewEvent, id: &str| {
        event.invocation_id = Some(id.to_owned());
        event
    };
    let events = [
        invocation(said("1", "hello"), "e-1"),
        invocation(event("2"), "e-1"),
        request(1),
        answer(1),
        invocation(event("5"), "e-2"),
        event("6"),
        invocation(said("7", "more"), "e-2"),
    ];
    let events = events.into_iter().zip(1_i32..).map(|(mut event, n)| {
        event.timestamp = at(i64::from(n) * 10);
        event
    });
    append(store, id(1), events.collect()).await;
}

async fn read(store: &Store, query: EventQuery) -> Vec<u64> {
    seqs(&store.events(id(1), query).await.unwrap())
}

async fn events_are_read_after_a_place(store: Store) {
    seven(&store).await;
    let after = |n| EventQuery { after: Seq::new(n), ..EventQuery::default() };
    assert_eq!(read(&store, after(0)).await, [1, 2, 3, 4, 5, 6, 7]);
    assert_eq!(read(&store, after(5)).await, [6, 7]);
    assert!(read(&store, after(7)).await.is_empty());
    assert!(read(&store, after(u64::MAX)).await.is_empty());
}

async fn events_are_read_backwards(store: Store) {
    seven(&store).await;
    let before =
        |n| EventQuery { after: Seq::new(n), order: Order::Descending, ..EventQuery::default() };
    assert_eq!(read(&store, before(0)).await, [7, 6, 5, 4, 3, 2, 1]);
    assert_eq!(read(&store, before(3)).await, [2, 1]);
    assert!(read(&store, before(1)).await.is_empty());
}

async fn a_limit_cuts_from_the_side_that_was_asked_for(store: Store) {
    seven(&store).await;
    let first = EventQuery { limit: 2, ..EventQuery::default() };
    let last = EventQuery { order: Order::Descending, ..first.clone() };
    assert_eq!(read(&store, first).await, [1, 2]);
    assert_eq!(read(&store, last).await, [7, 6]);
}

async fn a_page_has_a_thousand_and_one_that_tells_of_more(store: Store) {
    created(&store, 1).await;
    append(&store, id(1), (0..1005).map(|n| event(&n.to_string())).collect()).await;
    for (limit, expected) in [(0, 1000), (1000, 1000), (5000, 1001)] {
        let page = read(&store, EventQuery { limit, ..EventQuery::default() }).await;
        assert_eq!((page.len(), page.last()), (expected, Some(&(expected as u64))));
    }
}

async fn events_are_filtered_by_kind(store: Store) {
    seven(&store).await;
    let of = |kinds: &[Kind]| EventQuery { kinds: kinds.to_vec(), ..EventQuery::default() };
    assert_eq!(read(&store, of(&[Kind::Request])).await, [3]);
    assert_eq!(read(&store, of(&[Kind::Request, Kind::Response])).await, [3, 4]);
    assert_eq!(read(&store, of(&[Kind::Event])).await, [1, 2, 5, 6, 7]);
    assert!(read(&store, of(&[Kind::ToolRun])).await.is_empty());
}

async fn events_are_filtered_by_invocation_and_author(store: Store) {
    seven(&store).await;
    let invocation =
        |id: &str| EventQuery { invocation_id: Some(id.to_owned()), ..EventQuery::default() };
    let author = |name: &str| EventQuery { author: Some(name.to_owned()), ..EventQuery::default() };
    assert_eq!(read(&store, invocation("e-1")).await, [1, 2]);
    assert!(read(&store, invocation("")).await.is_empty());
    assert_eq!(read(&store, author("user")).await, [1, 7]);
    assert_eq!(read(&store, author("human")).await, [4]);
    assert!(read(&store, author("User")).await.is_empty(), "names have a case");
}

/// A raw event that tells its own time.
fn timed(event_id: &str, seconds: &str) -> NewEvent {
    let payload = format!(r#"{{"author":"root","timestamp":{seconds}}}"#);
    NewEvent { payload: raw(&payload), ..event(event_id) }
}

/// Events out of order, two of them at the same time, one without a time, and one of
/// another kind that has only the time of its arrival.
async fn times(store: &Store) {
    created(store, 1).await;
    let events = vec![
        timed("a", "1700000000.25"),
        timed("b", "1700000002"),
        timed("c", "1700000001.5"),
        timed("d", "1700000001.5"),
        event("e"),
        request(1),
    ];
    append(store, id(1), events).await;
}

async fn events_are_filtered_by_their_own_time(store: Store) {
    times(&store).await;
    let later = |seconds| EventQuery { later_than: Some(seconds), ..EventQuery::default() };
    let since = |seconds| EventQuery { not_before: Some(seconds), ..EventQuery::default() };
    assert_eq!(read(&store, later(1_700_000_000.25)).await, [2, 3, 4, 6], "strictly");
    assert_eq!(read(&store, since(1_700_000_000.25)).await, [1, 2, 3, 4, 6]);
    assert_eq!(read(&store, later(1_700_000_002.0)).await, [6]);
    assert_eq!(read(&store, later(-1.0)).await, [1, 2, 3, 4, 5, 6], "no time is the first");
}

async fn events_are_sorted_by_time_and_then_by_arrival(store: Store) {
    times(&store).await;
    let by_time = EventQuery { sort: Sort::Time, ..EventQuery::default() };
    assert_eq!(read(&store, by_time.clone()).await, [5, 1, 3, 4, 2, 6]);
    let recent =
        EventQuery { order: Order::Descending, limit: 3, kinds: vec![Kind::Event], ..by_time };
    assert_eq!(read(&store, recent).await, [2, 4, 3]);
}

async fn events_are_filtered_by_branch(store: Store) {
    created(&store, 1).await;
    let branched = NewEvent { branch: Some("root.left".to_owned()), ..event("b") };
    append(&store, id(1), vec![event("a"), branched]).await;
    let of = |branch: &str| EventQuery { branch: Some(branch.to_owned()), ..EventQuery::default() };
    assert_eq!(read(&store, of("root.left")).await, [2]);
    assert!(read(&store, of("root")).await.is_empty(), "a branch is not its parent");
}

async fn events_are_filtered_by_type(store: Store) {
    created(&store, 1).await;
    created(&store, 2).await;
    let typed = |event_id: &str, event_type: &str, time: u32| NewEvent {
        payload: raw(&format!(
            r#"{{"type":"{event_type}","timestamp":{time},"content":"{}"}}"#,
            "long ".repeat(2_000)
        )),
        ..event(event_id)
    };
    append(&store, id(2), vec![typed("elsewhere", "note", 1)]).await;
    let mut events = vec![typed("1", "note", 30), typed("2", "error", 20), typed("3", "note", 10)];
    // Events without a type do not make those with one harder to find, settled or not.
    events.extend((4..1_500).map(|n| event(&n.to_string())));
    append(&store, id(1), events).await;
    append(&store, id(1), vec![typed("last", "note", 20)]).await;
    let of = |event_type: &str| EventQuery {
        event_type: Some(event_type.to_owned()),
        ..EventQuery::default()
    };
    assert_eq!(read(&store, of("note")).await, [1, 3, 1_500]);
    assert_eq!(read(&store, of("error")).await, [2]);
    assert!(read(&store, of("Note")).await.is_empty(), "exactly");
    assert!(read(&store, of("")).await.is_empty(), "no type is no empty type");
    let backwards = EventQuery { order: Order::Descending, limit: 2, ..of("note") };
    assert_eq!(read(&store, backwards).await, [1_500, 3]);
    let by_time = EventQuery { sort: Sort::Time, later_than: Some(10.0), ..of("note") };
    assert_eq!(read(&store, by_time).await, [1_500, 1]);
    let nobody = EventQuery { author: Some("nobody".to_owned()), ..of("note") };
    assert!(read(&store, nobody).await.is_empty());
}

async fn filters_apply_together(store: Store) {
    seven(&store).await;
    let query = EventQuery {
        after: Seq::new(6),
        later_than: Some(-1.0),
        kinds: vec![Kind::Event],
        author: Some("root".to_owned()),
        order: Order::Descending,
        limit: 2,
        ..EventQuery::default()
    };
    assert_eq!(read(&store, query).await, [5, 2]);
}

async fn one_event_is_found_by_its_place(store: Store) {
    seven(&store).await;
    assert_eq!(store.event(id(1), Seq::new(4)).await.unwrap().unwrap().event_id, "answer-1");
    for nowhere in [0, 8, u64::MAX] {
        assert!(store.event(id(1), Seq::new(nowhere)).await.unwrap().is_none());
    }
}

fn write(event: &EventRef<'_>, text: &mut Vec<u8>) {
    writeln!(text, "{event:?}").unwrap();
}

async fn a_page_written_where_it_is_read_says_what_its_events_say(store: Store) {
    seven(&store).await;
    // Large enough to be kept compressed.
    append(&store, id(1), vec![said("8", &"word ".repeat(50_000))]).await;
    let backwards = EventQuery { order: Order::Descending, ..EventQuery::default() };
    for (query, more) in [
        (EventQuery::default(), false),
        (EventQuery { limit: 8, ..EventQuery::default() }, false),
        (EventQuery { limit: 7, ..EventQuery::default() }, true),
        (EventQuery { limit: 1, ..backwards.clone() }, true),
        (EventQuery { after: Seq::new(7), limit: 3, ..EventQuery::default() }, false),
        (EventQuery { max_bytes: 1, ..backwards }, true),
        (EventQuery { after: Seq::new(8), ..EventQuery::default() }, false),
    ] {
        let events = store.events(id(1), query.clone()).await.unwrap();
        let mut text = b"before\n".to_vec();
        for event in &events {
            write(&event.into(), &mut text);
        }
        let began = b"before\n".to_vec();
        let written = store.write_events(id(1), query.clone(), began, write).await.unwrap();
        assert!(written.text == text, "{query:?}");
        assert_eq!(written.last, events.last().map(|event| event.seq), "{query:?}");
        assert_eq!(written.more, more, "{query:?}");
    }
}
