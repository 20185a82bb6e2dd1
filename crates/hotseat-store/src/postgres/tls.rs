//! TLS to the database.
//!
//! Everything goes through ring, as everywhere here. A certificate that is not trusted is told
//! apart from all other failures, because only for it there is something to be done.

use std::error::Error;
use std::path::Path;
use std::sync::Arc;

use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::{CryptoProvider, ring, verify_tls12_signature, verify_tls13_signature};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::{
    CertificateError, ClientConfig, DigitallySignedStruct, RootCertStore, SignatureScheme,
};
use tokio_postgres_rustls::MakeRustlsConnect;

use crate::OpenError;

use super::address::Verification;
use super::failure::Failure;

/// What makes connections with TLS, and checks whom they are with.
pub(super) fn connector(
    verification: &Verification,
    place: &str,
) -> Result<MakeRustlsConnect, OpenError> {
    let provider = Arc::new(ring::default_provider());
    let builder = ClientConfig::builder_with_provider(Arc::clone(&provider))
        .with_safe_default_protocol_versions()
        .map_err(|error| OpenError::Postgres { place: place.to_owned(), source: error.into() })?;
    let config = match verification {
        Verification::Machine => {
            let mut roots = RootCertStore::empty();
            roots.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
            builder.with_root_certificates(roots)
        }
        Verification::File(file) => builder.with_root_certificates(roots_in(file)?),
        Verification::None => {
            builder.dangerous().with_custom_certificate_verifier(Arc::new(Anybody(provider)))
        }
    };
    Ok(MakeRustlsConnect::new(config.with_no_client_auth()))
}

/// The certificates of those who may sign for the database.
fn roots_in(file: &Path) -> Result<RootCertStore, OpenError> {
    let unread = |source| OpenError::Roots { file: file.to_owned(), source };
    let mut roots = RootCertStore::empty();
    for certificate in CertificateDer::pem_file_iter(file).map_err(|error| unread(error.into()))? {
        let certificate = certificate.map_err(|error| unread(error.into()))?;
        roots.add(certificate).map_err(|error| unread(error.into()))?;
    }
    if roots.is_empty() {
        return Err(unread("there is no certificate in it".into()));
    }
    Ok(roots)
}

/// What to do about a certificate, if it is the reason of the failure.
pub(super) fn objection(failure: &Failure) -> Option<&'static str> {
    let mut cause: Option<&(dyn Error + 'static)> = Some(failure);
    while let Some(error) = cause {
        // An error of input and output says what its error says: it hides itself from the chain.
        let inner = error
            .downcast_ref::<std::io::Error>()
            .and_then(std::io::Error::get_ref)
            .map(|inner| inner as &(dyn Error + 'static));
        if let Some(rustls::Error::InvalidCertificate(why)) =
            inner.unwrap_or(error).downcast_ref::<rustls::Error>()
        {
            return Some(remedy(why));
        }
        cause = error.source();
    }
    None
}

fn remedy(why: &CertificateError) -> &'static str {
    match why {
        // The second is what comes of another signer with the same name.
        CertificateError::UnknownIssuer | CertificateError::BadSignature => {
            "nobody trusted here has signed it; name the signer's certificate with `sslrootcert=FILE`"
        }
        CertificateError::NotValidForName | CertificateError::NotValidForNameContext { .. } => {
            "it is for another host; use the name that it is for"
        }
        CertificateError::Expired | CertificateError::ExpiredContext { .. } => {
            "it has expired; give the database a new one"
        }
        CertificateError::NotValidYet | CertificateError::NotValidYetContext { .. } => {
            "it is not valid yet; check the clocks of both machines"
        }
        // The library adds reasons from version to version.
        _ => "look at the reason below, and at the certificate that the database shows",
    }
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
