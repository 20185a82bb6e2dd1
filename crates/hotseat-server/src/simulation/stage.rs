//! The stage: whose turn it is, how time passes, and what goes wrong.
//!
//! Exactly one actor is on at a time, up to its next call of the database, its next wait or its
//! end. A call that has begun is waited for before anybody else is on, so the threads of the
//! store have no say in the order of things.

use std::collections::HashMap;
use std::pin::Pin;
use std::rc::Rc;
use std::sync::Arc;
use std::task::{Context, Wake, Waker};
use std::time::Duration;

use hotseat_core::{Event, Seq, SessionId};
use hotseat_store::{EventQuery, Lease, NewSession, Store};
use jiff::Timestamp;
use tokio::sync::watch;
use tokio::task::unconstrained;
use tokio::time::Instant;
use uuid::Uuid;

use super::bell::{Bell, at_once};
use super::turnstile::Turnstile;
use super::world::{self, SERVERS, World};
use super::{PEOPLE, Play, cast, crew, verdict};

const PROGRAMS: usize = 2;
const WATCHERS: usize = 1;

/// Names of the workers.
const WORKERS: [&str; 3] = ["one", "two", "three"];

/// Far more than any story takes.
const MOST_STEPS: usize = 50_000;
const MOST_TIME: Duration = Duration::from_hours(6);

/// How far a clock may be off, in milliseconds.
const SKEWS: [i64; 5] = [-3_600_000, -90_000, -1000, 0, 5000];

/// Steps after which a late wake-up comes at the latest.
const LATE: usize = 40;

/// For how long a server may stand still, in milliseconds: longer than the others wait for it.
const STALLS: usize = 15_000;

struct Actor {
    /// Nothing once it is done.
    part: Option<Pin<Box<dyn Future<Output = ()>>>>,
    bell: Arc<Bell>,
    /// Its name, if it is one of the people.
    person: Option<&'static str>,
    /// The story is not over before it is done.
    awaited: bool,
}

impl Actor {
    fn new(part: impl Future<Output = ()> + 'static) -> Self {
        let bell = Arc::new(Bell::default());
        Arc::clone(&bell).wake();
        Self { part: Some(Box::pin(unconstrained(part))), bell, person: None, awaited: false }
    }

    fn awaited(self) -> Self {
        Self { awaited: true, ..self }
    }

    fn named(self, name: &'static str) -> Self {
        Self { person: Some(name), ..self }
    }
}

/// A wake-up on its way to a server.
struct Message {
    due: usize,
    server: usize,
    head: Seq,
}

pub(super) struct Stage {
    play: Play,
    store: Store,
    world: Rc<World>,
    turnstile: Turnstile,
    actors: Vec<Actor>,
    head: watch::Receiver<Seq>,
    log: Vec<Event>,
    leases: HashMap<String, Lease>,
    late: Vec<Message>,
    step: usize,
    /// Who was on in every step.
    story: Vec<usize>,
}

impl Stage {
    pub(super) fn new(play: Play, store: &Store, seed: u64) -> Self {
        world::set_scene(seed);
        let session = Uuid::from_u128(u128::from(seed) << 64 | (0x51 + play as u128));
        let session = SessionId::new(session);
        let turnstile = Turnstile::default();
        let world = Rc::new(World::new(store, session, seed, &turnstile));
        let mut actors: Vec<Actor> = Vec::new();
        let on = || Rc::clone(&world);
        match play {
            Play::Turns => {
                actors.extend((0..PROGRAMS).map(|_| Actor::new(cast::program(on())).awaited()));
                actors.extend(PEOPLE.map(|name| Actor::new(cast::person(on(), name)).named(name)));
            }
            Play::Runs => {
                actors.push(Actor::new(crew::user(on())).awaited());
                actors.extend(WORKERS.map(|name| Actor::new(crew::worker(on(), name))));
                actors.extend((0..SERVERS).map(|server| Actor::new(crew::keeper(on(), server))));
                let name = PEOPLE[0];
                actors.push(Actor::new(cast::person(on(), name)).named(name));
            }
        }
        actors.extend((0..WATCHERS).map(|number| Actor::new(cast::watcher(on(), number))));
        turnstile.make_room(actors.len());
        world.record.borrow_mut().seen = vec![Vec::new(); WATCHERS];
        Self {
            play,
            store: store.clone(),
            head: store.watch(session),
            world,
            turnstile,
            actors,
            log: Vec::new(),
            leases: HashMap::new(),
            late: Vec::new(),
            step: 0,
            story: Vec::new(),
        }
    }

    /// Plays to the end, and gives who was on when, and the ids in the log.
    pub(super) async fn play(mut self) -> (Vec<usize>, Vec<String>) {
        let began = Instant::now();
        at_once(self.store.create_session(new_session(self.world.session))).unwrap();
        while !self.is_over() {
            self.step += 1;
            assert!(self.step < MOST_STEPS, "it does not come to an end");
            assert!(began.elapsed() < MOST_TIME, "a turn waits for ever");
            self.go_wrong();
            self.deliver_late();
            let ready: Vec<usize> = (0..self.actors.len()).filter(|n| self.is_ready(*n)).collect();
            if ready.is_empty() || self.world.once_in(20) {
                let milliseconds = self.world.pick(4000) as u64;
                tokio::time::advance(Duration::from_millis(milliseconds)).await;
                continue;
            }
            let actor = ready[self.world.pick(ready.len())];
            self.story.push(actor);
            self.let_on(actor);
            self.look_at_log();
            self.look_at_leases(actor);
        }
        self.actors.clear();
        verdict::check(&self.world.record.borrow(), &self.log);
        if self.play == Play::Runs {
            verdict::check_runs(&self.log);
            // Servers look through all that has runs, however many stories there were before.
            at_once(self.store.delete_session(self.world.session)).unwrap();
        }
        world::clear_scene();
        (self.story, self.log.into_iter().map(|event| event.entry.event_id).collect())
    }

    /// All who are awaited are done, and every watcher has seen all of it.
    fn is_over(&self) -> bool {
        let record = self.world.record.borrow();
        let done = self.actors.iter().all(|actor| !actor.awaited || actor.part.is_none());
        done && record.seen.iter().all(|seen| seen.len() >= self.log.len())
    }

    fn is_ready(&self, actor: usize) -> bool {
        let Actor { part, bell, .. } = &self.actors[actor];
        part.is_some() && (bell.is_rung() || self.turnstile.pass_of(actor).waiting)
    }

    /// Lets an actor act until it waits for something that no thread is about to bring.
    fn let_on(&mut self, number: usize) {
        let actor = &mut self.actors[number];
        let Some(part) = &mut actor.part else { return };
        let waker = Waker::from(Arc::clone(&actor.bell));
        self.turnstile.grant(number);
        loop {
            actor.bell.silence();
            world::enter(number);
            if part.as_mut().poll(&mut Context::from_waker(&waker)).is_ready() {
                actor.part = None;
                return;
            }
            if !self.turnstile.pass_of(number).in_flight {
                return;
            }
            actor.bell.wait();
        }
    }

    fn go_wrong(&mut self) {
        if self.step == self.play.faulty_steps() {
            self.world.faults.set(false);
            (0..SERVERS).for_each(|server| self.world.set_clock(server, 0));
        }
        let mut noticed = self.world.wake_servers();
        if self.world.faults.get() && self.world.once_in(60) {
            self.world.crash(self.world.pick(SERVERS));
            noticed = true;
        }
        if noticed {
            // Those who were connected to one find out.
            self.actors.iter().for_each(|actor| Arc::clone(&actor.bell).wake());
        }
        if !self.world.faults.get() {
            return;
        }
        if self.play == Play::Runs && self.world.once_in(60) {
            self.world.stall(self.world.pick(SERVERS), self.world.pick(STALLS));
        }
        if self.world.once_in(60) {
            let skew = SKEWS[self.world.pick(SKEWS.len())];
            self.world.set_clock(self.world.pick(SERVERS), skew);
        }
    }

    /// Tells servers of what was written: at once, late, twice, or never. They are told where
    /// the log ends and not what it holds, as servers over one log are: the last events are kept
    /// only where one server has the log for itself, and nothing is written that it does not hear of.
    fn look_at_log(&mut self) {
        let head = *self.head.borrow_and_update();
        let known = self.log.last().map_or(Seq::START, |event| event.seq);
        if head == known {
            return;
        }
        let query = EventQuery { after: known, ..EventQuery::default() };
        let brought = at_once(self.store.events(self.world.session, query)).unwrap();
        assert_eq!(brought.last().map(|event| event.seq), Some(head));
        for server in 0..SERVERS {
            let fate = if self.world.faults.get() { self.world.pick(8) } else { 0 };
            let late = Message { due: self.step + 1 + self.world.pick(LATE), server, head };
            if fate < 5 {
                self.world.wakes(server).grew(self.world.session, head);
            }
            if matches!(fate, 4 | 5) {
                self.late.push(late);
            }
        }
        self.log.extend(brought);
    }

    fn deliver_late(&mut self) {
        let due = self.late.extract_if(.., |message| message.due <= self.step);
        for Message { server, head, .. } in due.collect::<Vec<_>>() {
            self.world.wakes(server).grew(self.world.session, head);
        }
    }

    /// A claim goes from one to another only when it is over, or by the hand of its holder.
    fn look_at_leases(&mut self, actor: usize) {
        let Some(name) = self.actors[actor].person else { return };
        if !self.world.claiming.borrow().contains(name) {
            return;
        }
        let all = at_once(self.store.leases(self.world.session, Timestamp::UNIX_EPOCH)).unwrap();
        for lease in &all {
            let Some(before) = self.leases.get(&lease.subject) else { continue };
            let same = before.holder == lease.holder;
            assert!(
                same || before.until <= lease.since || before.holder == name,
                "{name} took what was another's: {before:?}, now {lease:?}"
            );
        }
        self.leases = all.into_iter().map(|lease| (lease.subject.clone(), lease)).collect();
    }
}

fn new_session(id: SessionId) -> NewSession {
    NewSession {
        id,
        created_at: world::now().unwrap(),
        description: None,
        agent: Some("root".to_owned()),
        app_name: "app".to_owned(),
        user_id: "local".to_owned(),
        source: "web".to_owned(),
        adk_id: None,
        opening: Vec::new(),
    }
}
