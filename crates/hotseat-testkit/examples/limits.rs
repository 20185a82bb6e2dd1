//! What this machine can do without us: the limits that `make bench` measures beside Hotseat.
//!
//! `limits disk FOLDER`: one durable write of an event, with nothing around it.
//! `limits sqlite FOLDER SECONDS ROWS SESSIONS [COMMITS]`: our tables through one writer, ROWS events
//! of so many sessions in a commit, and no more commits than that.
//! `limits events FOLDER SECONDS ROWS`: our table of events alone, without what leads to them.
//! `limits read FOLDER ROWS TIMES`: the same rows read again.
//! `limits scan FILE`: a look for quotes, and a pass that checks, over the bytes of a JSON file.
//! `limits rewrite FILE`: one parse and one durable write of a file, which takes its place.
//! `limits serve`: an empty handler, empty streams and an empty gRPC call, until stdin ends.
//! `limits least FOLDER`: the least server whose answers are durable, until stdin ends.
//! `limits least-of-several URL`: one of several such servers over a PostgreSQL, until stdin ends.
//!
//! Each prints one JSON object.

#![expect(clippy::expect_used, clippy::panic, clippy::print_stdout, reason = "a tool of the bench")]

#[path = "bench/cost.rs"]
mod cost;
#[path = "bench/limits/disk.rs"]
mod disk;
#[path = "bench/limits/json.rs"]
mod json;
#[path = "bench/limits/least.rs"]
mod least;
#[path = "bench/limits/net.rs"]
mod net;
#[path = "bench/report.rs"]
mod report;
#[path = "bench/sample.rs"]
mod sample;
#[path = "bench/limits/shared.rs"]
mod shared;
#[path = "bench/limits/sqlite.rs"]
mod sqlite;
#[path = "bench/limits/turns.rs"]
mod turns;

use std::path::Path;

use self::sqlite::{File, Rows};

const USAGE: &str = "usage: limits disk FOLDER | sqlite FOLDER SECONDS ROWS SESSIONS [COMMITS] | \
    events FOLDER SECONDS ROWS | read FOLDER ROWS TIMES | scan FILE | rewrite FILE | serve | least FOLDER | \
    least-of-several URL";

fn main() {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let number = |word: &str| word.parse::<usize>().expect("a number");
    let figures = match words.as_slice() {
        ["disk", folder] => disk::sync(Path::new(folder)),
        ["sqlite", folder, seconds, rows, sessions, rest @ ..] => {
            let commits = rest.first().map_or(usize::MAX, |word| number(word));
            let file = File::open(Path::new(folder), Rows::All, number(sessions));
            sqlite::write(file, number(seconds), number(rows), commits)
        }
        ["events", folder, seconds, rows] => {
            let file = File::open(Path::new(folder), Rows::Events, 1);
            sqlite::write(file, number(seconds), number(rows), usize::MAX)
        }
        ["read", folder, rows, times] => {
            sqlite::read(Path::new(folder), number(rows), number(times))
        }
        ["scan", file] => json::scan(Path::new(file)),
        ["rewrite", file] => json::rewrite(Path::new(file)),
        ["serve"] => return net::serve_nothing(),
        ["least", folder] => return least::serve(Path::new(folder)),
        ["least-of-several", url] => return shared::serve(url),
        _ => panic!("{USAGE}"),
    };
    println!("{figures}");
}
