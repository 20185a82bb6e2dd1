//! TLS on the server's own port.

use std::path::Path;
use std::sync::Arc;

use hotseat_server::Tls;
use hotseat_testkit::proto::ListSessionsRequest;
use hotseat_testkit::proto::seat_client::SeatClient;
use hotseat_testkit::{Api, TestServer};
use hyper_util::rt::TokioIo;
use rcgen::{CertifiedKey, KeyPair};
use rustls::pki_types::{CertificateDer, ServerName};
use rustls::{ClientConfig, RootCertStore};
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;
use tokio_rustls::client::TlsStream;
use tonic::transport::Endpoint;
use tonic::{Code, Request};

/// A certificate for this machine, in its files.
fn certificate(folder: &Path) -> CertifiedKey<KeyPair> {
    let made = rcgen::generate_simple_self_signed(["localhost".to_owned(), "127.0.0.1".to_owned()]);
    let made = made.unwrap();
    std::fs::write(folder.join("cert.pem"), made.cert.pem()).unwrap();
    std::fs::write(folder.join("key.pem"), made.signing_key.serialize_pem()).unwrap();
    made
}

fn load(folder: &Path) -> Tls {
    Tls::load(&folder.join("cert.pem"), &folder.join("key.pem")).unwrap()
}

/// A connection that offers these protocols.
async fn connect(
    address: &str,
    root: &CertificateDer<'static>,
    alpn: &[&str],
) -> TlsStream<TcpStream> {
    hotseat_agent::provider::install_crypto();
    let mut roots = RootCertStore::empty();
    roots.add(root.clone()).unwrap();
    let mut config = ClientConfig::builder().with_root_certificates(roots).with_no_client_auth();
    config.alpn_protocols = alpn.iter().map(|name| name.as_bytes().to_vec()).collect();
    let stream = TcpStream::connect(address).await.unwrap();
    let name = ServerName::try_from("localhost").unwrap();
    TlsConnector::from(Arc::new(config)).connect(name, stream).await.unwrap()
}

#[tokio::test]
async fn the_page_the_api_and_grpc_are_reached_over_tls() {
    let folder = tempfile::tempdir().unwrap();
    let made = certificate(folder.path());
    let tls = load(folder.path());
    let server = TestServer::told(|config| config.tls = Some(tls)).await;
    assert!(server.api.url.starts_with("https://127.0.0.1:"), "{}", server.api.url);
    let api = server.api.clone().trusting(&made.cert.pem());
    let session = api.session().await;
    api.show(&session).await;
    let link = api.without_token().trusting(&made.cert.pem());
    let swapped = link.get(&format!("/?token={}", TestServer::TOKEN)).await;
    assert!(swapped.header("set-cookie").ends_with("; Secure"), "{:?}", swapped.headers);

    let address = server.api.url.strip_prefix("https://").unwrap().to_owned();
    let root = made.cert.der().clone();
    let stream = connect(&address, &root, &["h2", "http/1.1"]).await;
    assert_eq!(stream.get_ref().1.alpn_protocol(), Some(&b"h2"[..]));
    let stream = connect(&address, &root, &["http/1.1"]).await;
    assert_eq!(stream.get_ref().1.alpn_protocol(), Some(&b"http/1.1"[..]));

    let endpoint = Endpoint::from_shared(format!("http://{address}")).unwrap();
    let connector = tower::service_fn(move |_| {
        let (address, root) = (address.clone(), root.clone());
        async move { Ok::<_, std::io::Error>(TokioIo::new(connect(&address, &root, &["h2"]).await)) }
    });
    let channel = endpoint.connect_with_connector(connector).await.unwrap();
    let mut seat = SeatClient::new(channel);
    let refused = seat.list_sessions(ListSessionsRequest::default()).await.unwrap_err();
    assert_eq!(refused.code(), Code::Unauthenticated);
    let mut request = Request::new(ListSessionsRequest::default());
    let token = format!("Bearer {}", TestServer::TOKEN).parse().unwrap();
    request.metadata_mut().insert("authorization", token);
    let listed = seat.list_sessions(request).await.unwrap().into_inner();
    assert_eq!(listed.sessions.len(), 1);
}

#[tokio::test]
async fn whoever_says_nothing_keeps_nobody_waiting_and_plain_text_is_not_answered() {
    let folder = tempfile::tempdir().unwrap();
    let made = certificate(folder.path());
    let tls = load(folder.path());
    let server = TestServer::told(|config| config.tls = Some(tls)).await;
    let address = server.api.url.strip_prefix("https://").unwrap();
    let _silent = TcpStream::connect(address).await.unwrap();
    let api = server.api.clone().trusting(&made.cert.pem());
    api.get("/health").await.json(200);
    let plain = Api::new(format!("http://{address}"), None);
    let request = plain.request(reqwest::Method::GET, "/health");
    assert!(plain.try_send(request).await.is_err());
}

#[tokio::test]
async fn a_new_certificate_is_used_once_it_is_read_and_a_broken_one_is_not() {
    let folder = tempfile::tempdir().unwrap();
    let first = certificate(folder.path());
    let tls = load(folder.path());
    let running = tls.clone();
    let server = TestServer::told(|config| config.tls = Some(running)).await;
    let old = server.api.clone().trusting(&first.cert.pem());
    old.get("/health").await.json(200);

    let second = certificate(folder.path());
    tls.reload().unwrap();
    let new = server.api.clone().trusting(&second.cert.pem());
    new.get("/health").await.json(200);
    let stale = server.api.clone().trusting(&first.cert.pem());
    assert!(stale.try_send(stale.request(reqwest::Method::GET, "/health")).await.is_err());

    std::fs::write(folder.path().join("cert.pem"), "nothing").unwrap();
    let words = tls.reload().unwrap_err().to_string();
    assert!(words.contains("must hold a certificate"), "{words}");
    std::fs::write(folder.path().join("cert.pem"), first.cert.pem()).unwrap();
    let words = tls.reload().unwrap_err().to_string();
    assert!(words.contains("cannot be used together"), "{words}");
    new.get("/health").await.json(200);
}
