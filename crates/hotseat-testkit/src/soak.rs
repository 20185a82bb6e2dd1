//! A crowd at the real program for a while: plugins with open turns, readers, writers, people who
//! answer, and somebody who kills it.
//!
//! First all connect, then everything is measured for a time in which nothing may fail and
//! memory may not grow, then the server is killed and started again under the same load. At the
//! end, everything that was acknowledged has to be there, once and in its place.

mod clients;
mod tally;

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use futures_util::future::join_all;
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use serde_json::{Value, json};
use tokio::time::sleep;

use self::clients::{Acknowledged, Plugin};
use self::tally::{Phase, Tally};
use crate::{Api, HotseatProcess, Launch};

/// Clients that connect at once, so that nobody is refused for a full queue at the door.
const AT_ONCE: usize = 64;

/// Those who answer turns.
const ANSWERERS: usize = 8;

/// How long the crowd may take to be there.
const GATHERING: Duration = Duration::from_mins(5);

/// How often memory is looked at while everything is measured.
const LOOKS: u32 = 12;

/// How long the server is left alone between two kills.
const BETWEEN_KILLS: Duration = Duration::from_secs(5);

/// How many there are, and for how long.
#[derive(Debug, Clone, Copy)]
pub struct Soak {
    /// Programs with a turn open, each with a connection and a session of its own.
    pub plugins: usize,
    /// Readers of the sessions that are written to.
    pub subscribers: usize,
    /// Those who write, each into a session of its own.
    pub writers: usize,
    /// How often each of them does.
    pub write_every: Duration,
    /// How often any turn is answered.
    pub answer_every: Duration,
    /// How long it takes until memory counts as warm.
    pub warm: Duration,
    /// How long everything is measured.
    pub steady: Duration,
    /// How often the server is killed afterwards.
    pub kills: usize,
    /// How much memory may grow while everything is steady: 1.0 is not at all.
    pub most_growth: f64,
}

impl Soak {
    /// Carries it out, and gives the figures. Panics where something was lost.
    pub async fn run(self, launch: &Launch) -> Value {
        open_many_files();
        let mut hotseat = launch.start();
        let api = hotseat.api.clone();
        let tally = Arc::new(Tally::new());
        let written = sessions(&api, self.writers).await;
        let plugins: Vec<_> =
            sessions(&api, self.plugins).await.into_iter().map(Plugin::new).collect();
        let mut tasks = Tasks::default();
        for chunk in (0..self.subscribers).collect::<Vec<_>>().chunks(AT_ONCE) {
            let readers = chunk.iter().map(|n| {
                let session = written[n % written.len()].clone();
                tokio::spawn(clients::subscriber(api.clone(), session, Arc::clone(&tally)))
            });
            tasks.readers.extend(readers);
            tasks.gathered(&tally).await;
        }
        for chunk in plugins.chunks(AT_ONCE) {
            let asking = chunk.iter().map(|plugin| {
                let plugin = Arc::clone(plugin);
                tokio::spawn(clients::plugin(api.clone(), plugin, Arc::clone(&tally)))
            });
            tasks.others.extend(asking);
            tasks.gathered(&tally).await;
        }
        for session in &written {
            let writing =
                clients::writer(api.clone(), session.clone(), self.write_every, Arc::clone(&tally));
            tasks.writers.push(tokio::spawn(writing));
        }
        tasks.gathered(&tally).await;
        for n in 0..ANSWERERS {
            let own = plugins.iter().skip(n).step_by(ANSWERERS).cloned().collect();
            let pace = self.answer_every * u32::try_from(ANSWERERS).unwrap();
            let answering = clients::answerer(api.clone(), own, pace, Arc::clone(&tally));
            tasks.others.push(tokio::spawn(answering));
        }

        sleep(self.warm).await;
        tally.set(Phase::Steady);
        let mut looks = vec![memory(&hotseat)];
        for _ in 0..LOOKS {
            sleep(self.steady / LOOKS).await;
            looks.push(memory(&hotseat));
        }
        let (warm, end) = (looks[0], looks[looks.len() - 1]);
        tally.set(Phase::Killed);
        for _ in 0..self.kills {
            sleep(BETWEEN_KILLS).await;
            hotseat.kill();
            hotseat = hotseat.restart();
        }
        sleep(BETWEEN_KILLS).await;
        tally.set(Phase::Over);
        let acknowledged = tasks.ended().await;
        check_writers(&hotseat.api, &written, &acknowledged).await;
        check_plugins(&hotseat.api, &plugins).await;

        let (errors, first) = tally.errors();
        #[expect(clippy::cast_precision_loss, reason = "kilobytes of a process")]
        let growth = end as f64 / warm as f64;
        let events: usize = acknowledged.iter().map(Vec::len).sum();
        let figures = json!({
            "plugins": self.plugins, "subscribers": self.subscribers, "writers": self.writers,
            "seconds": self.steady.as_secs(), "kills": self.kills, "errors": errors,
            "first_error": first, "events_acknowledged": events, "append": tally.appends.figures(),
            "hand_off": tally.hand_offs.figures(), "stream": tally.streams.figures(),
            "memory_mib": looks.iter().map(|look| look / 1024).collect::<Vec<_>>(),
            "memory_growth": growth,
        });
        assert_eq!(errors, 0, "calls failed while nothing was killed: {figures}");
        assert!(growth <= self.most_growth, "memory grew: {figures}");
        figures
    }
}

/// Everybody who was started.
#[derive(Debug, Default)]
struct Tasks {
    readers: Vec<tokio::task::JoinHandle<u64>>,
    writers: Vec<tokio::task::JoinHandle<Acknowledged>>,
    others: Vec<tokio::task::JoinHandle<()>>,
}

impl Tasks {
    /// Returns when everybody is connected who was started.
    async fn gathered(&self, tally: &Tally) {
        let all = (self.readers.len() + self.writers.len() + self.others.len()) as u64;
        let there = async {
            while tally.connected.load(Ordering::Relaxed) < all {
                sleep(Duration::from_millis(10)).await;
            }
        };
        let gathered = tokio::time::timeout(GATHERING, there).await;
        assert!(gathered.is_ok(), "not everybody could connect: {:?}", tally.errors());
    }

    /// Waits for everybody's end, and gives what was acknowledged to writers.
    async fn ended(self) -> Vec<Acknowledged> {
        for reader in join_all(self.readers).await {
            reader.expect("a reader saw every event once and in order");
        }
        join_all(self.others).await.into_iter().for_each(|other| other.expect("no panic"));
        join_all(self.writers).await.into_iter().map(|writer| writer.expect("no panic")).collect()
    }
}

async fn sessions(api: &Api, count: usize) -> Vec<String> {
    let mut sessions = Vec::with_capacity(count);
    for _ in 0..count {
        sessions.push(api.session().await);
    }
    sessions
}

/// Kilobytes of memory that the server has.
fn memory(hotseat: &HotseatProcess) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{}/status", hotseat.id())).expect("/proc");
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).expect("a size");
    line.trim().trim_end_matches(" kB").parse().expect("a number")
}

/// As many files as the system lets this process have open, and the server it starts.
fn open_many_files() {
    let limit = getrlimit(Resource::Nofile);
    // Where it may not be raised, the crowd is told so by the first who cannot connect.
    let _ = setrlimit(Resource::Nofile, Rlimit { current: limit.maximum, maximum: limit.maximum });
}

/// Every acknowledged event is there, once and in its place.
async fn check_writers(api: &Api, sessions: &[String], acknowledged: &[Acknowledged]) {
    for (session, acknowledged) in sessions.iter().zip(acknowledged) {
        let log = api.events(session).await;
        let there: Vec<&str> =
            log.iter().map(|event| event["event_id"].as_str().unwrap()).collect();
        for (id, seq) in acknowledged {
            let place = usize::try_from(*seq).unwrap() - 1;
            assert_eq!(there.get(place), Some(&id.as_str()), "event {id} of {session}");
        }
        // One more may be there: the last, if its acknowledgement was lost.
        let expected: Vec<String> = (0..there.len()).map(|n| format!("e{n}")).collect();
        assert_eq!(there, expected, "once, and in order");
        assert!(there.len() <= acknowledged.len() + 1, "{} events", there.len());
    }
}

/// Every answer that a plugin has seen is there, once, and what it waits for can be answered.
async fn check_plugins(api: &Api, plugins: &[Arc<Plugin>]) {
    for plugin in plugins {
        let log = api.events(&plugin.session).await;
        let of_kind = |kind: &str, turn: &str| {
            let found = |event: &&Value| event["kind"] == kind && event["turn_id"] == turn;
            log.iter().filter(found).count()
        };
        let answered = plugin.answered.lock().expect("no panic").clone();
        for turn in &answered {
            assert_eq!((of_kind("request", turn), of_kind("response", turn)), (1, 1), "{turn}");
        }
        for turn in api.pending(&plugin.session).await {
            let turn = turn["turn_id"].as_str().unwrap();
            assert_eq!((of_kind("request", turn), of_kind("response", turn)), (1, 0), "{turn}");
            api.decide(&plugin.session, turn, &crate::sample::says("5")).await.json(200);
        }
    }
}
