//! A model provider that always says the same, for benchmarks and by hand.
//!
//! `provider [--port N] [--text TEXT] [--chunk BYTES]` prints its URL and serves
//! the five wire formats until it is stopped.

#![expect(clippy::expect_used, clippy::panic, clippy::print_stdout, reason = "a tool of the bench")]

use std::net::SocketAddr;

use hotseat_testkit::providers::{Provider, Reply, Script};

const USAGE: &str = "usage: provider [--port N] [--text TEXT] [--chunk BYTES]";

#[tokio::main]
async fn main() {
    let (mut port, mut text, mut chunk) = (0_u16, "Hello.".to_owned(), 4_096_usize);
    let mut words = std::env::args().skip(1);
    while let Some(word) = words.next() {
        let value = words.next().unwrap_or_else(|| panic!("{word} needs a value; {USAGE}"));
        match word.as_str() {
            "--port" => port = value.parse().expect("--port is a number"),
            "--text" => text = value,
            "--chunk" => chunk = value.parse().expect("--chunk is a number"),
            _ => panic!("unknown {word}; {USAGE}"),
        }
    }
    let script = Script::always(Reply::text(&text)).in_chunks_of(chunk);
    let provider = Provider::start_on(SocketAddr::from(([127, 0, 0, 1], port)), script).await;
    println!("{}", provider.url);
    tokio::signal::ctrl_c().await.expect("a signal can be waited for");
}
