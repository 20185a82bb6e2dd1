//! TLS: the certificate, and how it is changed while the server runs.
//!
//! Connections agree on HTTP/2 or HTTP/1.1 by ALPN, so that gRPC and browsers share the port
//! as they do without TLS.

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, PoisonError, RwLock};

use rustls::ServerConfig;
use rustls::crypto::{CryptoProvider, ring};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::server::{ClientHello, ResolvesServerCert};
use rustls::sign::CertifiedKey;
use tokio_rustls::TlsAcceptor;

/// Certificates in a file that are read; a chain has a handful.
const MAX_CHAIN: usize = 16;

/// The certificate of a server. Cheap to clone; all clones change together.
#[derive(Clone)]
pub struct Tls {
    certificate: PathBuf,
    key: PathBuf,
    current: Arc<Current>,
    acceptor: TlsAcceptor,
}

/// Why a certificate cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum TlsError {
    /// A file could not be read, or is something else.
    #[error("{path} holds no {what} in PEM that can be read")]
    File {
        /// The file.
        path: PathBuf,
        /// What should be in it.
        what: &'static str,
        /// What is wrong.
        #[source]
        source: rustls::pki_types::pem::Error,
    },
    /// There is no certificate in the file, or more than a chain has.
    #[error("{path} must hold a certificate and those above it, up to 16")]
    Chain {
        /// The file.
        path: PathBuf,
    },
    /// The two do not belong together, or are of a kind that is not known.
    #[error("the certificate {certificate} and the key {key} cannot be used together")]
    Pair {
        /// The certificate's file.
        certificate: PathBuf,
        /// The key's file.
        key: PathBuf,
        /// What is wrong.
        #[source]
        source: rustls::Error,
    },
}

#[derive(Debug)]
struct Current(RwLock<Arc<CertifiedKey>>);

impl ResolvesServerCert for Current {
    fn resolve(&self, _hello: ClientHello<'_>) -> Option<Arc<CertifiedKey>> {
        Some(Arc::clone(&self.0.read().unwrap_or_else(PoisonError::into_inner)))
    }
}

impl fmt::Debug for Tls {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Tls").field("certificate", &self.certificate).finish_non_exhaustive()
    }
}

impl Tls {
    /// Reads a certificate with those above it, and its key.
    pub fn load(certificate: &Path, key: &Path) -> Result<Self, TlsError> {
        let provider = Arc::new(ring::default_provider());
        let pair = read(certificate, key, &provider)?;
        let current = Arc::new(Current(RwLock::new(Arc::new(pair))));
        let resolver = Arc::clone(&current);
        let mut config = ServerConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .map_err(|source| TlsError::Pair {
                certificate: certificate.to_owned(),
                key: key.to_owned(),
                source,
            })?
            .with_no_client_auth()
            .with_cert_resolver(resolver);
        config.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
        let acceptor = TlsAcceptor::from(Arc::new(config));
        Ok(Self { certificate: certificate.to_owned(), key: key.to_owned(), current, acceptor })
    }

    /// Reads the files again. What cannot be used changes nothing; connections that are there
    /// stay as they are.
    pub fn reload(&self) -> Result<(), TlsError> {
        let pair = read(&self.certificate, &self.key, &ring::default_provider())?;
        *self.current.0.write().unwrap_or_else(PoisonError::into_inner) = Arc::new(pair);
        Ok(())
    }

    pub(crate) async fn accept<IO>(
        &self,
        connection: IO,
    ) -> io::Result<tokio_rustls::server::TlsStream<IO>>
    where
        IO: tokio::io::AsyncRead + tokio::io::AsyncWrite + Unpin,
    {
        self.acceptor.accept(connection).await
    }
}

fn read(
    certificate: &Path,
    key: &Path,
    provider: &CryptoProvider,
) -> Result<CertifiedKey, TlsError> {
    let unreadable = |path: &Path, what| {
        let path = path.to_owned();
        move |source| TlsError::File { path, what, source }
    };
    let chain = CertificateDer::pem_file_iter(certificate)
        .map_err(unreadable(certificate, "certificate"))?
        .take(MAX_CHAIN + 1)
        .collect::<Result<Vec<_>, _>>()
        .map_err(unreadable(certificate, "certificate"))?;
    if chain.is_empty() || chain.len() > MAX_CHAIN {
        return Err(TlsError::Chain { path: certificate.to_owned() });
    }
    let secret = PrivateKeyDer::from_pem_file(key).map_err(unreadable(key, "key"))?;
    CertifiedKey::from_der(chain, secret, provider).map_err(|source| TlsError::Pair {
        certificate: certificate.to_owned(),
        key: key.to_owned(),
        source,
    })
}
