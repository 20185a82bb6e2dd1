//! Somebody between two who talk, who can cut the line at the worst moment, or swallow what is
//! said on it without a word.

use std::net::SocketAddr;
use std::sync::{Arc, Mutex};

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;

/// What to do with the next commit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Cut {
    /// The database never hears of it.
    Before,
    /// The database carries it out, and its answer is lost.
    After,
}

/// A way to a server. Commits are those of PostgreSQL.
#[derive(Debug)]
pub struct Proxy {
    /// Where it listens.
    pub port: u16,
    cut: Arc<Mutex<Option<Cut>>>,
    line: watch::Sender<Line>,
}

/// What becomes of connections.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Line {
    /// They are carried.
    Open,
    /// They are ended, and new ones with them.
    Closed,
    /// They stay, and nothing of what is sent on them arrives; new ones fare the same.
    Dead,
}

impl Proxy {
    /// A way to the server at this address.
    pub async fn to(server: SocketAddr) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
        let port = listener.local_addr().expect("an address").port();
        let cut = Arc::new(Mutex::new(None));
        let (line, lines) = watch::channel(Line::Open);
        let cuts = Arc::clone(&cut);
        tokio::spawn(async move {
            while let Ok((client, _)) = listener.accept().await {
                let (cuts, mut lines) = (Arc::clone(&cuts), lines.clone());
                tokio::spawn(async move {
                    let mut client = client;
                    // Kept to the end: whoever is on the other side is not told either.
                    let mut far = None;
                    if *lines.borrow() == Line::Open {
                        let far = far.insert(TcpStream::connect(server).await.expect("a server"));
                        tokio::select! {
                            _ = carry(&mut client, far, &cuts) => return,
                            _ = lines.wait_for(|line| *line != Line::Open) => {}
                        }
                    }
                    if *lines.borrow() == Line::Dead {
                        // The system takes in what fits and says that it arrived.
                        while client.read(&mut [0; 4096]).await.is_ok_and(|read| read > 0) {}
                    }
                    drop(far);
                });
            }
        });
        Self { port, cut, line }
    }

    /// Cuts the line at the next commit.
    pub fn cut_next_commit(&self, cut: Cut) {
        *self.cut.lock().expect("no panic") = Some(cut);
    }

    /// Whether the line was cut.
    pub fn was_cut(&self) -> bool {
        self.cut.lock().expect("no panic").is_none()
    }

    /// Lets nobody through any more.
    pub fn close(&self) {
        self.line.send_replace(Line::Closed);
    }

    /// Swallows everything from now on, without ending anything.
    pub fn swallow(&self) {
        self.line.send_replace(Line::Dead);
    }

    /// Carries those who connect from now on.
    pub fn carry_new(&self) {
        self.line.send_replace(Line::Open);
    }
}

/// Carries bytes both ways until one side ends or the line is cut.
async fn carry(
    client: &mut TcpStream,
    server: &mut TcpStream,
    cuts: &Mutex<Option<Cut>>,
) -> std::io::Result<()> {
    let (mut asked, mut answered) = (vec![0; 1 << 16], vec![0; 1 << 16]);
    loop {
        tokio::select! {
            read = client.read(&mut asked) => {
                let asked = &asked[..read?];
                if asked.is_empty() {
                    return Ok(());
                }
                let cut = if holds(asked, b"COMMIT\0") { cuts.lock().expect("no panic").take() } else { None };
                if cut == Some(Cut::Before) {
                    return Ok(());
                }
                server.write_all(asked).await?;
                if cut == Some(Cut::After) {
                    let mut answer = Vec::new();
                    while !holds(&answer, b"COMMIT\0") {
                        let read = server.read(&mut answered).await?;
                        answer.extend_from_slice(&answered[..read]);
                    }
                    return Ok(());
                }
            }
            read = server.read(&mut answered) => match read? {
                0 => return Ok(()),
                read => client.write_all(&answered[..read]).await?,
            },
        }
    }
}

fn holds(bytes: &[u8], wanted: &[u8]) -> bool {
    bytes.windows(wanted.len()).any(|window| window == wanted)
}
