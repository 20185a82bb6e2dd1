//! One question asked again and again over one connection, for `make bench`.
//!
//! `ask URL TOKEN COUNT METHOD PATH [BODY]`: `{id}` in the body becomes a new id each time. A
//! few are asked before the clock runs. Prints one JSON object.

#![expect(clippy::expect_used, clippy::panic, clippy::print_stdout, reason = "a tool of the bench")]

#[path = "bench/plain.rs"]
mod plain;
#[path = "bench/report.rs"]
mod report;

use std::time::Instant;

use self::plain::{Answer, Line};
use self::report::report;

/// Questions before the clock runs.
const WARM_UP: usize = 5;

struct Question<'q> {
    address: &'q str,
    token: &'q str,
    method: &'q str,
    path: &'q str,
    body: &'q str,
}

fn main() {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let [url, token, count, method, path, rest @ ..] = words.as_slice() else {
        panic!("usage: ask URL TOKEN COUNT METHOD PATH [BODY]");
    };
    let address = url.strip_prefix("http://").expect("a plain URL").trim_end_matches('/');
    let body = rest.first().map_or("", String::as_str);
    let question = Question { address, token, method, path, body };
    let count: usize = count.parse().expect("COUNT is a number");
    let mut line = Line::new(address);
    for _ in 0..WARM_UP {
        question.ask(&mut line);
    }
    let began = Instant::now();
    let (mut first, mut whole, mut errors, mut bytes) = (Vec::new(), Vec::new(), 0, 0);
    for _ in 0..count {
        let asked = Instant::now();
        let answer = question.ask(&mut line);
        if answer.ok {
            first.push(answer.first);
            whole.push(asked.elapsed());
            bytes = answer.body.len();
        } else {
            errors += 1;
        }
    }
    let lasted = began.elapsed();
    let mut figures = report(whole, lasted, errors);
    figures["first_p50_ms"] = report(first, lasted, errors)["p50_ms"].take();
    figures["bytes"] = bytes.into();
    println!("{figures}");
}

impl Question<'_> {
    fn ask(&self, line: &mut Line) -> Answer {
        let Self { address, token, method, path, body } = self;
        let body = body.replace("{id}", &uuid::Uuid::new_v4().to_string());
        let request = format!(
            "{method} {path} HTTP/1.1\r\nhost: {address}\r\nauthorization: Bearer {token}\r\n\
             content-type: application/json\r\ncontent-length: {}\r\n\r\n{body}",
            body.len()
        );
        line.ask(request.as_bytes())
    }
}
