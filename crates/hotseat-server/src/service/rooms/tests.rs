//! Who is in a room, without a server.

use uuid::Uuid;

use super::presence::MAX_TYPING;
use super::*;

fn session() -> SessionId {
    SessionId::new(Uuid::from_u128(5))
}

fn at(seconds: i64) -> Timestamp {
    Timestamp::from_second(1_800_000_000 + seconds).unwrap()
}

#[test]
fn a_room_is_there_for_as_long_as_somebody_is_in_it() {
    let rooms = Rooms::default();
    rooms.types(session(), "ada", at(0));
    assert!(rooms.lock().is_empty(), "nobody was there to see it");
    rooms.enter(session(), "ada");
    rooms.enter(session(), "ada");
    rooms.enter(session(), "bob");
    assert_eq!(rooms.look(session(), at(0)).present, ["ada", "bob"]);
    rooms.leave(session(), "ada");
    assert_eq!(rooms.look(session(), at(0)).present, ["ada", "bob"]);
    rooms.leave(session(), "ada");
    assert_eq!(rooms.look(session(), at(0)).present, ["bob"]);
    rooms.leave(session(), "bob");
    assert!(rooms.lock().is_empty());
}

#[test]
fn whoever_stops_typing_is_forgotten_and_only_so_many_are_told_of() {
    let rooms = Rooms::default();
    rooms.enter(session(), "ada");
    rooms.types(session(), "ada", at(0));
    rooms.types(session(), "ada", at(2));
    assert_eq!(rooms.look(session(), at(6)).typing, ["ada"]);
    assert!(rooms.look(session(), at(7)).typing.is_empty());
    for n in 0..MAX_TYPING + 5 {
        rooms.types(session(), &format!("user{n}"), at(10));
    }
    assert_eq!(rooms.look(session(), at(10)).typing.len(), MAX_TYPING);
    rooms.stops_typing(session(), "user3");
    assert!(!rooms.look(session(), at(10)).typing.contains(&"user3".to_owned()));
}

#[test]
fn only_leases_on_turns_are_claims() {
    let lease = |subject: &str| Lease {
        session: session(),
        subject: subject.to_owned(),
        holder: "ada".to_owned(),
        since: at(0),
        until: at(60),
    };
    let turn = TurnId::new(Uuid::from_u128(9));
    assert_eq!(Claim::of(lease(&claim_on(turn))).unwrap().turn, turn);
    assert_eq!(Claim::of(lease("run:1")), None);
    assert_eq!(Claim::of(lease("turn:x")), None);
}
