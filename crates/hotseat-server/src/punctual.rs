//! How a connection begins: in time, and with which protocol.
//!
//! Which protocol somebody speaks is told by the first bytes, and whoever waits for those waits
//! without an end, unless there is a deadline. What comes behind them is timed by the protocol.
//!
//! The bytes that told it are given on together with what follows them. hyper's own detection
//! gives them on alone, and the buffer of every connection then grows to twice its size for the
//! second piece of a head that would have fitted.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWrite, ReadBuf};

/// How HTTP/2 begins. A request of HTTP/1 is known by fewer.
const PREFACE: &[u8; 24] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";

/// What somebody speaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Version {
    One,
    Two,
}

/// A connection whose first bytes were read, and are read again.
pub(crate) struct Begun<T> {
    connection: T,
    first: [u8; PREFACE.len()],
    /// What is left of them.
    from: usize,
    to: usize,
}

impl<T: AsyncRead + Unpin> Begun<T> {
    /// Waits for the first bytes; fails if they do not come in time.
    pub(crate) async fn new(mut connection: T, within: Duration) -> io::Result<(Self, Version)> {
        let (mut first, mut to) = ([0; PREFACE.len()], 0);
        let told = async {
            loop {
                let read = connection.read(&mut first[to..]).await?;
                to += read;
                // Who ends so early speaks nothing; HTTP/1 finds that out.
                if read == 0 || first[..to] != PREFACE[..to] {
                    return Ok::<_, io::Error>(Version::One);
                }
                if to == PREFACE.len() {
                    return Ok(Version::Two);
                }
            }
        };
        let version = match tokio::time::timeout(within, told).await {
            Ok(version) => version?,
            Err(_) => return Err(io::ErrorKind::TimedOut.into()),
        };
        Ok((Self { connection, first, from: 0, to }, version))
    }
}

impl<T: AsyncRead + Unpin> AsyncRead for Begun<T> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        if self.from == self.to {
            return Pin::new(&mut self.connection).poll_read(context, buffer);
        }
        let count = buffer.remaining().min(self.to - self.from);
        buffer.put_slice(&self.first[self.from..self.from + count]);
        self.from += count;
        if self.from == self.to && buffer.remaining() > 0 {
            // An error comes again with the next read, and what waits wakes it.
            let _ = Pin::new(&mut self.connection).poll_read(context, buffer);
        }
        Poll::Ready(Ok(()))
    }
}

impl<T: AsyncWrite + Unpin> AsyncWrite for Begun<T> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.connection).poll_write(context, bytes)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        pieces: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.connection).poll_write_vectored(context, pieces)
    }

    fn is_write_vectored(&self) -> bool {
        self.connection.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.connection).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.connection).poll_shutdown(context)
    }
}

#[cfg(test)]
mod tests {
    use tokio::io::AsyncWriteExt as _;

    use super::*;

    const PATIENCE: Duration = Duration::from_secs(10);

    #[tokio::test]
    async fn the_first_bytes_tell_the_protocol_and_come_with_what_follows() {
        let (one, two) =
            ("GET / HTTP/1.1\r\nhost: here\r\n\r\n", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\nmore");
        for (said, expected) in [
            (one, Version::One),
            (two, Version::Two),
            ("PRI * HTTP/1", Version::One),
            ("", Version::One),
        ] {
            let (mut client, server) = tokio::io::duplex(64);
            client.write_all(said.as_bytes()).await.unwrap();
            client.shutdown().await.unwrap();
            let (mut begun, version) = Begun::new(server, PATIENCE).await.unwrap();
            assert_eq!(version, expected, "{said}");
            let mut first = [0; 64];
            let count = begun.read(&mut first).await.unwrap();
            assert_eq!(&first[..count], said.as_bytes(), "in one piece");
        }
    }

    #[tokio::test]
    async fn bytes_that_come_one_by_one_tell_it_too() {
        let (mut client, server) = tokio::io::duplex(1);
        let said = async {
            for byte in PREFACE {
                client.write_all(&[*byte]).await.unwrap();
            }
        };
        let (begun, ()) = tokio::join!(Begun::new(server, PATIENCE), said);
        let (mut begun, version) = begun.unwrap();
        assert_eq!(version, Version::Two);
        let mut piece = [0; 10];
        begun.read_exact(&mut piece).await.unwrap();
        assert_eq!(piece, PREFACE[..10]);
    }

    #[tokio::test(start_paused = true)]
    async fn who_begins_too_late_is_refused() {
        let (_client, server) = tokio::io::duplex(1);
        let refused = Begun::new(server, PATIENCE).await.err().unwrap();
        assert_eq!(refused.kind(), io::ErrorKind::TimedOut);
    }
}
