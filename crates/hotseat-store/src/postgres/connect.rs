//! Connections to the database.
//!
//! All have the same settings: every query here goes by a key, and must do so even where a table
//! is so young that PostgreSQL has no figures about it and would rather read all of it.

use std::time::Duration;

use deadpool_postgres::{Manager, ManagerConfig, Pool, RecyclingMethod};
use tokio_postgres::Config;
use tokio_postgres_rustls::MakeRustlsConnect;

use crate::OpenError;
use crate::address::without_password;

use super::address::{ReadUrl, read_url};
use super::failure::Failure;
use super::tls;

/// Connections of one process: those of the writers, and as many again for everything else.
const CONNECTIONS: usize = 16;

/// How long to wait for one of them.
const WAIT: Duration = Duration::from_secs(5);

/// How long a connection may take to be made.
const CONNECT: Duration = Duration::from_secs(5);

/// How long the network may swallow what is sent before a connection counts as lost.
const SILENCE: Duration = Duration::from_secs(15);

const SETTINGS: &str =
    "-c enable_seqscan=off -c enable_hashjoin=off -c enable_mergejoin=off -c jit=off";

/// A way to the database.
#[derive(Clone)]
pub(super) struct Way {
    pub(super) config: Config,
    pub(super) tls: MakeRustlsConnect,
    /// Where it is, for people.
    pub(super) place: String,
}

impl Way {
    pub(super) fn new(url: &str) -> Result<Self, OpenError> {
        let place = without_password(url).to_owned();
        let ReadUrl { mut config, verification } = read_url(url)
            .map_err(|source| OpenError::Address { url: place.clone(), source: Some(source) })?;
        let options =
            config.get_options().map_or_else(String::new, |options| format!("{options} "));
        config.options(format!("{options}{SETTINGS}"));
        config.application_name("hotseat");
        config.connect_timeout(CONNECT);
        config.keepalives_idle(SILENCE);
        config.tcp_user_timeout(SILENCE);
        let tls = tls::connector(&verification, &place)?;
        Ok(Self { config, tls, place })
    }

    /// Why the database could not be opened by this way.
    pub(super) fn refused(&self, failure: Failure) -> OpenError {
        let place = self.place.clone();
        match tls::objection(&failure) {
            Some(remedy) => OpenError::Certificate { place, remedy, source: failure.into() },
            None => OpenError::Postgres { place, source: failure.into() },
        }
    }

    pub(super) fn pool(&self) -> Result<Pool, OpenError> {
        let how = ManagerConfig { recycling_method: RecyclingMethod::Fast };
        let manager = Manager::from_config(self.config.clone(), self.tls.clone(), how);
        let built = Pool::builder(manager)
            .max_size(CONNECTIONS)
            .runtime(deadpool_postgres::Runtime::Tokio1)
            .wait_timeout(Some(WAIT))
            .build();
        built.map_err(|error| OpenError::Postgres {
            place: self.place.clone(),
            source: error.into(),
        })
    }
}

impl std::fmt::Debug for Way {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("Way").field(&self.place).finish()
    }
}
