//! Many connections of one thread, each with one question at a time over HTTP/1.1.
//!
//! A thread for every connection would measure how fast the machine changes between them: here
//! one looks after all of them, as a server does, and costs little beside the one it measures.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::io::{ErrorKind, Read as _, Write as _};
use std::net::SocketAddr;
use std::os::fd::{AsRawFd as _, OwnedFd};
use std::time::{Duration, Instant};

use mio::net::TcpStream;
use mio::unix::SourceFd;
use mio::{Events, Interest, Poll, Token};
use rustix::time::{
    Itimerspec, TimerfdClockId, TimerfdFlags, TimerfdTimerFlags, Timespec, timerfd_create,
    timerfd_settime,
};

/// Bytes that are read at once: more than most answers have.
const READ: usize = 16 * 1024;

/// The clock among the connections.
const CLOCK: Token = Token(usize::MAX);

/// What came back.
pub(crate) struct Answer<'a> {
    /// Whether it says that all went well.
    pub(crate) ok: bool,
    /// When the question was sent.
    pub(crate) asked: Instant,
    /// When the body began.
    pub(crate) first: Instant,
    pub(crate) body: &'a [u8],
}

/// What a client asks next.
pub(crate) struct Question {
    pub(crate) bytes: Vec<u8>,
    /// It is not sent before this time.
    pub(crate) due: Option<Instant>,
}

/// What all clients do.
pub(crate) trait Clients {
    /// What the client of this number asks next; nothing, if it has ended.
    fn next(&mut self, client: usize) -> Option<Question>;
    /// Its question was answered.
    fn answered(&mut self, client: usize, answer: &Answer<'_>);
}

/// One connection.
struct Line {
    stream: TcpStream,
    asked: Instant,
    first: Option<Instant>,
    /// Room for what comes, which is kept: to clear it for every read would cost more than reading.
    room: Vec<u8>,
    came: usize,
}

/// Connections that were made.
pub(crate) struct Lines {
    poll: Poll,
    clock: OwnedFd,
    all: Vec<Line>,
}

impl Lines {
    /// Connects to each of the addresses.
    pub(crate) fn new(addresses: &[SocketAddr]) -> Self {
        let poll = Poll::new().expect("a poll");
        let clock = timerfd_create(TimerfdClockId::Monotonic, TimerfdFlags::NONBLOCK);
        let clock = clock.expect("a clock");
        let descriptor = clock.as_raw_fd();
        poll.registry()
            .register(&mut SourceFd(&descriptor), CLOCK, Interest::READABLE)
            .expect("a clock that can be waited for");
        let mut lines: Vec<Line> = addresses.iter().map(|address| Line::new(*address)).collect();
        for (client, line) in lines.iter_mut().enumerate() {
            poll.registry()
                .register(&mut line.stream, Token(client), Interest::READABLE)
                .expect("a socket that can be waited for");
        }
        Self { poll, clock, all: lines }
    }
}

/// Lets a client speak over each of the connections until all of them have ended.
pub(crate) fn talk(lines: &mut Lines, clients: &mut impl Clients) {
    let Lines { poll, clock, all: lines } = lines;
    let mut waiting = BinaryHeap::new();
    let mut questions: Vec<Vec<u8>> = vec![Vec::new(); lines.len()];
    let mut ready: Vec<usize> = (0..lines.len()).collect();
    let mut open = lines.len();
    let mut events = Events::with_capacity(lines.len() + 1);
    let mut set = None;
    while open > 0 {
        let now = Instant::now();
        for client in ready.drain(..) {
            match clients.next(client) {
                Some(Question { bytes, due: Some(due) }) if due > now => {
                    questions[client] = bytes;
                    waiting.push(Reverse((due, client)));
                }
                Some(Question { bytes, .. }) => lines[client].ask(&bytes),
                None => open -= 1,
            }
        }
        while let Some(Reverse((due, client))) = waiting.peek().copied()
            && due <= now
        {
            waiting.pop();
            lines[client].ask(&questions[client]);
        }
        if open == 0 {
            break;
        }
        let next = waiting.peek().map(|Reverse((due, _))| *due);
        if let Some(due) = next
            && set != next
        {
            // Finer than the milliseconds that a poll itself can wait for.
            let timer = in_time(due.saturating_duration_since(now));
            timerfd_settime(&*clock, TimerfdTimerFlags::empty(), &timer).expect("a clock");
            set = next;
        }
        poll.poll(&mut events, None).expect("a poll");
        for event in &events {
            if event.token() == CLOCK {
                set = None;
                continue;
            }
            let client = event.token().0;
            if let Some(answer) = lines[client].hear() {
                clients.answered(client, &answer);
                ready.push(client);
            }
        }
    }
}

fn in_time(wait: Duration) -> Itimerspec {
    let nothing = Timespec { tv_sec: 0, tv_nsec: 0 };
    // No time at all would stop the clock.
    let wait = wait.max(Duration::from_nanos(1));
    let tv_sec = i64::try_from(wait.as_secs()).expect("soon");
    let value = Timespec { tv_sec, tv_nsec: wait.subsec_nanos().into() };
    Itimerspec { it_interval: nothing, it_value: value }
}

impl Line {
    fn new(address: SocketAddr) -> Self {
        let stream = std::net::TcpStream::connect(address).expect("the server listens");
        stream.set_nodelay(true).expect("a socket");
        stream.set_nonblocking(true).expect("a socket");
        let stream = TcpStream::from_std(stream);
        Self { stream, asked: Instant::now(), first: None, room: vec![0; READ], came: 0 }
    }

    fn ask(&mut self, question: &[u8]) {
        (self.asked, self.first) = (Instant::now(), None);
        self.came = 0;
        let sent = self.stream.write(question).expect("the server reads");
        assert_eq!(sent, question.len(), "a question has room in a socket");
    }

    /// Reads what there is, and gives the answer if that was all of it.
    fn hear(&mut self) -> Option<Answer<'_>> {
        loop {
            if self.room.len() == self.came {
                self.room.resize(self.came * 2, 0);
            }
            match self.stream.read(&mut self.room[self.came..]) {
                Ok(0) => panic!("the server closed a connection"),
                Ok(read) => self.came += read,
                Err(error) if error.kind() == ErrorKind::WouldBlock => break,
                Err(error) => panic!("the server does not answer: {error}"),
            }
            // There was less than there was room for: that was all.
            if self.came < self.room.len() {
                break;
            }
        }
        let came = &self.room[..self.came];
        let head = memchr::memmem::find(came, b"\r\n\r\n")? + 4;
        if came.len() > head {
            self.first.get_or_insert_with(Instant::now);
        }
        let whole = match length(&came[..head]) {
            Some(length) => came.len() >= head + length,
            // The last piece is empty, and trailers may follow it.
            None => is_last(&came[head..]),
        };
        let body = &came[head..];
        let first = self.first.unwrap_or_else(Instant::now);
        let ok = came.starts_with(b"HTTP/1.1 2");
        whole.then_some(Answer { ok, asked: self.asked, first, body })
    }
}

/// What a head says of the length of its body; none if that comes in pieces.
fn length(head: &[u8]) -> Option<usize> {
    let head = std::str::from_utf8(head).expect("a head of letters");
    head.lines().find_map(|line| {
        let (name, value) = line.split_once(':')?;
        name.eq_ignore_ascii_case("content-length").then(|| value.trim().parse().ok())?
    })
}

/// Whether pieces of a body are all there.
fn is_last(mut pieces: &[u8]) -> bool {
    while let Some(line) = memchr::memmem::find(pieces, b"\r\n") {
        let size = std::str::from_utf8(&pieces[..line]).expect("the size of a piece");
        let size = usize::from_str_radix(size, 16).expect("the size of a piece");
        if size == 0 {
            return pieces.ends_with(b"\r\n\r\n");
        }
        let end = line + 2 + size + 2;
        if pieces.len() < end {
            return false;
        }
        pieces = &pieces[end..];
    }
    false
}
