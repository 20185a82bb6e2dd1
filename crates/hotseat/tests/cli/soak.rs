//! A small crowd for a short while, as `make soak` has a large one for a long while.

use std::time::Duration;

use hotseat_testkit::{Launch, Soak};

use crate::HOTSEAT;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_crowd_is_served_and_loses_nothing_when_the_server_is_killed() {
    let soak = Soak {
        plugins: 20,
        subscribers: 60,
        writers: 10,
        write_every: Duration::from_millis(50),
        answer_every: Duration::from_millis(20),
        warm: Duration::from_secs(1),
        steady: Duration::from_secs(3),
        kills: 2,
        // Too short a while to say that it does not grow, but not too short for a large leak.
        most_growth: 2.0,
    };
    let figures = soak.run(&Launch::new(HOTSEAT)).await;
    for kind in ["append", "hand_off", "stream"] {
        assert!(figures[kind]["count"].as_u64().unwrap() > 20, "{figures}");
    }
}
