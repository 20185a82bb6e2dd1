//! Payloads are kept byte for byte.

use hotseat_core::{Kind, NewEvent};
use hotseat_store::Store;

use crate::log::{append, created, event, id, log, raw, turn};
use crate::suite;

suite!(payloads_are_kept_byte_for_byte, every_field_of_an_event_comes_back);

/// JSON that a parser would write differently.
const ODD: &[&str] = &[
    r#"{"author":"root","unknownField":{"nested":[1,2,{"deep":null}]}}"#,
    r#"{"z":1,"a":2,"m":3,"A":4}"#,
    r#"{"big":1180591620717411303424,"negative":-99999999999999999999999999,"n":12345678901234567890}"#,
    r#"{"float":1.0,"exponent":1E+400,"tiny":1e-999,"zero":-0,"trailing":1.50000}"#,
    "{ \"a\" :\t1 ,\n\r\n \"b\":  [ ]  }",
    r#"{"escaped":"\u00e4\u0000\u001f\/\ud83d\ude00","plain":"ä😀"}"#,
    r#"{"same":1,"same":2}"#,
    r#"{"":"","quote":"\"","html":"</script>&amp;'; DROP TABLE events; --"}"#,
    "[]",
    "null",
    "\"text\"",
];

async fn payloads_are_kept_byte_for_byte(store: Store) {
    created(&store, 1).await;
    let events: Vec<_> = ODD
        .iter()
        .enumerate()
        .map(|(n, json)| NewEvent { payload: raw(json), ..event(&n.to_string()) })
        .collect();
    append(&store, id(1), events).await;
    let kept = log(&store, id(1)).await;
    let kept: Vec<_> = kept.iter().map(|event| event.payload.get()).collect();
    assert_eq!(kept, ODD);
}

async fn every_field_of_an_event_comes_back(store: Store) {
    created(&store, 1).await;
    let given = NewEvent {
        kind: Kind::Request,
        turn_id: Some(turn(1)),
        invocation_id: Some("e-ü\u{0}1".to_owned()),
        author: "Zoë 'the' \"author\"".to_owned(),
        agent_name: String::new(),
        branch: Some("root.child".to_owned()),
        parent_call_id: Some("adk-1".to_owned()),
        ..event("id with spaces\n")
    };
    append(&store, id(1), vec![given.clone()]).await;
    let kept = log(&store, id(1)).await.remove(0);
    assert_eq!(format!("{:?}", kept.entry), format!("{given:?}"));
    assert_eq!((kept.session_id, kept.seq.get()), (id(1), 1));
}
