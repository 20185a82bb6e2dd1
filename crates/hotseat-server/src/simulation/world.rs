//! What everybody in a simulation shares: the servers, chance, time, and the record of what was
//! promised to whom.

use std::cell::{Cell, RefCell};
use std::collections::HashSet;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::task::Poll;
use std::time::Duration;

use futures_util::stream::Stream;
use hotseat_core::{Seq, SessionId, TurnId};
use hotseat_store::{Store, Wakes};
use jiff::Timestamp;
use tokio::sync::mpsc;
use tokio::time::Instant;
use uuid::Uuid;

use super::BEGINNING;
use super::turnstile::Turnstile;
use crate::config::Config;
use crate::service::{App, Attachment, Followed, Registration, ServiceError, ToWorker};

/// Servers over the store.
pub(super) const SERVERS: usize = 3;

/// Who is on, while somebody is.
struct Scene {
    actor: usize,
    /// When this simulation began.
    began: Instant,
    /// How far the clock of the server that works now is off, in milliseconds.
    skew: i64,
    random: fastrand::Rng,
}

thread_local! {
    static SCENE: RefCell<Option<Scene>> = const { RefCell::new(None) };
}

/// The time of day where somebody is on stage: that of the server which works now.
pub(crate) fn now() -> Option<Timestamp> {
    SCENE.with_borrow(|scene| {
        let scene = scene.as_ref()?;
        let passed = i64::try_from(scene.began.elapsed().as_millis()).unwrap();
        Some(Timestamp::from_millisecond(BEGINNING * 1000 + passed + scene.skew).unwrap())
    })
}

/// An id out of the seed, where somebody is on stage.
pub(crate) fn new_id() -> Option<Uuid> {
    SCENE.with_borrow_mut(|scene| Some(Uuid::from_u128(scene.as_mut()?.random.u128(..))))
}

/// Who is on.
pub(super) fn actor() -> usize {
    SCENE.with_borrow(|scene| scene.as_ref().map(|scene| scene.actor).unwrap())
}

pub(super) fn set_scene(seed: u64) {
    let random = fastrand::Rng::with_seed(seed ^ 0x1d5);
    let scene = Scene { actor: 0, began: Instant::now(), skew: 0, random };
    SCENE.set(Some(scene));
}

pub(super) fn enter(actor: usize) {
    SCENE.with_borrow_mut(|scene| scene.as_mut().unwrap().actor = actor);
}

pub(super) fn clear_scene() {
    SCENE.set(None);
}

/// A server, until it crashes.
struct Server {
    app: App,
    wakes: Wakes,
    /// How often it has crashed.
    crashes: usize,
    skew: i64,
    /// Until when it does nothing.
    stalled: Option<Instant>,
}

/// What was promised, to be compared with the log.
#[derive(Debug, Default)]
pub(super) struct Record {
    /// Events and requests that were acknowledged, with their places.
    pub(super) events: Vec<(String, Seq)>,
    pub(super) requests: Vec<(TurnId, Seq)>,
    /// Answers that were acknowledged.
    pub(super) answers: Vec<(TurnId, Seq)>,
    /// Turns whose answers their programs have seen, with their places.
    pub(super) heard: Vec<(TurnId, Seq)>,
    /// What each watcher has seen.
    pub(super) seen: Vec<Vec<(Seq, String)>>,
}

/// Why a call brought nothing.
#[derive(Debug)]
pub(super) enum Trouble {
    /// The server is gone; what became of the call nobody knows.
    Lost,
    Refused(ServiceError),
}

/// A stream of a session, and the server it comes from.
pub(super) struct Line {
    server: usize,
    crashes: usize,
    stream: Pin<Box<dyn Stream<Item = Result<Followed, ServiceError>>>>,
}

/// What a worker is attached by, and the server it is attached to.
pub(super) struct WorkLine {
    server: usize,
    crashes: usize,
    _attachment: Attachment,
    messages: mpsc::Receiver<ToWorker>,
}

pub(super) struct World {
    pub(super) session: SessionId,
    pub(super) record: RefCell<Record>,
    /// Whether things go wrong.
    pub(super) faults: Cell<bool>,
    /// People who do something that may change a claim.
    pub(super) claiming: RefCell<HashSet<&'static str>>,
    random: RefCell<fastrand::Rng>,
    servers: RefCell<Vec<Server>>,
    store: Store,
    turnstile: Turnstile,
}

impl World {
    pub(super) fn new(store: &Store, session: SessionId, seed: u64, turnstile: &Turnstile) -> Self {
        let world = Self {
            session,
            record: RefCell::default(),
            faults: Cell::new(true),
            claiming: RefCell::default(),
            random: RefCell::new(fastrand::Rng::with_seed(seed)),
            servers: RefCell::default(),
            store: store.clone(),
            turnstile: turnstile.clone(),
        };
        let servers = (0..SERVERS).map(|_| world.server(0)).collect();
        world.servers.replace(servers);
        world
    }

    fn server(&self, crashes: usize) -> Server {
        let (store, wakes) = self.store.apart(Arc::new(self.turnstile.clone()));
        Server { app: App::new(store, Config::indoors()), wakes, crashes, skew: 0, stalled: None }
    }

    /// A server is gone with all that only it knew, and starts again.
    pub(super) fn crash(&self, server: usize) {
        let crashes = self.servers.borrow()[server].crashes + 1;
        let again = self.server(crashes);
        self.servers.borrow_mut()[server] = again;
    }

    /// From now on, a server's clock is so many milliseconds off.
    pub(super) fn set_clock(&self, server: usize, skew: i64) {
        self.servers.borrow_mut()[server].skew = skew;
    }

    /// A server does nothing for so many milliseconds, as if its process were stopped.
    pub(super) fn stall(&self, server: usize, milliseconds: usize) {
        let until = Instant::now() + Duration::from_millis(milliseconds as u64);
        self.servers.borrow_mut()[server].stalled = Some(until);
    }

    /// Lets servers go on that have stood still for long enough, and says whether one did.
    pub(super) fn wake_servers(&self) -> bool {
        let (now, faults) = (Instant::now(), self.faults.get());
        let mut servers = self.servers.borrow_mut();
        let over = |until: &mut Instant| !faults || *until <= now;
        servers.iter_mut().filter_map(|server| server.stalled.take_if(over)).count() > 0
    }

    pub(super) fn wakes(&self, server: usize) -> Wakes {
        self.servers.borrow()[server].wakes.clone()
    }

    /// A number below `limit`.
    pub(super) fn pick(&self, limit: usize) -> usize {
        self.random.borrow_mut().usize(0..limit)
    }

    /// Whether something happens that happens once in `many`.
    pub(super) fn once_in(&self, many: usize) -> bool {
        self.pick(many) == 0
    }

    pub(super) fn id(&self) -> Uuid {
        Uuid::from_u128(self.random.borrow_mut().u128(..))
    }

    /// Does nothing for up to `most` milliseconds.
    pub(super) async fn pause(&self, most: usize) {
        let milliseconds = self.pick(most) as u64 + 1;
        tokio::time::sleep(Duration::from_millis(milliseconds)).await;
    }

    /// Calls any server. The answer travels for a while, and may be lost on the way.
    pub(super) async fn call<T>(
        &self,
        make: impl AsyncFnOnce(App) -> Result<T, ServiceError>,
    ) -> Result<T, Trouble> {
        let (server, crashes, app) = self.any();
        let answer = self.on(server, crashes, make(app)).await?;
        self.on(server, crashes, tokio::task::yield_now()).await?;
        answer.map_err(Trouble::Refused)
    }

    /// Follows the session from a place on, by any server.
    pub(super) async fn follow(&self, after: Seq) -> Result<Line, Trouble> {
        let (server, crashes, app) = self.any();
        let stream = self.on(server, crashes, app.follow(self.session, after)).await?;
        let stream = Box::pin(stream.map_err(Trouble::Refused)?);
        Ok(Line { server, crashes, stream })
    }

    /// What a stream brings next.
    pub(super) async fn next(&self, line: &mut Line) -> Result<Followed, Trouble> {
        use futures_util::StreamExt as _;
        let (server, crashes) = (line.server, line.crashes);
        let next = self.on(server, crashes, line.stream.next()).await?;
        next.ok_or(Trouble::Lost)?.map_err(Trouble::Refused)
    }

    /// Attaches a worker to any server.
    pub(super) async fn attach(&self, registration: Registration) -> Result<WorkLine, Trouble> {
        let (server, crashes, app) = self.any();
        let attached = self.on(server, crashes, app.attach_worker(registration)).await?;
        let (attachment, messages) = attached.map_err(Trouble::Refused)?;
        Ok(WorkLine { server, crashes, _attachment: attachment, messages })
    }

    /// What a worker is told next.
    pub(super) async fn told(&self, line: &mut WorkLine) -> Result<ToWorker, Trouble> {
        let (server, crashes) = (line.server, line.crashes);
        self.on(server, crashes, line.messages.recv()).await?.ok_or(Trouble::Lost)
    }

    /// What a worker was told and has not heard yet.
    pub(super) fn told_already(&self, line: &mut WorkLine) -> Option<ToWorker> {
        if self.is_lost(line) { None } else { line.messages.try_recv().ok() }
    }

    /// Whether the server that a worker was attached to is gone.
    pub(super) fn is_lost(&self, line: &WorkLine) -> bool {
        self.servers.borrow()[line.server].crashes != line.crashes
    }

    /// Calls the server that a worker is attached to.
    pub(super) async fn over<T>(
        &self,
        line: &WorkLine,
        make: impl AsyncFnOnce(App) -> Result<T, ServiceError>,
    ) -> Result<T, Trouble> {
        let app = self.servers.borrow()[line.server].app.clone();
        let answer = self.on(line.server, line.crashes, make(app)).await?;
        answer.map_err(Trouble::Refused)
    }

    /// Keeps a server among the others until it crashes.
    pub(super) async fn keep(&self, server: usize) {
        let (crashes, app) = {
            let known = &self.servers.borrow()[server];
            (known.crashes, known.app.clone())
        };
        let Err(_crashed) = self.on(server, crashes, app.keep_company()).await else {
            panic!("a server left the others");
        };
    }

    fn any(&self) -> (usize, usize, App) {
        let server = self.pick(SERVERS);
        let known = &self.servers.borrow()[server];
        (server, known.crashes, known.app.clone())
    }

    /// What a server does, for as long as it stands, by its own clock.
    async fn on<T>(
        &self,
        server: usize,
        crashes: usize,
        work: impl Future<Output = T>,
    ) -> Result<T, Trouble> {
        let mut work = pin!(work);
        std::future::poll_fn(|context| {
            let (now, skew, stalled) = {
                let known = &self.servers.borrow()[server];
                (known.crashes, known.skew, known.stalled.is_some())
            };
            if now != crashes {
                return Poll::Ready(Err(Trouble::Lost));
            }
            if stalled {
                return Poll::Pending;
            }
            SCENE.with_borrow_mut(|scene| scene.as_mut().unwrap().skew = skew);
            work.as_mut().poll(context).map(Ok)
        })
        .await
    }
}
