//! Where connections come in: the port, with or without TLS, and one inside.
//!
//! A handshake takes as long as the other side likes, so each has a task of its own and the
//! next connection does not wait for it.

use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use axum::serve::Listener;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{Semaphore, mpsc};
use tokio_rustls::server::TlsStream;
use tokio_util::either::Either;

use crate::socket;
use crate::tls::Tls;

/// How long a handshake may take.
const HANDSHAKE: Duration = Duration::from_secs(10);

/// Handshakes that go on at once; further connections wait for one to end.
const MAX_HANDSHAKES: usize = 256;

/// Where a server listens.
#[derive(Debug)]
pub struct Door {
    port: TcpListener,
    inside: Option<TcpListener>,
}

impl Door {
    /// The port that everybody knows.
    pub const fn new(port: TcpListener) -> Self {
        Self { port, inside: None }
    }

    /// Another one without TLS, for the server's own worker: the certificate is for the name
    /// that others know the server by, and not for this machine's.
    #[must_use]
    pub fn with_inside(mut self, listener: TcpListener) -> Self {
        self.inside = Some(listener);
        self
    }
}

impl From<TcpListener> for Door {
    fn from(port: TcpListener) -> Self {
        Self::new(port)
    }
}

/// Who is at the other end of a connection.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Peer(pub(crate) SocketAddr);

type Connection = Either<TcpStream, Box<TlsStream<TcpStream>>>;

/// A door at which somebody stands.
pub(crate) struct OpenDoor {
    door: Door,
    stalled_after: Duration,
    tls: Option<Tls>,
    handshakes: Arc<Semaphore>,
    shaken: mpsc::Sender<(Connection, SocketAddr)>,
    ready: mpsc::Receiver<(Connection, SocketAddr)>,
}

impl OpenDoor {
    pub(crate) fn new(door: Door, tls: Option<Tls>, stalled_after: Duration) -> Self {
        let (shaken, ready) = mpsc::channel(MAX_HANDSHAKES);
        let handshakes = Arc::new(Semaphore::new(MAX_HANDSHAKES));
        Self { door, stalled_after, tls, handshakes, shaken, ready }
    }

    async fn shake_hands(&self, tls: Tls, stream: TcpStream, address: SocketAddr) {
        let Ok(place) = Arc::clone(&self.handshakes).acquire_owned().await else { return };
        let shaken = self.shaken.clone();
        tokio::spawn(async move {
            match tokio::time::timeout(HANDSHAKE, tls.accept(stream)).await {
                // The server is gone if nobody takes it.
                Ok(Ok(stream)) => {
                    let _ = shaken.send((Either::Right(Box::new(stream)), address)).await;
                }
                Ok(Err(error)) => tracing::debug!(%error, "a TLS handshake failed"),
                Err(_) => tracing::debug!("a TLS handshake took too long"),
            }
            drop(place);
        });
    }
}

impl Listener for OpenDoor {
    type Io = Connection;
    type Addr = SocketAddr;

    async fn accept(&mut self) -> (Connection, SocketAddr) {
        loop {
            let Self { door, ready, .. } = self;
            let (stream, address, tls) = tokio::select! {
                (stream, address) = Listener::accept(&mut door.port) => {
                    (stream, address, self.tls.clone())
                }
                (stream, address) = inside(door.inside.as_mut()) => (stream, address, None),
                Some(shaken) = ready.recv() => return shaken,
            };
            socket::prepare(&stream, self.stalled_after);
            match tls {
                Some(tls) => self.shake_hands(tls, stream, address).await,
                None => return (Either::Left(stream), address),
            }
        }
    }

    fn local_addr(&self) -> io::Result<SocketAddr> {
        self.door.port.local_addr()
    }
}

/// The next connection from inside, or none ever.
async fn inside(listener: Option<&mut TcpListener>) -> (TcpStream, SocketAddr) {
    match listener {
        Some(listener) => Listener::accept(listener).await,
        None => std::future::pending().await,
    }
}
