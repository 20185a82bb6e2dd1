//! HTTP/1.1 over a plain socket, for programs that share a machine with the server they
//! measure and should cost little.

use std::io::{BufRead, BufReader, Write as _};
use std::net::TcpStream;
use std::time::{Duration, Instant};

/// A connection that is kept.
pub(crate) struct Line {
    reader: BufReader<TcpStream>,
    text: String,
}

/// What came back.
pub(crate) struct Answer {
    /// Whether it says that all went well.
    pub(crate) ok: bool,
    /// When the body began.
    pub(crate) first: Duration,
    pub(crate) body: Vec<u8>,
}

impl Line {
    /// Connects to `host:port`.
    pub(crate) fn new(address: &str) -> Self {
        let stream = TcpStream::connect(address).expect("the server listens");
        stream.set_nodelay(true).expect("a socket");
        Self { reader: BufReader::new(stream), text: String::new() }
    }

    /// Sends a request and reads its answer to the end.
    pub(crate) fn ask(&mut self, request: &[u8]) -> Answer {
        let began = Instant::now();
        self.reader.get_mut().write_all(request).expect("the server reads");
        let (mut ok, mut length) = (false, None);
        while let Some(line) = self.line() {
            ok |= line.starts_with("HTTP/1.1 2");
            let (name, value) = line.split_once(':').unwrap_or_default();
            if name.eq_ignore_ascii_case("content-length") {
                length = value.trim().parse::<usize>().ok();
            }
        }
        let mut body = Vec::new();
        if let Some(length) = length {
            self.take(&mut body, length);
            return Answer { ok, first: began.elapsed(), body };
        }
        let mut first = None;
        loop {
            let size = self.line().and_then(|size| usize::from_str_radix(size, 16).ok());
            let size = size.expect("the size of a chunk");
            if size == 0 {
                // Trailers, if there are any, and an empty line.
                while self.line().is_some() {}
                return Answer { ok, first: first.unwrap_or_default(), body };
            }
            self.take(&mut body, size);
            assert!(self.line().is_none(), "a chunk ends with its line");
            first.get_or_insert_with(|| began.elapsed());
        }
    }

    /// The next line, unless it is empty.
    fn line(&mut self) -> Option<&str> {
        self.text.clear();
        self.reader.read_line(&mut self.text).expect("the server answers");
        Some(self.text.trim_end()).filter(|line| !line.is_empty())
    }

    fn take(&mut self, body: &mut Vec<u8>, bytes: usize) {
        let begin = body.len();
        body.resize(begin + bytes, 0);
        std::io::Read::read_exact(&mut self.reader, &mut body[begin..]).expect("the whole answer");
    }
}
