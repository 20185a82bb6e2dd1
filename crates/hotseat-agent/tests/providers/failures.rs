//! Providers that refuse, break off, fall silent or talk nonsense.

use std::time::{Duration, Instant};

use hotseat_agent::ModelError;
use hotseat_testkit::providers::{Reply, Script, Wire};
use serde_json::json;

use crate::{KEY, Seat, request};

#[tokio::test]
async fn a_refusal_names_the_provider_the_status_and_the_reason() {
    for wire in Wire::ALL {
        let seat = Seat::new(wire, [Reply::refuse(403, "not with this key")]).await;
        let heard = seat.ask(&request("Hello")).await;
        let error = heard.error();
        assert!(matches!(error, ModelError::Refused { status: 403, .. }), "{wire:?}: {error}");
        let text = error.to_string();
        let provider = crate::kind(wire).name();
        assert!(text.starts_with(&format!("{provider} answered 403: not with this key")), "{text}");
        assert!(!error.retryable(), "{wire:?}");
        assert_eq!(seat.provider.asked().len(), 1, "{wire:?}");
    }
}

#[tokio::test]
async fn passing_failures_are_retried() {
    for wire in Wire::ALL {
        let replies = [
            Reply::refuse(429, "slow down").retry_after("0"),
            Reply::refuse(503, "overloaded").retry_after("0"),
            Reply::text("Here I am."),
        ];
        let seat = Seat::new(wire, replies).await;
        let heard = seat.ask(&request("Hello")).await;
        assert_eq!(heard.joined().0, "Here I am.", "{wire:?}");
        assert_eq!(seat.provider.asked().len(), 3, "{wire:?}");
    }
}

#[tokio::test]
async fn retries_end() {
    for wire in Wire::ALL {
        let refusals = Script::always(Reply::refuse(500, "broken").retry_after("0"));
        let mut seat = Seat::with(wire, refusals).await;
        seat.spec.retries = 2;
        let heard = seat.ask(&request("Hello")).await;
        assert!(matches!(heard.error(), ModelError::Refused { status: 500, .. }), "{wire:?}");
        assert!(heard.error().retryable(), "{wire:?}");
        assert_eq!(seat.provider.asked().len(), 3, "{wire:?}");
    }
}

#[tokio::test]
async fn a_provider_that_names_a_time_is_left_alone_until_then() {
    let replies = [Reply::refuse(429, "slow down").retry_after("1"), Reply::text("Yes?")];
    let seat = Seat::new(Wire::OpenAi, replies).await;
    let began = Instant::now();
    seat.ask(&request("Hello")).await.answer();
    assert!(began.elapsed() >= Duration::from_secs(1), "{:?}", began.elapsed());
}

#[tokio::test]
async fn a_provider_that_is_out_for_hours_is_not_waited_for() {
    let seat = Seat::new(Wire::OpenAi, [Reply::refuse(429, "quota").retry_after("7200")]).await;
    let heard = seat.ask(&request("Hello")).await;
    let ModelError::Refused { retry_after, .. } = heard.error() else {
        panic!("{}", heard.error())
    };
    assert_eq!(*retry_after, Some(Duration::from_hours(2)));
    assert_eq!(seat.provider.asked().len(), 1);
}

#[tokio::test]
async fn a_connection_that_breaks_before_the_first_piece_is_tried_again() {
    for wire in Wire::ALL {
        let seat = Seat::new(wire, [Reply::empty().then_cut(), Reply::text("Sorry.")]).await;
        let heard = seat.ask(&request("Hello")).await;
        assert_eq!(heard.joined().0, "Sorry.", "{wire:?}");
    }
}

#[tokio::test]
async fn what_was_told_is_never_told_anew() {
    for wire in Wire::ALL {
        let replies = [Reply::text("Once upon a").then_cut(), Reply::text("Twice")];
        let seat = Seat::new(wire, replies).await;
        let heard = seat.ask(&request("A story")).await;
        assert!(matches!(heard.error(), ModelError::Unreachable { .. }), "{wire:?}");
        assert_eq!(heard.joined().0, "Once upon a", "{wire:?}");
        assert_eq!(seat.provider.asked().len(), 1, "{wire:?}");
    }
}

#[tokio::test]
async fn silence_ends_an_answer() {
    for wire in Wire::ALL {
        let mut seat = Seat::new(wire, [Reply::text("Hm").then_held()]).await;
        seat.spec.idle_timeout = Duration::from_millis(200);
        let heard = seat.ask(&request("Hello")).await;
        let error = heard.error();
        assert!(matches!(error, ModelError::Stalled { .. }), "{wire:?}: {error}");
        assert!(error.to_string().contains("sent nothing for 200ms"), "{error}");
        seat.provider.until_hung_up(1).await;
    }
}

#[tokio::test]
async fn an_answer_that_takes_too_long_ends() {
    for wire in Wire::ALL {
        let mut seat = Seat::new(wire, [Reply::text("Hm").then_held()]).await;
        // Long before the silence itself would be too long.
        seat.spec.timeout = Duration::from_millis(300);
        let heard = seat.ask(&request("Hello")).await;
        assert!(matches!(heard.error(), ModelError::TimedOut { .. }), "{}", heard.error());
        seat.provider.until_hung_up(1).await;
    }
}

#[tokio::test]
async fn without_the_time_to_ask_again_the_refusal_is_told() {
    let refusals = Script::always(Reply::refuse(503, "busy").retry_after("30"));
    let seat = Seat::with(Wire::OpenAi, refusals).await;
    let began = Instant::now();
    let heard = seat.ask(&request("Hello")).await;
    assert!(matches!(heard.error(), ModelError::Refused { status: 503, .. }), "{}", heard.error());
    assert!(began.elapsed() < Duration::from_secs(15), "{:?}", began.elapsed());
}

#[tokio::test]
async fn a_held_answer_goes_on_when_it_is_released() {
    let hello = request("Hello");
    for wire in Wire::ALL {
        let seat = Seat::new(wire, [Reply::text("Hm").then_held()]).await;
        let (heard, ()) = tokio::join!(seat.ask(&hello), async {
            seat.provider.until_held(1).await;
            seat.provider.release();
        });
        assert_eq!(heard.parts(), [json!({"text": "Hm"})], "{wire:?}");
    }
}

#[tokio::test]
async fn nonsense_is_named_and_not_retried() {
    for wire in Wire::ALL {
        let seat = Seat::new(wire, [Reply::empty().then_malformed()]).await;
        let heard = seat.ask(&request("Hello")).await;
        let error = heard.error();
        assert!(matches!(error, ModelError::Unreadable { .. }), "{wire:?}: {error}");
        let text = error.to_string();
        assert!(text.starts_with(crate::kind(wire).name()) && text.contains("{\"broken"), "{text}");
        assert_eq!(seat.provider.asked().len(), 1, "{wire:?}");
    }
}

#[tokio::test]
async fn a_page_in_place_of_an_answer_is_shown() {
    for wire in Wire::ALL {
        let seat = Seat::new(wire, [Reply::page("<html>Please log in")]).await;
        let heard = seat.ask(&request("Hello")).await;
        let error = heard.error();
        assert!(matches!(error, ModelError::Unreadable { .. }), "{wire:?}: {error}");
        assert!(error.to_string().contains("<html>Please log in"), "{wire:?}: {error}");
    }
}

#[tokio::test]
async fn a_failure_inside_an_answer_is_a_refusal() {
    for wire in Wire::ALL {
        let failing = Reply::text("Well").then_fails(529, "overloaded in between");
        let seat = Seat::new(wire, [failing]).await;
        let heard = seat.ask(&request("Hello")).await;
        let ModelError::Refused { status, message, .. } = heard.error() else {
            panic!("{wire:?}: {}", heard.error())
        };
        assert_eq!(*status, if wire == Wire::Ollama { 500 } else { 529 }, "{wire:?}");
        assert!(message.contains("overloaded in between"), "{wire:?}: {message}");
    }
}

#[tokio::test]
async fn arguments_that_are_cut_short_are_not_called() {
    for wire in [Wire::OpenAi, Wire::Azure, Wire::Anthropic] {
        let call = Reply::call("add", json!({"a": 1, "b": 2})).cut_short();
        let heard = Seat::new(wire, [call]).await.ask(&request("Add")).await;
        let answer = heard.answer();
        assert_eq!(answer.error_code.as_deref(), Some("MAX_TOKENS"), "{wire:?}");
        assert!(answer.error_message.as_ref().unwrap().contains("`add`"), "{wire:?}");
        assert!(heard.parts().is_empty(), "{wire:?}");
    }
}

#[tokio::test]
async fn arguments_that_are_no_object_are_named() {
    let seat = Seat::new(Wire::OpenAi, [Reply::call("add", json!([1, 2]))]).await;
    let heard = seat.ask(&request("Add")).await;
    assert!(heard.error().to_string().contains("the arguments of `add` are no object: [1,2]"));
}

#[tokio::test]
async fn the_key_is_in_no_error() {
    for wire in Wire::ALL {
        let echo = format!("bad key {KEY}");
        let seat =
            Seat::new(wire, [Reply::refuse(401, &echo), Reply::text("a").then_fails(400, &echo)])
                .await;
        for _ in 0..2 {
            let heard = seat.ask(&request("Hello")).await;
            let error = format!("{} {:?}", heard.error(), heard.error());
            assert!(error.contains("bad key ***") && !error.contains(KEY), "{wire:?}: {error}");
        }
    }
}

#[tokio::test]
async fn a_provider_that_is_not_there_is_unreachable() {
    for wire in Wire::ALL {
        let mut seat = Seat::new(wire, []).await;
        // Nothing can listen on port 0.
        seat.spec.endpoint = Some("http://127.0.0.1:0".to_owned());
        seat.spec.retries = 0;
        let heard = seat.ask(&request("Hello")).await;
        let error = heard.error();
        assert!(matches!(error, ModelError::Unreachable { .. }) && error.retryable(), "{error}");
    }
}

#[tokio::test]
async fn a_provider_that_does_not_speak_tls_is_unreachable() {
    let mut seat = Seat::new(Wire::OpenAi, []).await;
    seat.spec.endpoint = Some(seat.provider.endpoint(Wire::OpenAi).replace("http:", "https:"));
    seat.spec.retries = 0;
    let heard = seat.ask(&request("Hello")).await;
    assert!(matches!(heard.error(), ModelError::Unreachable { .. }), "{}", heard.error());
    assert!(seat.provider.asked().is_empty());
}

#[tokio::test]
async fn who_stops_listening_hangs_up() {
    for wire in Wire::ALL {
        let seat = Seat::new(wire, [Reply::text("Hm").then_held()]).await;
        let (model, request) = (seat.model(), request("Hello"));
        let asking = tokio::spawn(async move { model.generate(&request, &mut |_| {}).await });
        seat.provider.until_held(1).await;
        asking.abort();
        seat.provider.until_hung_up(1).await;
    }
}
