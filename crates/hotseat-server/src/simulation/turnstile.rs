//! Where calls of the database wait until the stage lets them through.

use std::any::Any;
use std::pin::Pin;
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll};

use hotseat_store::Gate;

use super::world::actor;

/// Where an actor's call of the database stands.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Pass {
    pub(super) waiting: bool,
    pub(super) granted: bool,
    pub(super) in_flight: bool,
}

/// The gate of all servers: one place for each actor.
#[derive(Debug, Clone, Default)]
pub(super) struct Turnstile(Arc<Mutex<Vec<Pass>>>);

impl Turnstile {
    /// Has a place for each of so many.
    pub(super) fn make_room(&self, actors: usize) {
        *self.0.lock().unwrap() = vec![Pass::default(); actors];
    }

    pub(super) fn pass_of(&self, actor: usize) -> Pass {
        self.0.lock().unwrap()[actor]
    }

    /// Lets an actor through if it waits here.
    pub(super) fn grant(&self, actor: usize) {
        let pass = &mut self.0.lock().unwrap()[actor];
        pass.granted = pass.waiting;
    }
}

impl Gate for Turnstile {
    fn pass(&self) -> Pin<Box<dyn Future<Output = Box<dyn Any + Send>> + Send>> {
        Box::pin(Passing { turnstile: self.clone(), actor: actor() })
    }
}

/// Somebody who waits at the gate.
struct Passing {
    turnstile: Turnstile,
    actor: usize,
}

/// Somebody who is inside.
struct Inside {
    turnstile: Turnstile,
    actor: usize,
}

impl Future for Passing {
    type Output = Box<dyn Any + Send>;

    fn poll(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<Self::Output> {
        let mut passes = self.turnstile.0.lock().unwrap();
        let pass = &mut passes[self.actor];
        if !pass.granted {
            // The stage looks for those who wait, so nobody has to be woken.
            pass.waiting = true;
            return Poll::Pending;
        }
        *pass = Pass { in_flight: true, ..Pass::default() };
        Poll::Ready(Box::new(Inside { turnstile: self.turnstile.clone(), actor: self.actor }))
    }
}

impl Drop for Passing {
    fn drop(&mut self) {
        self.turnstile.0.lock().unwrap()[self.actor].waiting = false;
    }
}

impl Drop for Inside {
    fn drop(&mut self) {
        self.turnstile.0.lock().unwrap()[self.actor].in_flight = false;
    }
}
