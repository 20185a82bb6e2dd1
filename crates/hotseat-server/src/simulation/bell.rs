//! Knowing that somebody was woken, and waiting for it without letting anybody else on.

use std::sync::{Arc, Condvar, Mutex};
use std::task::{Context, Poll, Wake, Waker};

use tokio::task::unconstrained;

/// Notes that somebody was woken.
#[derive(Debug, Default)]
pub(super) struct Bell {
    rung: Mutex<bool>,
    rings: Condvar,
}

impl Wake for Bell {
    fn wake(self: Arc<Self>) {
        *self.rung.lock().unwrap() = true;
        self.rings.notify_one();
    }
}

impl Bell {
    pub(super) fn is_rung(&self) -> bool {
        *self.rung.lock().unwrap()
    }

    pub(super) fn silence(&self) {
        *self.rung.lock().unwrap() = false;
    }

    /// Waits, with the whole thread, so that no virtual time passes.
    pub(super) fn wait(&self) {
        let rung = self.rung.lock().unwrap();
        drop(self.rings.wait_while(rung, |rung| !*rung).unwrap());
    }
}

/// What `future` gives, without letting anybody else on.
pub(super) fn at_once<T>(future: impl Future<Output = T>) -> T {
    let bell = Arc::new(Bell::default());
    let waker = Waker::from(Arc::clone(&bell));
    let mut future = Box::pin(unconstrained(future));
    loop {
        bell.silence();
        if let Poll::Ready(given) = future.as_mut().poll(&mut Context::from_waker(&waker)) {
            return given;
        }
        bell.wait();
    }
}
