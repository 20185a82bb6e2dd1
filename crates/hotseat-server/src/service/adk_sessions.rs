//! Sessions as ADK knows them: by app, user and an id of any form.
//!
//! ADK's key is turned into a session id by a hash, so that finding a session takes
//! no look-up and two writers cannot make it twice. A session that was made here
//! (by the page or a plugin) is known to ADK by its own id.

use hotseat_core::{Kind, Seq, SessionId, merge_state};
use hotseat_store::{
    AdkEventQuery, AdkPage, AdkRead, AdkSessionQuery, AppendError, Created, Expected, NewSession,
    Session,
};
use jiff::Timestamp;
use serde_json::value::RawValue;
use serde_json::{Map, Value, json};
use uuid::Uuid;

use super::sessions::{raw, server_event};
use super::{App, RunWish, ServiceError, WatchedRun, adk_event};
use crate::clock;

/// Under which ADK's keys are hashed. Changing it would lose every session.
const NAMESPACE: Uuid = Uuid::from_u128(0x6f1c_6f0e_51a1_4c0f_9d55_7c1b_92f4_0a3d);

/// Longest app name, user id and session id, in bytes.
const MAX_KEY_BYTES: usize = 512;

/// ADK's name of a session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct AdkKey {
    app_name: String,
    user_id: String,
    id: String,
}

impl AdkKey {
    /// Checks a key. White space around an id does not count, as in ADK.
    pub(crate) fn new(app_name: &str, user_id: &str, id: &str) -> Result<Self, ServiceError> {
        let id = id.trim();
        for (what, text) in [("app name", app_name), ("user id", user_id), ("session id", id)] {
            if text.trim().is_empty() {
                return Err(ServiceError::invalid(format!("the {what} is empty")));
            }
            check_key(what, text)?;
        }
        Ok(Self { app_name: app_name.to_owned(), user_id: user_id.to_owned(), id: id.to_owned() })
    }

    pub(super) fn user_id(&self) -> &str {
        &self.user_id
    }

    pub(super) fn id(&self) -> &str {
        &self.id
    }

    /// The session id that the key stands for.
    pub(super) fn hashed(&self) -> SessionId {
        let mut name = Vec::new();
        for part in [&self.app_name, &self.user_id, &self.id] {
            // With their lengths, so that no two keys read the same.
            name.extend_from_slice(&(part.len() as u64).to_be_bytes());
            name.extend_from_slice(part.as_bytes());
        }
        SessionId::new(Uuid::new_v5(&NAMESPACE, &name))
    }

    /// The session id itself, where ADK's id is one.
    fn literal(&self) -> Option<SessionId> {
        self.id.parse().ok()
    }

    fn is_of(&self, app_name: &str, user_id: &str) -> bool {
        app_name == self.app_name && user_id == self.user_id
    }
}

fn check_key(what: &str, text: &str) -> Result<(), ServiceError> {
    if text.len() > MAX_KEY_BYTES {
        let detail = format!("the {what} has more than {MAX_KEY_BYTES} bytes");
        return Err(ServiceError::invalid(detail));
    }
    Ok(())
}

/// A session to make for ADK.
#[derive(Debug, Default)]
pub(crate) struct NewAdkSession {
    pub(crate) app_name: String,
    pub(crate) user_id: String,
    /// One is made if there is none.
    pub(crate) id: Option<String>,
    pub(crate) state: Map<String, Value>,
    /// Raw events that it begins with.
    pub(crate) events: Vec<Box<RawValue>>,
    /// For sessions that come from elsewhere.
    pub(crate) created_at: Option<Timestamp>,
}

/// A session as ADK sees it.
#[derive(Debug)]
pub(crate) struct AdkSession {
    pub(crate) session: Session,
    pub(crate) state: Map<String, Value>,
}

/// What an append for ADK did.
#[derive(Debug)]
pub(crate) struct AdkAppended {
    pub(crate) seq: Seq,
    pub(crate) duplicate: bool,
    pub(crate) event_head: Seq,
    pub(crate) update_time: f64,
}

impl App {
    pub(crate) async fn create_adk_session(
        &self,
        new: NewAdkSession,
    ) -> Result<AdkSession, ServiceError> {
        let id = new.id.as_deref().map(str::trim).filter(|id| !id.is_empty()).map(str::to_owned);
        let id = id.unwrap_or_else(|| clock::new_id().to_string());
        let key = AdkKey::new(&new.app_name, &new.user_id, &id)?;
        self.not_bound()?;
        self.known_user(&key.user_id)?;
        if let Some(literal) = key.literal()
            && let Some(there) = self.store.owner(literal).await?
            && key.is_of(&there.app_name, &there.user_id)
        {
            return Err(ServiceError::AdkSessionExists(key.id));
        }
        let agent = self.workers.agent_of_app(&key.app_name);
        let mut opening = Vec::new();
        if !new.state.is_empty() {
            let begun = raw(&json!({"state": new.state}));
            self.check_size(begun.get().len())?;
            opening.push(server_event(Kind::Session, agent.as_deref().unwrap_or_default(), begun));
        }
        for payload in new.events {
            self.check_size(payload.get().len())?;
            let event = adk_event(payload)
                .map_err(|error| ServiceError::invalid(format!("not an ADK event: {error}")))?;
            opening.push(event);
        }
        let session = NewSession {
            id: key.hashed(),
            created_at: new.created_at.unwrap_or_else(clock::now),
            description: None,
            agent,
            app_name: key.app_name.clone(),
            user_id: key.user_id.clone(),
            source: "adk".to_owned(),
            adk_id: Some(key.id.clone()),
            opening,
        };
        match self.store.create_session(session).await? {
            Created::Existing(_) => Err(ServiceError::AdkSessionExists(key.id)),
            Created::New(session) => {
                let read = self.store.adk_session(session.id, none()).await?;
                read.map(seen).ok_or(ServiceError::AdkSessionNotFound(key.id))
            }
        }
    }

    /// A session with its state and the events that were asked for.
    pub(crate) async fn adk_session(
        &self,
        key: &AdkKey,
        query: AdkEventQuery,
    ) -> Result<AdkRead, ServiceError> {
        self.owned_key(key).await?;
        if let Some(read) = self.store.adk_session(key.hashed(), query).await? {
            return Ok(read);
        }
        if let Some(literal) = key.literal()
            && let Some(read) = self.store.adk_session(literal, query).await?
            && key.is_of(&read.session.app_name, &read.session.user_id)
        {
            return Ok(read);
        }
        Err(ServiceError::AdkSessionNotFound(key.id.clone()))
    }

    /// Whether the caller may touch the session of a key, before any of it is read: how
    /// long that takes would tell whether there is one.
    async fn owned_key(&self, key: &AdkKey) -> Result<(), ServiceError> {
        let caller = &self.visitor.caller;
        if caller.sees_all() {
            // They see every session, but speak for one user.
            let theirs = caller.acts_as().is_none_or(|user| user == key.user_id);
            let not_found = || ServiceError::AdkSessionNotFound(key.id.clone());
            return theirs.then_some(()).ok_or_else(not_found);
        }
        let hashed = self.store.owner(key.hashed()).await?;
        let literal = match key.literal() {
            Some(id) => self.store.owner(id).await?,
            None => None,
        };
        let (id, found) = match (hashed, key.literal()) {
            (None, Some(id)) => (id, literal),
            (hashed, _) => (key.hashed(), hashed),
        };
        let admitted = found.as_ref().is_some_and(|owner| {
            self.concerns(&owner.user_id, id) && key.is_of(&owner.app_name, &owner.user_id)
        });
        if !admitted {
            self.turned_away(id, found.is_some());
            return Err(ServiceError::AdkSessionNotFound(key.id.clone()));
        }
        self.note_visit(id, false);
        Ok(())
    }

    /// Those that the caller may see.
    pub(crate) async fn adk_sessions(
        &self,
        mut query: AdkSessionQuery,
    ) -> Result<(Vec<AdkSession>, Option<String>), ServiceError> {
        let caller = &self.visitor.caller;
        if let Some(user) = caller.acts_as() {
            self.known_user(query.user_id.as_deref().unwrap_or(user))?;
            query.user_id = Some(user.to_owned());
        }
        let shared = self.store.shared_state(&query.app_name, query.user_id.as_deref()).await?;
        let AdkPage { sessions, next } = self.store.adk_sessions(query).await?;
        let sessions = sessions
            .into_iter()
            .filter(|(session, _)| caller.may_see(session.id, &session.user_id))
            .map(|(session, state)| {
                let state = if session.shares_state() {
                    let user = shared.users.get(&session.user_id).cloned().unwrap_or_default();
                    merge_state(state, shared.app.clone(), user)
                } else {
                    state
                };
                AdkSession { session, state }
            })
            .collect();
        Ok((sessions, next.map(|next| next.to_string())))
    }

    /// Appends a raw event to the session that the caller knows, as far as it says.
    pub(crate) async fn append_adk_event(
        &self,
        key: &AdkKey,
        payload: Box<RawValue>,
        expected: Expected,
    ) -> Result<AdkAppended, ServiceError> {
        self.check_size(payload.get().len())?;
        let event = adk_event(payload)
            .map_err(|error| ServiceError::invalid(format!("not an ADK event: {error}")))?;
        self.owned_key(key).await?;
        let id = key.hashed();
        let appended = match self.store.append(id, expected, vec![event.clone()]).await {
            Err(AppendError::NoSession { .. }) => {
                let read = self.adk_session(key, none()).await?;
                self.store.append(read.session.id, expected, vec![event]).await
            }
            appended => appended,
        };
        let appended = appended.map_err(|error| match error {
            AppendError::Conflict { expected, actual, .. } => ServiceError::Stale {
                session: key.id.clone(),
                expected: expected.get(),
                actual: actual.get(),
            },
            AppendError::Remade { .. } => ServiceError::Remade { session: key.id.clone() },
            other => other.into(),
        })?;
        Ok(AdkAppended {
            seq: appended.seqs.first().copied().unwrap_or_default(),
            duplicate: appended.new == 0,
            event_head: appended.event_head,
            update_time: appended.update_time,
        })
    }

    /// Runs the agent of a session that is there.
    pub(crate) async fn run_adk(
        &self,
        key: &AdkKey,
        wish: RunWish,
    ) -> Result<WatchedRun, ServiceError> {
        self.check_draining()?;
        let session = self.adk_session(key, none()).await?.session;
        let name = self.workers.agent_of_app(&key.app_name);
        let name = name.ok_or_else(|| ServiceError::UnknownAgent(key.app_name.clone()))?;
        let agent = self.served_agent(&name)?;
        let watch = self.watch_session(session.id);
        let started = self.start_run(&session, &agent, wish).await?;
        Ok(watch.run(started.run_id, started.seq))
    }

    /// `false` if there was none.
    pub(crate) async fn delete_adk_session(&self, key: &AdkKey) -> Result<bool, ServiceError> {
        match self.adk_session(key, none()).await {
            Ok(read) => self.delete_session(read.session.id).await.map(|()| true),
            Err(ServiceError::AdkSessionNotFound(_)) => Ok(false),
            Err(error) => Err(error),
        }
    }

    /// The state that a session shows.
    pub(crate) async fn adk_state(
        &self,
        id: SessionId,
    ) -> Result<Map<String, Value>, ServiceError> {
        self.owned(id).await?;
        let read = self.store.adk_session(id, none()).await?;
        Ok(seen(read.ok_or(ServiceError::SessionNotFound(id))?).state)
    }

    /// What all sessions of a user in an app share, without its prefix.
    pub(crate) async fn user_state(
        &self,
        app_name: &str,
        user_id: &str,
    ) -> Result<Map<String, Value>, ServiceError> {
        self.not_bound()?;
        self.known_user(user_id)?;
        let mut shared = self.store.shared_state(app_name, Some(user_id)).await?;
        Ok(shared.users.remove(user_id).unwrap_or_default())
    }

    /// The apps that are hosted, and those that have sessions, for whoever sees all of these.
    pub(crate) async fn app_names(&self) -> Result<Vec<String>, ServiceError> {
        let all = self.visitor.caller.sees_all();
        let mut names = if all { self.store.app_names().await? } else { Vec::new() };
        names.extend(self.workers.list().items.into_iter().map(|agent| agent.app_name));
        names.sort_unstable();
        names.dedup();
        Ok(names)
    }
}

/// A session without events.
pub(crate) const fn none() -> AdkEventQuery {
    AdkEventQuery { after: Seq::START, recent: Some(0), not_before: None, max_bytes: 0 }
}

/// The session with the state that it shows.
pub(crate) fn seen(read: AdkRead) -> AdkSession {
    let AdkRead { session, state, mut shared, .. } = read;
    let user = shared.users.remove(&session.user_id).unwrap_or_default();
    let state = merge_state(state, shared.app, user);
    AdkSession { session, state }
}
