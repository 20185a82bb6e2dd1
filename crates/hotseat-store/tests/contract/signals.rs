//! What is told and not kept.

use hotseat_store::{MAX_SIGNAL_BYTES, Store};

use crate::log::{created, id};
use crate::suite;

suite!(a_signal_is_heard_by_whoever_listens_and_by_nobody_later);

async fn a_signal_is_heard_by_whoever_listens_and_by_nobody_later(store: Store) {
    created(&store, 1).await;
    let mut listener = store.signals();
    store.signal(id(1), b"now").unwrap();
    let heard = listener.recv().await.unwrap();
    assert_eq!((heard.session, &*heard.bytes), (id(1), &b"now"[..]));
    assert!(store.signals().try_recv().is_err());
    assert!(store.signal(id(1), &[0; MAX_SIGNAL_BYTES + 1]).is_err());
    assert!(listener.try_recv().is_err());
}
