//! Telling the other processes what was committed, and hearing of them.
//!
//! After a commit, its wake-ups go to the readers of this process at once and to those of others
//! by `NOTIFY`. That is a transaction of its own, because `NOTIFY` takes a lock of the whole
//! database until its transaction is on the disk; this one need not be, for nothing is lost that
//! the log does not hold. What gathers while one is under way, and for some milliseconds after it,
//! goes with the next: those who hear of it are woken for each.
//!
//! A notification that is lost only delays: everything that somebody watches is looked at now and
//! then, and at once after the connection was lost or when there was too much to name.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD_NO_PAD as BASE64;
use deadpool_postgres::Pool;
use futures_util::StreamExt;
use futures_util::stream::poll_fn;
use hotseat_core::{Seq, SessionId};
use serde::{Deserialize, Serialize};
use tokio::sync::{Notify, mpsc, watch};
use tokio::time::{Instant, MissedTickBehavior, interval_at, sleep, sleep_until, timeout};
use tokio_postgres::{AsyncMessage, Client};
use uuid::Uuid;

use super::connect::Way;
use super::failure::Failure;
use super::held::Held;
use super::row;
use crate::hub::{Hub, Signal, Wake};

/// The channel, within the database.
const CHANNEL: &str = "hotseat";

/// How often everything that somebody watches is looked at.
const LOOK_EVERY: Duration = Duration::from_secs(5);

/// How long to wait after telling before telling more.
const PAUSE: Duration = Duration::from_millis(5);

/// How long the database may take to answer before the line counts as dead. What is asked here
/// is always answered at once, and a network that swallows everything says nothing by itself.
const ANSWER_WITHIN: Duration = Duration::from_secs(10);

/// How long to wait before connecting again.
const CONNECT_AGAIN: Duration = Duration::from_millis(500);

/// Bytes of a notification; PostgreSQL refuses 8000.
const MOST_BYTES: usize = 7900;

/// Signals that wait to be passed on; beyond it, they are lost.
const MOST_SIGNALS: usize = 1024;

/// Bytes of a notification around each signal in it, and around all.
const OVERHEAD: usize = 64;

/// Sessions that wait to be told of; beyond it, others are told to look at everything.
const MOST_SESSIONS: usize = 256;

/// Notifications that wait to be looked at.
const MOST_HEARD: usize = 1024;

/// What is told.
#[derive(Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
struct Told {
    /// Who tells it, so that nobody listens to themselves.
    from: Uuid,
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    grew: BTreeMap<SessionId, u64>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    deleted: Vec<(SessionId, String)>,
    /// As base64.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    signals: Vec<(SessionId, String)>,
    /// There was too much to name.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    everything: bool,
}

/// Where wake-ups are left.
#[derive(Debug, Clone)]
pub(super) struct Outbox {
    hub: Hub,
    waiting: Arc<Mutex<Told>>,
    left: Arc<Notify>,
}

impl Outbox {
    pub(super) fn new(hub: Hub) -> Self {
        Self { hub, waiting: Arc::default(), left: Arc::default() }
    }

    /// Wakes the readers of this process, and sees to it that others hear of it.
    pub(super) fn tell(&self, wakes: Vec<Wake>) {
        if wakes.is_empty() {
            return;
        }
        let mut waiting = self.waiting.lock().unwrap_or_else(PoisonError::into_inner);
        for wake in &wakes {
            match wake {
                Wake::Grew(session, head, _) => {
                    waiting.grew.insert(*session, head.get());
                }
                Wake::Deleted(session, user_id) => {
                    waiting.grew.remove(session);
                    waiting.deleted.push((*session, user_id.clone()));
                }
            }
        }
        if waiting.grew.len() + waiting.deleted.len() > MOST_SESSIONS {
            let signals = std::mem::take(&mut waiting.signals);
            *waiting = Told { everything: true, signals, ..Told::default() };
        }
        drop(waiting);
        self.hub.wake(wakes);
        self.left.notify_one();
    }

    /// Sees to it that others hear a signal, unless too many wait already.
    pub(super) fn signal(&self, signal: &Signal) {
        let mut waiting = self.waiting.lock().unwrap_or_else(PoisonError::into_inner);
        if waiting.signals.len() < MOST_SIGNALS {
            waiting.signals.push((signal.session, BASE64.encode(&signal.bytes)));
        }
        drop(waiting);
        self.left.notify_one();
    }

    /// Others may not have heard what was told: they have to look at everything.
    fn doubt(&self) {
        let mut waiting = self.waiting.lock().unwrap_or_else(PoisonError::into_inner);
        *waiting = Told { everything: true, ..Told::default() };
        drop(waiting);
        self.left.notify_one();
    }

    /// What waits, as notifications: signals first, since what is kept follows them.
    fn take(&self, from: Uuid) -> Vec<String> {
        let mut waiting = self.waiting.lock().unwrap_or_else(PoisonError::into_inner);
        let mut told = Told { from, ..std::mem::take(&mut *waiting) };
        drop(waiting);
        let mut notifications = Vec::new();
        let mut signals = std::mem::take(&mut told.signals).into_iter().peekable();
        while signals.peek().is_some() {
            let mut bytes = OVERHEAD;
            let fits = std::iter::from_fn(|| {
                signals.next_if(|(_, text)| {
                    bytes += OVERHEAD + text.len();
                    bytes <= MOST_BYTES
                })
            });
            let signals = fits.collect();
            notifications.extend(Told { from, signals, ..Told::default() }.text());
        }
        if told != (Told { from, ..Told::default() }) {
            let everything = || Told { from, everything: true, ..Told::default() }.text();
            notifications.extend(told.text().or_else(everything));
        }
        notifications
    }
}

/// Has everybody look at everything, as soon as the transaction of `client` is committed.
pub(super) async fn tell_to_look(client: &Client) -> Result<(), Failure> {
    // Its sender is nobody, so that everybody listens.
    let told = Told { everything: true, ..Told::default() };
    if let Some(text) = told.text() {
        client.execute("SELECT pg_notify($1, $2)", &[&CHANNEL, &text]).await?;
    }
    Ok(())
}

impl Told {
    /// As it is sent; none if it is too long.
    fn text(&self) -> Option<String> {
        serde_json::to_string(self).ok().filter(|text| text.len() <= MOST_BYTES)
    }
}

/// The task that tells and hears. It ends when `closing` does.
pub(super) struct Herald {
    pub(super) way: Way,
    pub(super) pool: Pool,
    pub(super) hub: Hub,
    pub(super) outbox: Outbox,
    pub(super) closing: watch::Receiver<()>,
}

/// A connection that listens.
pub(super) struct Ears {
    client: Client,
    heard: mpsc::Receiver<String>,
}

impl Ears {
    pub(super) async fn open(way: &Way) -> Result<Self, Failure> {
        let (client, mut connection) = way.config.connect(way.tls.clone()).await?;
        let (hear, heard) = mpsc::channel(MOST_HEARD);
        tokio::spawn(async move {
            let mut messages = poll_fn(move |context| connection.poll_message(context));
            while let Some(Ok(message)) = messages.next().await {
                if let AsyncMessage::Notification(notification) = message
                    && hear.send(notification.payload().to_owned()).await.is_err()
                {
                    return;
                }
            }
        });
        client.batch_execute(&format!("LISTEN {CHANNEL}")).await?;
        Ok(Self { client, heard })
    }
}

impl Herald {
    pub(super) async fn run(self, mut ears: Ears) {
        let name = Uuid::new_v4();
        let mut closing = self.closing.clone();
        let work = async {
            loop {
                if let Err(failure) = self.serve(ears, name).await {
                    tracing::warn!(error = %failure, "changes by other servers are not heard of");
                }
                self.outbox.doubt();
                ears = self.listen_again().await;
                self.hub.missed();
            }
        };
        tokio::select! {
            () = work => {}
            _ = closing.changed() => {}
        }
    }

    async fn listen_again(&self) -> Ears {
        loop {
            sleep(CONNECT_AGAIN).await;
            match answered(Ears::open(&self.way)).await {
                Ok(ears) => return ears,
                Err(failure) => tracing::debug!(error = %failure, "the database cannot be heard"),
            }
        }
    }

    /// Tells and hears until the connection is lost, or dead.
    async fn serve(&self, ears: Ears, name: Uuid) -> Result<(), Failure> {
        let Ears { client, mut heard } = ears;
        answered(self.look()).await?;
        let mut looks = interval_at(Instant::now() + LOOK_EVERY, LOOK_EVERY);
        looks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        let (mut waits, mut not_before) = (false, Instant::now());
        loop {
            tokio::select! {
                payload = heard.recv() => match payload {
                    Some(payload) => answered(self.hear(name, &payload)).await?,
                    None => return Ok(()),
                },
                () = self.outbox.left.notified(), if !waits => waits = true,
                () = sleep_until(not_before), if waits => {
                    answered(notify(&client, &self.outbox, name)).await?;
                    (waits, not_before) = (false, Instant::now() + PAUSE);
                }
                _ = looks.tick() => {
                    // Nothing is said on a line that is only listened to, so it is asked.
                    answered(async { Ok(client.batch_execute("").await?) }).await?;
                    answered(self.look()).await?;
                }
            }
        }
    }

    async fn hear(&self, name: Uuid, payload: &str) -> Result<(), Failure> {
        // What cannot be read is from a version that knows more.
        let told =
            serde_json::from_str(payload).unwrap_or(Told { everything: true, ..Told::default() });
        if told.from == name {
            return Ok(());
        }
        if told.everything {
            self.look().await?;
            self.hub.missed();
        }
        for (session, text) in told.signals {
            if let Ok(bytes) = BASE64.decode(text) {
                self.hub.signal(Signal { session, bytes: bytes.into() });
            }
        }
        let grew =
            told.grew.into_iter().map(|(id, head)| Wake::Grew(id, Seq::new(head), Vec::new()));
        let deleted = told.deleted.into_iter().map(|(id, user)| Wake::Deleted(id, user));
        self.hub.wake(grew.chain(deleted).collect());
        Ok(())
    }

    /// Looks at everything that somebody watches.
    async fn look(&self) -> Result<(), Failure> {
        let mut watched = self.hub.watched();
        if watched.is_empty() {
            return Ok(());
        }
        let ids: Vec<Uuid> = watched.keys().map(|session| session.uuid()).collect();
        let line = Held::get(&self.pool).await?;
        let sql = "SELECT session_id, last_seq FROM sessions WHERE session_id = ANY ($1)";
        let statement = line.prepare_cached(sql).await?;
        let rows = line.query(&statement, &[&ids]).await?;
        line.done();
        let mut wakes = Vec::new();
        for found in rows {
            let (id, head) = (row::session_id(&found, 0)?, row::seq(&found, 1)?);
            if watched.remove(&id).is_some_and(|seen| seen != head) {
                wakes.push(Wake::Grew(id, head, Vec::new()));
            }
        }
        self.hub.wake(wakes);
        // One that was there and is not any more was deleted; one that was never there may come.
        watched.retain(|_, seen| *seen > Seq::START);
        self.hub.gone(watched.keys());
        Ok(())
    }
}

/// What the database answers, if it does so in good time.
async fn answered<T>(answer: impl Future<Output = Result<T, Failure>>) -> Result<T, Failure> {
    timeout(ANSWER_WITHIN, answer).await.unwrap_or(Err(Failure::TimedOut))
}

async fn notify(client: &Client, outbox: &Outbox, name: Uuid) -> Result<(), Failure> {
    let mut sql = String::from("BEGIN; SET LOCAL synchronous_commit TO OFF;");
    let notifications = outbox.take(name);
    for payload in &notifications {
        let quoted = payload.replace('\'', "''").replace('\\', "\\\\");
        let _ = write!(sql, " NOTIFY {CHANNEL}, E'{quoted}';");
    }
    if notifications.is_empty() {
        return Ok(());
    }
    sql.push_str(" COMMIT");
    Ok(client.batch_execute(&sql).await?)
}
