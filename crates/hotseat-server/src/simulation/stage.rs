//! The stage: whose turn it is, how time passes, and what goes wrong.
//!
//! Exactly one actor is on at a time, up to its next call of the database, its next wait or its
//! end. A call that has begun is waited for before anybody else is on, so the threads of the
//! store have no say in the order of things.

use std::collections::HashMap;
use std::pin::Pin;
use std::rc::Rc;
use std::sync::{Arc, Condvar, Mutex};
use std::task::{Context, Poll, Wake, Waker};
use std::time::Duration;

use hotseat_core::{Event, Seq, SessionId};
use hotseat_store::{EventQuery, Lease, NewSession, Store};
use jiff::Timestamp;
use tokio::sync::watch;
use tokio::task::unconstrained;
use tokio::time::Instant;
use uuid::Uuid;

use super::turnstile::Turnstile;
use super::world::{self, SERVERS, World};
use super::{PEOPLE, cast, verdict};

const PROGRAMS: usize = 2;
const WATCHERS: usize = 1;

/// Steps in which things go wrong; afterwards, everything has to come to an end.
const FAULTY: usize = 150;

/// Far more than any story takes.
const MOST_STEPS: usize = 50_000;
const MOST_TIME: Duration = Duration::from_hours(6);

/// How far a clock may be off, in milliseconds.
const SKEWS: [i64; 5] = [-3_600_000, -90_000, -1000, 0, 5000];

/// Steps after which a late wake-up comes at the latest.
const LATE: usize = 40;

/// Notes that somebody was woken.
#[derive(Debug, Default)]
struct Bell {
    rung: Mutex<bool>,
    rings: Condvar,
}

impl Wake for Bell {
    fn wake(self: Arc<Self>) {
        *self.rung.lock().unwrap() = true;
        self.rings.notify_one();
    }
}

impl Bell {
    fn is_rung(&self) -> bool {
        *self.rung.lock().unwrap()
    }

    fn silence(&self) {
        *self.rung.lock().unwrap() = false;
    }

    /// Waits, with the whole thread, so that no virtual time passes.
    fn wait(&self) {
        let rung = self.rung.lock().unwrap();
        drop(self.rings.wait_while(rung, |rung| !*rung).unwrap());
    }
}

/// What `future` gives, without letting anybody else on.
fn at_once<T>(future: impl Future<Output = T>) -> T {
    let bell = Arc::new(Bell::default());
    let waker = Waker::from(Arc::clone(&bell));
    let mut future = Box::pin(unconstrained(future));
    loop {
        bell.silence();
        if let Poll::Ready(given) = future.as_mut().poll(&mut Context::from_waker(&waker)) {
            return given;
        }
        bell.wait();
    }
}

struct Actor {
    /// Nothing once it is done.
    part: Option<Pin<Box<dyn Future<Output = ()>>>>,
    bell: Arc<Bell>,
    /// Its name, if it is one of the people.
    person: Option<&'static str>,
}

/// A wake-up on its way to a server.
struct Message {
    due: usize,
    server: usize,
    head: Seq,
}

pub(super) struct Stage {
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
    pub(super) fn new(store: &Store, seed: u64) -> Self {
        world::set_scene(seed);
        let session = SessionId::new(Uuid::from_u128(u128::from(seed) << 64 | 0x51));
        let turnstile = Turnstile::of(PROGRAMS + WATCHERS + PEOPLE.len());
        let world = Rc::new(World::new(store, session, seed, &turnstile));
        let mut actors = Vec::new();
        let mut add = |part: Pin<Box<dyn Future<Output = ()>>>, person| {
            let bell = Arc::new(Bell::default());
            Arc::clone(&bell).wake();
            actors.push(Actor { part: Some(part), bell, person });
        };
        for _ in 0..PROGRAMS {
            add(Box::pin(unconstrained(cast::program(Rc::clone(&world)))), None);
        }
        for number in 0..WATCHERS {
            add(Box::pin(unconstrained(cast::watcher(Rc::clone(&world), number))), None);
        }
        for name in PEOPLE {
            add(Box::pin(unconstrained(cast::person(Rc::clone(&world), name))), Some(name));
        }
        world.record.borrow_mut().seen = vec![Vec::new(); WATCHERS];
        Self {
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
            self.look_at_log(actor);
            self.look_at_leases(actor);
        }
        self.actors.clear();
        verdict::check(&self.world.record.borrow(), &self.log);
        world::clear_scene();
        (self.story, self.log.into_iter().map(|event| event.entry.event_id).collect())
    }

    /// Every program is done, and every watcher has seen all of it.
    fn is_over(&self) -> bool {
        let record = self.world.record.borrow();
        let programs = self.actors.iter().take(PROGRAMS).all(|actor| actor.part.is_none());
        programs && record.seen.iter().all(|seen| seen.len() >= self.log.len())
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
        if self.step == FAULTY {
            self.world.faults.set(false);
            (0..SERVERS).for_each(|server| self.world.set_clock(server, 0));
        }
        if !self.world.faults.get() {
            return;
        }
        if self.world.once_in(60) {
            self.world.crash(self.world.pick(SERVERS));
            // Those who were connected to it find out.
            self.actors.iter().for_each(|actor| Arc::clone(&actor.bell).wake());
        }
        if self.world.once_in(60) {
            let skew = SKEWS[self.world.pick(SKEWS.len())];
            self.world.set_clock(self.world.pick(SERVERS), skew);
        }
    }

    /// Tells servers of what was written: at once, late, twice, or never.
    fn look_at_log(&mut self, actor: usize) {
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
            // One of them wrote it and knows what; the others are told where the log ends.
            let known = if server == actor % SERVERS { brought.clone() } else { Vec::new() };
            if fate < 5 {
                self.world.wakes(server).grew(self.world.session, head, known);
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
            self.world.wakes(server).grew(self.world.session, head, Vec::new());
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
