//! TLS to a PostgreSQL that takes nobody without it.

use std::error::Error;
use std::path::{Path, PathBuf};

use hotseat_store::{Limits, OpenError, Store};
use hotseat_testkit::{Fall, LoneDatabase};
use rcgen::{BasicConstraints, CertificateParams, IsCa, Issuer, KeyPair};

use crate::log::{append, created, event, id, ids};

/// Whoever signs certificates, and a file with their own.
struct Authority {
    issuer: Issuer<'static, KeyPair>,
    file: PathBuf,
}

impl Authority {
    fn new(folder: &Path, name: &str) -> Self {
        let mut params = CertificateParams::new([]).unwrap();
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        let key = KeyPair::generate().unwrap();
        let file = folder.join(name);
        std::fs::write(&file, params.self_signed(&key).unwrap().pem()).unwrap();
        Self { issuer: Issuer::new(params, key), file }
    }

    /// A certificate for a host, and its key.
    fn sign(&self, host: &str) -> (String, String) {
        let params = CertificateParams::new([host.to_owned()]).unwrap();
        let key = KeyPair::generate().unwrap();
        (params.signed_by(&key, &self.issuer).unwrap().pem(), key.serialize_pem())
    }
}

/// A database with a certificate for a host, and its signer.
fn database(folder: &Path, host: &str) -> (LoneDatabase, Authority) {
    let authority = Authority::new(folder, "ca.pem");
    let (certificate, key) = authority.sign(host);
    (LoneDatabase::start_with_tls(&certificate, &key), authority)
}

fn verified(database: &LoneDatabase, file: &Path) -> String {
    format!("{}?sslmode=verify-full&sslrootcert={}", database.url(), file.display())
}

async fn open(url: &str) -> Result<Store, OpenError> {
    Store::postgres(url, Limits::default()).await
}

/// The message of an error, and all that it comes from.
fn chain(error: &OpenError) -> String {
    let causes = std::iter::successors(error.source(), |cause| (*cause).source());
    causes.fold(error.to_string(), |text, cause| format!("{text}: {cause}"))
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_database_is_written_to_and_listened_to_with_tls() {
    let folder = tempfile::tempdir().unwrap();
    let (mut database, authority) = database(folder.path(), "127.0.0.1");
    let url = format!("{}?sslmode=require", database.url());
    let one = open(&url).await.unwrap();
    let two = open(&verified(&database, &authority.file)).await.unwrap();
    created(&one, 1).await;
    let mut head = two.watch(id(1));
    append(&one, id(1), vec![event("a")]).await;
    head.changed().await.unwrap();
    assert_eq!(ids(&two, id(1)).await, ["a"]);

    // Connections that are lost are made again in the same way.
    tokio::task::block_in_place(|| {
        database.fall(Fall::Crashed);
        database.rise();
    });
    append(&two, id(1), vec![event("b")]).await;
    assert_eq!(ids(&one, id(1)).await, ["a", "b"]);
}

#[tokio::test]
async fn a_database_that_wants_tls_takes_nobody_without() {
    let folder = tempfile::tempdir().unwrap();
    let (database, _) = database(folder.path(), "127.0.0.1");
    let refused = open(&format!("{}?sslmode=disable", database.url())).await.unwrap_err();
    assert!(chain(&refused).contains("no encryption"), "{}", chain(&refused));
}

#[tokio::test]
async fn a_database_without_tls_is_not_spoken_to_where_it_is_required() {
    let database = hotseat_testkit::TestDatabase::create();
    let refused = open(&format!("{}?sslmode=require", database.url())).await.unwrap_err();
    assert!(chain(&refused).contains("server does not support TLS"), "{}", chain(&refused));
}

#[tokio::test]
async fn a_certificate_that_nobody_known_has_signed_is_refused_and_says_what_to_do() {
    let folder = tempfile::tempdir().unwrap();
    let (database, _) = database(folder.path(), "127.0.0.1");
    let other = Authority::new(folder.path(), "other.pem");
    let by_machine = format!("{}?sslmode=verify-full", database.url());
    for url in [by_machine, verified(&database, &other.file)] {
        let refused = open(&url).await.unwrap_err();
        assert!(matches!(refused, OpenError::Certificate { .. }), "{refused:?}");
        assert!(refused.to_string().contains("`sslrootcert=FILE`"), "{refused}");
    }
}

#[tokio::test]
async fn a_certificate_for_another_host_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let (database, authority) = database(folder.path(), "db.example");
    let refused = open(&verified(&database, &authority.file)).await.unwrap_err();
    assert!(refused.to_string().contains("it is for another host"), "{}", chain(&refused));
    // Who does not ask for proof gets none.
    open(&format!("{}?sslmode=require", database.url())).await.unwrap();
}

#[tokio::test]
async fn a_file_without_certificates_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let empty = folder.path().join("empty.pem");
    std::fs::write(&empty, "nothing").unwrap();
    for file in [empty, folder.path().join("nowhere.pem")] {
        let url = format!("postgres://db/x?sslmode=verify-full&sslrootcert={}", file.display());
        let refused = open(&url).await.unwrap_err();
        assert!(matches!(refused, OpenError::Roots { .. }), "{refused:?}");
        assert!(refused.to_string().contains(file.to_str().unwrap()), "{refused}");
    }
}
