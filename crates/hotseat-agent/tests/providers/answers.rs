//! What providers say, as it is heard.

use hotseat_testkit::providers::{Reply, Script, Tokens, Wire};
use serde_json::{Value, json};

use crate::{Seat, conversation, request};

#[tokio::test]
async fn text_is_heard_in_pieces_and_whole() {
    let said = "Grüße aus Köln 🙂, 3 × 4 = 12.";
    for wire in Wire::ALL {
        let seat = Seat::new(wire, [Reply::text(said)]).await;

        let heard = seat.ask(&request("Hello")).await;

        let answer = heard.answer();
        assert_eq!(answer.content, json!({"role": "model", "parts": [{"text": said}]}), "{wire:?}");
        assert_eq!(heard.joined().0, said, "{wire:?}");
        assert!(heard.pieces.len() > 3, "{wire:?} told {} pieces", heard.pieces.len());
        assert_eq!(answer.finish_reason.as_deref(), Some("STOP"), "{wire:?}");
        assert_eq!(answer.model_version.as_deref(), Some("scripted-1"), "{wire:?}");
        assert_eq!((&answer.error_code, &answer.error_message), (&None, &None), "{wire:?}");
    }
}

#[tokio::test]
async fn chunks_may_end_anywhere() {
    let said = "ä🙂\n\n\"data: {}\"\r\n";
    for wire in Wire::ALL {
        for bytes in [1, 2, 3, 64, 100_000] {
            let script = Script::always(Reply::text(said)).in_chunks_of(bytes);
            let heard = Seat::with(wire, script).await.ask(&request("Hello")).await;
            assert_eq!(heard.parts(), [json!({"text": said})], "{wire:?} in chunks of {bytes}");
            assert_eq!(heard.joined().0, said, "{wire:?} in chunks of {bytes}");
        }
    }
}

#[tokio::test]
async fn calls_are_heard_in_pieces_and_whole_with_the_same_ids() {
    let big: Value = serde_json::from_str("123456789012345678901234567890").unwrap();
    for wire in Wire::ALL {
        let reply = Reply::text("Let me see.")
            .and_call("add", json!({"a": big, "b": [1, "zwei"]}))
            .and_call("now", json!({}));
        let seat = Seat::new(wire, [reply]).await;

        let heard = seat.ask(&request("Add")).await;

        let (text, _, pieces) = heard.joined();
        assert_eq!(text, "Let me see.", "{wire:?}");
        assert_eq!(heard.parts().len(), 3, "{wire:?}: {:?}", heard.parts());
        assert_eq!(heard.call(0)["args"], json!({"a": big, "b": [1, "zwei"]}), "{wire:?}");
        assert_eq!(heard.call(1)["args"], json!({}), "{wire:?}");
        assert_eq!(pieces.len(), 2, "{wire:?}");
        for (n, (id, name, args)) in pieces.iter().enumerate() {
            let call = heard.call(n);
            assert_eq!((&call["id"], &call["name"]), (&json!(id), &json!(name)), "{wire:?}");
            assert_eq!(serde_json::from_str::<Value>(args).unwrap(), call["args"], "{wire:?}");
        }
        let own = matches!(wire, Wire::Gemini | Wire::Ollama);
        assert_eq!(pieces[0].0.starts_with("adk-"), own, "{wire:?}: {}", pieces[0].0);
        assert_ne!(pieces[0].0, pieces[1].0, "{wire:?}");
        assert_eq!(heard.answer().finish_reason.as_deref(), Some("STOP"), "{wire:?}");
    }
}

#[tokio::test]
async fn ids_that_a_provider_gives_are_kept() {
    for wire in Wire::ALL {
        let call = Reply::empty().and_signed_call("theirs-1", "add", json!({"a": 1}), "c2ln");
        let heard = Seat::new(wire, [call]).await.ask(&request("Add")).await;
        assert_eq!(heard.call(0)["id"], "theirs-1", "{wire:?}");
    }
}

#[tokio::test]
async fn two_calls_never_share_an_id() {
    for wire in Wire::ALL {
        let twice = Reply::empty()
            .and_signed_call("same", "add", json!({"a": 1}), "c2ln")
            .and_signed_call("same", "add", json!({"a": 2}), "c2ln");
        let heard = Seat::new(wire, [twice]).await.ask(&request("Add")).await;
        assert_ne!(heard.call(0)["id"], heard.call(1)["id"], "{wire:?}");
        assert_eq!(heard.call(1)["args"], json!({"a": 2}), "{wire:?}");
    }
}

#[tokio::test]
async fn thoughts_are_told_apart_from_text() {
    for wire in Wire::ALL {
        let reply = Reply::empty().and_thought("Hm, twelve?", None).and_text("Twelve.");
        let heard = Seat::new(wire, [reply]).await.ask(&request("3 × 4")).await;

        let (text, thought, _) = heard.joined();
        assert_eq!((text.as_str(), thought.as_str()), ("Twelve.", "Hm, twelve?"), "{wire:?}");
        let parts = heard.parts();
        assert_eq!(
            (&parts[0]["text"], &parts[0]["thought"]),
            (&json!("Hm, twelve?"), &json!(true))
        );
        assert_eq!(parts[1], json!({"text": "Twelve."}), "{wire:?}");
    }
}

#[tokio::test]
async fn usage_has_the_names_and_the_meaning_of_adk() {
    let tokens = Tokens { prompt: 100, cached: 60, answer: 20, thoughts: 5 };
    for wire in Wire::ALL {
        let seat = Seat::new(wire, [Reply::text("Hi").costing(tokens)]).await;
        let usage = seat.ask(&request("Hello")).await.answer().usage.clone().unwrap();
        let expected = match wire {
            Wire::OpenAi | Wire::Azure | Wire::Gemini => json!({
                "prompt_token_count": 100, "cached_content_token_count": 60,
                "candidates_token_count": 20, "thoughts_token_count": 5, "total_token_count": 125,
            }),
            // Does not count thoughts apart.
            Wire::Anthropic => json!({
                "prompt_token_count": 100, "cached_content_token_count": 60,
                "candidates_token_count": 25, "total_token_count": 125,
            }),
            Wire::Ollama => json!({
                "prompt_token_count": 100, "candidates_token_count": 25, "total_token_count": 125,
            }),
        };
        assert_eq!(usage, expected, "{wire:?}");
    }
}

#[tokio::test]
async fn an_answer_that_is_cut_short_says_so() {
    for wire in Wire::ALL {
        let heard = Seat::new(wire, [Reply::text("Once upon").cut_short()]).await;
        let heard = heard.ask(&request("A story")).await;
        let answer = heard.answer();
        assert_eq!(answer.finish_reason.as_deref(), Some("MAX_TOKENS"), "{wire:?}");
        assert_eq!(answer.error_code, None, "{wire:?}");
        assert_eq!(heard.parts(), [json!({"text": "Once upon"})], "{wire:?}");
    }
}

#[tokio::test]
async fn an_answer_without_content_is_an_error_with_its_reason() {
    for wire in Wire::ALL {
        let seat = Seat::new(wire, [Reply::empty().cut_short()]).await;
        let heard = seat.ask(&request("A story")).await;
        assert_eq!(heard.answer().error_code.as_deref(), Some("MAX_TOKENS"), "{wire:?}");
        assert_eq!(heard.pieces, [], "{wire:?}");
    }
}

#[tokio::test]
async fn an_empty_answer_is_an_answer() {
    for wire in Wire::ALL {
        let heard = Seat::new(wire, [Reply::empty()]).await.ask(&request("Psst")).await;
        assert_eq!(heard.answer().content, json!({"role": "model", "parts": []}), "{wire:?}");
        assert_eq!(heard.answer().error_code, None, "{wire:?}");
    }
}

#[tokio::test]
async fn a_refusal_is_heard_and_named() {
    for wire in [Wire::OpenAi, Wire::Azure, Wire::Anthropic, Wire::Gemini] {
        let seat = Seat::new(wire, [Reply::empty().and_refusal("I will not.")]).await;
        let heard = seat.ask(&request("Do")).await;
        assert_eq!(heard.joined().0, "I will not.", "{wire:?}");
        assert_eq!(heard.answer().finish_reason.as_deref(), Some("SAFETY"), "{wire:?}");
    }
}

#[tokio::test]
async fn many_answers_come_over_one_model() {
    for wire in Wire::ALL {
        let seat = Seat::with(wire, Script::always(Reply::text("Again"))).await;
        let model = seat.model();
        for _ in 0..3 {
            let answer = model.generate(&conversation(&json!([])), &mut |_| {}).await.unwrap();
            assert_eq!(answer.content["parts"][0]["text"], "Again", "{wire:?}");
        }
        assert_eq!(model.name(), "model-1");
    }
}
