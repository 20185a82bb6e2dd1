//! A server in this process, on a real socket.

use std::net::SocketAddr;
use std::path::Path;
use std::time::Duration;

use hotseat_server::{
    Access, App, Config, InstallationKey, LedgerConfig, PeopleConfig, SeatConfig, ServeConfig,
    serve, user_token,
};
use hotseat_store::Store;
use serde_json::json;
use tempfile::TempDir;
use tokio::net::TcpListener;
use tokio::sync::oneshot;
use tokio::task::JoinHandle;

use crate::{Api, soon};

/// A running server. It stops when this is dropped.
#[derive(Debug)]
pub struct TestServer {
    /// A caller with the token.
    pub api: Api,
    /// The log behind the server.
    pub store: Store,
    /// The server's use cases, to host agents with.
    pub app: App,
    folder: TempDir,
    stop: oneshot::Sender<()>,
    served: JoinHandle<std::io::Result<()>>,
}

impl TestServer {
    /// The token of every test server.
    pub const TOKEN: &'static str = "token-of-the-tests";

    /// The key of every test server.
    pub const KEY: InstallationKey = InstallationKey::new([7; InstallationKey::BYTES]);

    /// A server over a store that ends with it.
    pub async fn scratch() -> Self {
        Self::with(LedgerConfig::default()).await
    }

    /// A server over a store that ends with it, with these limits.
    pub async fn with(ledger: LedgerConfig) -> Self {
        let store = Store::scratch(ledger.limits).expect("a store");
        Self::start(store, folder(), |config| config.ledger = ledger).await
    }

    /// A server over a store that ends with it, told what `change` changes.
    pub async fn told(change: impl FnOnce(&mut Config)) -> Self {
        let store = Store::scratch(LedgerConfig::default().limits).expect("a store");
        Self::start(store, folder(), change).await
    }

    /// A server over an SQLite file of its own.
    pub async fn sqlite() -> Self {
        let folder = folder();
        let ledger = LedgerConfig::default();
        let database = folder.path().join("hotseat.db");
        let store = Store::sqlite(&database, ledger.limits).expect("a store");
        Self::start(store, folder, |_| {}).await
    }

    /// A server over a store that others may have, too.
    pub async fn over(store: Store) -> Self {
        Self::start(store, folder(), |_| {}).await
    }

    /// A caller who is this user, for an hour.
    pub fn user(&self, user_id: &str) -> Api {
        let token = user_token(&Self::KEY, user_id, Duration::from_hours(1));
        Api::new(self.api.url.clone(), Some(token))
    }

    /// A caller who is a named user with this role.
    pub async fn member(&self, name: &str, role: &str) -> Api {
        self.api.post("/api/v1/users", &json!({"name": name, "role": role})).await.json(201);
        self.another_token(name).await
    }

    /// The same user with a token of its own.
    pub async fn another_token(&self, name: &str) -> Api {
        let path = format!("/api/v1/users/{name}/tokens");
        let made = self.api.post(&path, &json!({"label": "test"})).await.json(201);
        Api::new(self.api.url.clone(), Some(made["token"].as_str().expect("a token").to_owned()))
    }

    /// The folder that golden traces may be written to.
    pub fn eval_sets(&self) -> &Path {
        self.folder.path()
    }

    /// Where the server listens.
    pub fn address(&self) -> &str {
        self.api.url.strip_prefix("http://").expect("a plain URL")
    }

    /// Tells the server to stop, and returns when it has.
    pub async fn stopped(self) {
        drop(self.stop);
        soon("the end of the server", self.served).await.expect("no panic").expect("no failure");
    }

    /// Another server over the same store, as after a restart.
    pub async fn again(self, change: impl FnOnce(&mut Config)) -> Self {
        let Self { store, folder, .. } = self;
        Self::start(store, folder, change).await
    }

    async fn start(store: Store, folder: TempDir, change: impl FnOnce(&mut Config)) -> Self {
        let any_port = SocketAddr::from(([127, 0, 0, 1], 0));
        let listener = TcpListener::bind(any_port).await.expect("a free port");
        let mut config = Config {
            address: listener.local_addr().expect("an address"),
            access: Access::Token(Self::TOKEN.to_owned()),
            allowed_hosts: vec!["hotseat.example".to_owned()],
            cors_origins: vec!["http://pages.example".to_owned()],
            data: folder.path().join("data"),
            eval_set_root: folder.path().to_owned(),
            ledger: LedgerConfig::default(),
            key: Self::KEY,
            // Short, because tests wait for it.
            stalled_after: Duration::from_secs(2),
            seats: SeatConfig::default(),
            serve: ServeConfig::default(),
            people: PeopleConfig::default(),
            tls: None,
        };
        change(&mut config);
        let api = Api::new(config.url(), Some(Self::TOKEN.to_owned()));
        let (stop, stopped) = oneshot::channel::<()>();
        let app = App::new(store.clone(), config);
        let served = tokio::spawn(serve(app.clone(), listener, async {
            // Dropping the sender is the signal.
            let _ = stopped.await;
        }));
        Self { api, store, app, folder, stop, served }
    }
}

fn folder() -> TempDir {
    tempfile::Builder::new().prefix("hotseat-test-").tempdir().expect("a temporary folder")
}
