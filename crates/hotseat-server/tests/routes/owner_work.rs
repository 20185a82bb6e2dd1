//! What strangers could learn from how long an answer takes: nothing, as the same is done for
//! a session of somebody else as for one that does not exist.
//!
//! Work is counted here, not time: what the store is asked for on the way to an answer, which
//! is all that could differ.

use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

use serde_json::json;
use tracing::field::{Field, Visit};
use tracing::span::{Attributes, Id, Record};
use tracing::{Event, Metadata, Subscriber};

use hotseat_testkit::{TestServer, sample};

use crate::owner::{Rule, UNKNOWN, ask, decided};

/// What the store was asked for, in its own words.
#[derive(Debug, Clone, Default)]
struct Asked(Arc<Mutex<Vec<String>>>);

impl Asked {
    fn taken(&self) -> Vec<String> {
        std::mem::take(&mut *self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl Subscriber for Asked {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        metadata.target().starts_with("hotseat_store")
    }
    fn new_span(&self, _: &Attributes<'_>) -> Id {
        Id::from_u64(1)
    }
    fn record(&self, _: &Id, _: &Record<'_>) {}
    fn record_follows_from(&self, _: &Id, _: &Id) {}
    fn event(&self, event: &Event<'_>) {
        event.record(&mut Action(self));
    }
    fn enter(&self, _: &Id) {}
    fn exit(&self, _: &Id) {}
}

struct Action<'a>(&'a Asked);

impl Visit for Action<'_> {
    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        if field.name() == "action" {
            self.0.0.lock().unwrap_or_else(PoisonError::into_inner).push(format!("{value:?}"));
        }
    }
}

/// One thread, so that what the server does is heard here and nothing else is.
#[tokio::test(flavor = "current_thread")]
async fn a_stranger_is_refused_after_the_same_work_whatever_there_is() {
    let asked = Asked::default();
    let _heard = tracing::subscriber::set_default(asked.clone());
    let server = TestServer::scratch().await;
    let bob = server.user("bob");
    let secret = bob.session().await;
    let events: Vec<_> =
        (0..200).map(|n| sample::user_event(&n.to_string(), &"secret ".repeat(500))).collect();
    bob.post(&format!("/api/v1/sessions/{secret}/events"), &json!(events)).await.json(201);
    let mut refused = 0;
    for (number, (method, path, rule)) in decided().into_iter().enumerate() {
        // Somebody else each time: one user who asked for all of it would be slowed down.
        let name = format!("alice{number}");
        let alice = server.user(&name);
        let users = match rule {
            Rule::OwnSession => vec![name.as_str()],
            // Below another user, and below themselves with an id that is another user's.
            Rule::OwnUser if path.contains("{session}") => vec!["bob", name.as_str()],
            _ => continue,
        };
        if rule == Rule::OwnUser && method == reqwest::Method::POST {
            continue; // A session to be made, of which one is told if it is there.
        }
        for user in users {
            asked.taken();
            ask(&alice, &method, &path, &secret, user).await;
            let theirs = asked.taken();
            ask(&alice, &method, &path, UNKNOWN, user).await;
            assert_eq!(theirs, asked.taken(), "{method} {path} of {user}");
            // Who asks is looked up with every request, and then whose it is what they ask for.
            let mut of_session = theirs.iter().filter(|action| *action != "\"read a user\"");
            let only_owners = of_session.all(|action| action == "\"look up an owner\"");
            let owners = theirs.contains(&"\"look up an owner\"".to_owned());
            assert!(owners && only_owners, "{method} {path} of {user}: {theirs:?}");
            refused += 1;
        }
    }
    assert!(refused > 20, "{refused}");
    asked.taken();
    bob.show(&secret).await;
    assert!(asked.taken().len() > 1, "what is read of a session would be heard");
}
