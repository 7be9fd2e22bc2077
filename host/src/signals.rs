//! Signals that ask the process to end.

use std::io;
use std::thread;

use tokio::runtime::Builder;

/// Has `act` called, on a thread of its own, with the name of each signal that asks the process to end. From now on none
/// of them ends it by itself: some apps send two, a tenth of a second apart, and the first one is under way by then.
///
/// # Errors
///
/// The system gives no way to listen.
pub fn on_termination(act: impl Fn(&'static str) + Send + 'static) -> io::Result<()> {
    let runtime = Builder::new_current_thread().enable_io().build()?;
    let mut signals = {
        let _entered = runtime.enter();
        Signals::new()?
    };
    thread::spawn(move || {
        runtime.block_on(async move {
            loop {
                act(signals.next().await);
            }
        });
    });
    Ok(())
}

#[cfg(unix)]
struct Signals {
    interrupt: tokio::signal::unix::Signal,
    terminate: tokio::signal::unix::Signal,
    hang_up: tokio::signal::unix::Signal,
}

#[cfg(unix)]
impl Signals {
    fn new() -> io::Result<Signals> {
        use tokio::signal::unix::{SignalKind, signal};

        Ok(Signals {
            interrupt: signal(SignalKind::interrupt())?,
            terminate: signal(SignalKind::terminate())?,
            hang_up: signal(SignalKind::hangup())?,
        })
    }

    async fn next(&mut self) -> &'static str {
        tokio::select! {
            _ = self.interrupt.recv() => "SIGINT",
            _ = self.terminate.recv() => "SIGTERM",
            _ = self.hang_up.recv() => "SIGHUP",
        }
    }
}

#[cfg(windows)]
struct Signals {
    interrupt: tokio::signal::windows::CtrlC,
    close: tokio::signal::windows::CtrlClose,
    shutdown: tokio::signal::windows::CtrlShutdown,
}

#[cfg(windows)]
impl Signals {
    fn new() -> io::Result<Signals> {
        use tokio::signal::windows::{ctrl_c, ctrl_close, ctrl_shutdown};

        Ok(Signals {
            interrupt: ctrl_c()?,
            close: ctrl_close()?,
            shutdown: ctrl_shutdown()?,
        })
    }

    async fn next(&mut self) -> &'static str {
        tokio::select! {
            _ = self.interrupt.recv() => "Ctrl-C",
            _ = self.close.recv() => "the console was closed",
            _ = self.shutdown.recv() => "the system shuts down",
        }
    }
}
