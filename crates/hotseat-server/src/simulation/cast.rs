//! Those who act: programs that ask, people who answer, and watchers.

use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

use hotseat_core::{Kind, NewEvent, Role, Seq, TurnId};
use hotseat_store::TurnQuery;
use serde_json::json;
use serde_json::value::RawValue;

use super::PEOPLE;
use super::world::{Line, Trouble, World};
use crate::clock;
use crate::identity::{Caller, Member, Visitor};
use crate::service::{App, Followed, ServiceError, SubmitTurn};

/// Turns of each program.
const TURNS: usize = 2;

/// How long somebody vanishes who has claimed a turn: longer than a claim lasts.
const AWAY: Duration = Duration::from_secs(70);

pub(super) fn raw(value: &serde_json::Value) -> Box<RawValue> {
    RawValue::from_string(value.to_string()).unwrap()
}

/// A program: says something now and then, asks, and waits for the answer. A call whose answer
/// is lost is made again.
pub(super) async fn program(world: Rc<World>) {
    let mut place = Seq::START;
    for _ in 0..TURNS {
        if world.once_in(2) {
            say(&world).await;
        }
        let turn = TurnId::new(world.id());
        ask(&world, turn).await;
        if world.once_in(4) {
            // It was started again, and knows nothing but what it asks.
            place = Seq::START;
            ask(&world, turn).await;
        }
        place = until_answered(&world, turn, place).await;
    }
}

async fn say(world: &World) {
    let event_id = world.id().to_string();
    loop {
        let event = NewEvent {
            event_id: event_id.clone(),
            timestamp: clock::now(),
            kind: Kind::Event,
            turn_id: None,
            invocation_id: None,
            author: "root".to_owned(),
            agent_name: "root".to_owned(),
            branch: None,
            parent_call_id: None,
            payload: raw(&json!({"author": "root"})),
        };
        let said = async |app: App| app.append_events(world.session, vec![event], None).await;
        match world.call(said).await {
            Ok(appended) => {
                world.record.borrow_mut().events.push((event_id, appended.seqs[0]));
                return;
            }
            Err(Trouble::Lost) => world.pause(500).await,
            Err(Trouble::Refused(error)) => panic!("an event was refused: {error}"),
        }
    }
}

async fn ask(world: &World, turn: TurnId) {
    loop {
        let wish = SubmitTurn {
            session: world.session,
            turn,
            agent_name: "root".to_owned(),
            invocation_id: None,
            branch: None,
            parent_call_id: None,
            payload: raw(
                &json!({"request": {"contents": [{"role": "user", "parts": [{"text": "?"}]}]}}),
            ),
            worker: None,
        };
        match world.call(async |app| app.submit_turn(wish).await).await {
            Ok(submitted) => {
                world.record.borrow_mut().requests.push((turn, submitted.seq));
                return;
            }
            Err(Trouble::Lost) => world.pause(500).await,
            Err(Trouble::Refused(error)) => panic!("a turn was refused: {error}"),
        }
    }
}

/// Follows the log until the answer is there, and gives the place of it.
async fn until_answered(world: &World, turn: TurnId, mut place: Seq) -> Seq {
    loop {
        let mut line = followed(world, place).await;
        loop {
            match world.next(&mut line).await {
                Ok(Followed::Event(event)) => {
                    assert_eq!(event.seq, place.next(), "a program's stream has no gaps");
                    place = event.seq;
                    if event.kind == Kind::Response && event.turn_id == Some(turn) {
                        world.record.borrow_mut().heard.push((turn, place));
                        return place;
                    }
                }
                Ok(Followed::HistoryComplete { .. }) => {}
                Err(Trouble::Lost) => break,
                other => panic!("a program's stream brought {other:?}"),
            }
        }
    }
}

/// A stream, however often it has to be asked for.
async fn followed(world: &World, place: Seq) -> Line {
    loop {
        match world.follow(place).await {
            Ok(line) => return line,
            Err(Trouble::Lost) => world.pause(500).await,
            Err(Trouble::Refused(error)) => panic!("a stream was refused: {error}"),
        }
    }
}

/// A watcher, who comes and goes.
pub(super) async fn watcher(world: Rc<World>, number: usize) {
    let mut place = Seq::START;
    loop {
        let mut line = followed(&world, place).await;
        let patience = 1 + world.pick(30);
        for _ in 0..patience {
            match world.next(&mut line).await {
                Ok(Followed::Event(event)) => {
                    place = event.seq;
                    let seen = (event.seq, event.event_id.clone());
                    world.record.borrow_mut().seen[number].push(seen);
                }
                Ok(Followed::HistoryComplete { last_seq, .. }) => assert_eq!(last_seq, place),
                Err(Trouble::Lost) => break,
                other => panic!("a watcher's stream brought {other:?}"),
            }
        }
        drop(line);
        world.pause(3000).await;
    }
}

/// Somebody who answers what waits, claimed or not, and may vanish with a claim.
pub(super) async fn person(world: Rc<World>, name: &'static str) {
    loop {
        world.pause(20_000).await;
        let query = TurnQuery { session: Some(world.session), ..TurnQuery::default() };
        let found = world.call(async |app| {
            let views = known_as(&app, name).turns(query).await?;
            Ok(views.into_iter().map(|view| view.turn.turn_id).collect::<Vec<_>>())
        });
        let waiting = match found.await {
            Ok(waiting) if !waiting.is_empty() => waiting,
            Ok(_) | Err(Trouble::Lost) => continue,
            Err(Trouble::Refused(error)) => panic!("the list of turns was refused: {error}"),
        };
        // Whoever answers out of turn is told so.
        let turn = waiting[if world.once_in(5) { world.pick(waiting.len()) } else { 0 }];
        world.claiming.borrow_mut().insert(name);
        act(&world, turn, name).await;
        world.claiming.borrow_mut().remove(name);
    }
}

/// Does what people do with a turn that waits.
async fn act(world: &World, turn: TurnId, name: &'static str) {
    match world.pick(6) {
        0 => {
            let to = PEOPLE[world.pick(PEOPLE.len())];
            let given = async |app: App| {
                known_as(&app, name).hand_over(world.session, turn, to).await.map(drop)
            };
            refused_for_a_reason(world.call(given).await);
        }
        1 => {
            let left =
                async |app: App| known_as(&app, name).release_claim(world.session, turn).await;
            refused_for_a_reason(world.call(left).await);
        }
        2 | 3 => {
            let claimed =
                async |app: App| known_as(&app, name).claim(world.session, turn).await.map(drop);
            refused_for_a_reason(world.call(claimed).await);
            if world.faults.get() && world.once_in(2) {
                tokio::time::sleep(AWAY).await;
            } else {
                answer(world, turn, name).await;
            }
        }
        _ => answer(world, turn, name).await,
    }
}

async fn answer(world: &World, turn: TurnId, name: &'static str) {
    let says = json!({"candidates": [{"role": "model", "parts": [{"text": "!"}]}]});
    let decided =
        async |app: App| known_as(&app, name).decide(world.session, turn, says, "human").await;
    match world.call(decided).await {
        Ok(decided) => world.record.borrow_mut().answers.push((turn, decided.seq)),
        Err(trouble) => refused_for_a_reason(Err(trouble)),
    }
}

fn known_as(app: &App, name: &str) -> App {
    let member = Member { name: name.parse().unwrap(), role: Role::Developer };
    app.entered_by(Visitor { caller: Caller::Member(Arc::new(member)), client: None })
}

/// What a person may be told: that somebody else was faster, has it, or comes first.
fn refused_for_a_reason(outcome: Result<(), Trouble>) {
    match outcome {
        Ok(())
        | Err(
            Trouble::Lost
            | Trouble::Refused(
                ServiceError::TurnAnswered { .. }
                | ServiceError::TurnClaimed { .. }
                | ServiceError::TurnNotHead { .. },
            ),
        ) => {}
        Err(Trouble::Refused(error)) => panic!("a person was told: {error}"),
    }
}
