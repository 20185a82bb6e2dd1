//! A long soak of the real program, for `make soak`.
//!
//! `soak BINARY`: the size of the crowd and how long it stays come from the environment, see the
//! list below. `SOAK_STORE=postgres` keeps the log in a PostgreSQL of its own. Prints one JSON
//! object, and fails where something was lost or memory grew.

#![expect(clippy::expect_used, clippy::print_stdout, reason = "a tool for people")]

use std::time::Duration;

use hotseat_testkit::{Launch, LoneDatabase, Soak};

fn number(name: &str, otherwise: usize) -> usize {
    let text = std::env::var(name).ok();
    text.map_or(otherwise, |text| text.parse().expect("a number in the environment"))
}

#[tokio::main]
async fn main() {
    let binary = std::env::args().nth(1).expect("usage: soak BINARY");
    let minutes = number("SOAK_MINUTES", 10) as u64;
    let soak = Soak {
        plugins: number("SOAK_PLUGINS", 1_000),
        subscribers: number("SOAK_SUBSCRIBERS", 5_000),
        writers: number("SOAK_WRITERS", 200),
        write_every: Duration::from_secs(2),
        answer_every: Duration::from_millis(20),
        warm: Duration::from_secs(30),
        steady: Duration::from_secs(minutes * 60),
        kills: number("SOAK_KILLS", 5),
        most_growth: 1.25,
    };
    let mut launch = Launch::new(&binary);
    let database = std::env::var("SOAK_STORE").is_ok_and(|store| store == "postgres");
    let database = database.then(LoneDatabase::start);
    if let Some(database) = &database {
        launch = launch.argument(format!("--store={}", database.url()));
    }
    println!("{:#}", soak.run(&launch).await);
}
