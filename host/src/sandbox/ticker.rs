//! Makes a busy guest come up for air: advances the engine's epoch while a call runs, and sleeps otherwise.

use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::Duration;

use wasmtime::Engine;

/// How often a guest that computes lets its deadline be looked at. Far below any deadline that makes sense, and rare
/// enough that the switch to the host and back costs nothing.
const TICK: Duration = Duration::from_millis(10);

/// Ticks while it is [running](Ticker::run).
pub(super) struct Ticker {
    calls: Arc<Calls>,
}

#[derive(Default)]
struct Calls {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Default)]
struct State {
    running: bool,
    /// The ticker is gone; its thread ends.
    dropped: bool,
}

impl Ticker {
    pub(super) fn new(engine: Engine) -> Ticker {
        let calls = Arc::new(Calls::default());
        let shared = Arc::clone(&calls);
        std::thread::spawn(move || tick(&engine, &shared));
        Ticker { calls }
    }

    /// Ticks until the guard is dropped.
    pub(super) fn run(&self) -> Running<'_> {
        self.calls.set(|state| state.running = true);
        Running(&self.calls)
    }
}

impl Drop for Ticker {
    fn drop(&mut self) {
        self.calls.set(|state| state.dropped = true);
    }
}

/// Keeps a [`Ticker`] ticking.
pub(super) struct Running<'a>(&'a Calls);

impl Drop for Running<'_> {
    fn drop(&mut self) {
        // The thread notices at its next tick and goes to sleep; waking it for that would cost more.
        self.0
            .state
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .running = false;
    }
}

impl Calls {
    fn set(&self, change: impl FnOnce(&mut State)) {
        change(&mut self.state.lock().unwrap_or_else(PoisonError::into_inner));
        self.changed.notify_one();
    }
}

fn tick(engine: &Engine, calls: &Calls) {
    let mut state = calls.state.lock().unwrap_or_else(PoisonError::into_inner);
    while !state.dropped {
        if state.running {
            state = calls
                .changed
                .wait_timeout(state, TICK)
                .unwrap_or_else(PoisonError::into_inner)
                .0;
            engine.increment_epoch();
        } else {
            state = calls
                .changed
                .wait(state)
                .unwrap_or_else(PoisonError::into_inner);
        }
    }
}
