//! Connections to the database.
//!
//! All have the same settings: every query here goes by a key, and must do so even where a table
//! is so young that PostgreSQL has no figures about it and would rather read all of it.

use std::sync::Arc;
use std::time::Duration;

use deadpool_postgres::{Manager, ManagerConfig, Pool, RecyclingMethod};
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::{CryptoProvider, ring, verify_tls12_signature, verify_tls13_signature};
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::{ClientConfig, DigitallySignedStruct, RootCertStore, SignatureScheme};
use tokio_postgres::Config;
use tokio_postgres_rustls::MakeRustlsConnect;

use crate::OpenError;
use crate::address::without_password;
use crate::error::Cause;

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
        let (mut config, verification) = read_url(url).map_err(|error| OpenError::Address {
            url: place.clone(),
            source: Some(error.into()),
        })?;
        let options =
            config.get_options().map_or_else(String::new, |options| format!("{options} "));
        config.options(format!("{options}{SETTINGS}"));
        config.application_name("hotseat");
        config.connect_timeout(CONNECT);
        config.keepalives_idle(SILENCE);
        config.tcp_user_timeout(SILENCE);
        let tls = tls(verification)
            .map_err(|source| OpenError::Postgres { place: place.clone(), source })?;
        Ok(Self { config, tls, place })
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

/// Whether the server has to prove who it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Verification {
    /// It does not: `sslmode=require` hides what is said and no more, as for `psql`.
    None,
    /// Its certificate must be signed by somebody this machine trusts, for its name.
    Full,
}

/// Reads the URL of a database. What PostgreSQL's own programs call verification is a word that
/// the library does not know.
pub(crate) fn read_url(url: &str) -> Result<(Config, Verification), tokio_postgres::Error> {
    for word in ["sslmode=verify-full", "sslmode=verify-ca"] {
        if url.contains(word) {
            let config = url.replace(word, "sslmode=require").parse()?;
            return Ok((config, Verification::Full));
        }
    }
    Ok((url.parse()?, Verification::None))
}

fn tls(verification: Verification) -> Result<MakeRustlsConnect, Cause> {
    let provider = Arc::new(ring::default_provider());
    let builder = ClientConfig::builder_with_provider(Arc::clone(&provider))
        .with_safe_default_protocol_versions()?;
    let config = match verification {
        Verification::Full => {
            let mut roots = RootCertStore::empty();
            roots.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
            builder.with_root_certificates(roots)
        }
        Verification::None => {
            builder.dangerous().with_custom_certificate_verifier(Arc::new(Anybody(provider)))
        }
    };
    Ok(MakeRustlsConnect::new(config.with_no_client_auth()))
}

/// Takes any certificate, but checks that the server holds its key.
#[derive(Debug)]
struct Anybody(Arc<CryptoProvider>);

impl ServerCertVerifier for Anybody {
    fn verify_server_cert(
        &self,
        _: &CertificateDer<'_>,
        _: &[CertificateDer<'_>],
        _: &ServerName<'_>,
        _: &[u8],
        _: UnixTime,
    ) -> Result<ServerCertVerified, rustls::Error> {
        Ok(ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        let known = &self.0.signature_verification_algorithms;
        verify_tls12_signature(message, certificate, signed, known)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        let known = &self.0.signature_verification_algorithms;
        verify_tls13_signature(message, certificate, signed, known)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.0.signature_verification_algorithms.supported_schemes()
    }
}
