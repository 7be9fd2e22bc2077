//! A server as the operating system sees it.

use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};

use super::{PATIENCE, Server};

impl Server {
    /// Its process id.
    pub(crate) fn pid(&self) -> u32 {
        self.child().id()
    }

    /// Sends it a signal.
    pub(crate) fn signal(&self, signal: Signal) {
        kill_process(Pid::from_child(self.child()), signal).unwrap();
    }

    /// Bytes of memory that it has at present.
    #[cfg(target_os = "linux")]
    pub(crate) fn resident_bytes(&self) -> usize {
        self.bytes_of("VmRSS:")
    }

    /// Bytes of memory that it has had at most.
    #[cfg(target_os = "linux")]
    pub(crate) fn peak_bytes(&self) -> usize {
        self.bytes_of("VmHWM:")
    }

    #[cfg(target_os = "linux")]
    fn bytes_of(&self, what: &str) -> usize {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.pid())).unwrap();
        let figure = status
            .lines()
            .find_map(|line| line.strip_prefix(what))
            .unwrap();
        let kibibytes: usize = figure.trim().trim_end_matches(" kB").parse().unwrap();
        kibibytes * 1024
    }

    /// How many files it has open.
    #[cfg(target_os = "linux")]
    pub(crate) fn open_files(&self) -> usize {
        let files = std::fs::read_dir(format!("/proc/{}/fd", self.pid()));
        files.unwrap().count()
    }
}

/// Waits until something does not change any more for a while, and returns it.
pub(crate) fn settled<T: PartialEq>(mut now: impl FnMut() -> T) -> T {
    const A_WHILE: Duration = Duration::from_millis(500);
    let began = Instant::now();
    let (mut last, mut since) = (now(), Instant::now());
    while since.elapsed() < A_WHILE {
        assert!(began.elapsed() < PATIENCE, "it does not come to rest");
        std::thread::sleep(Duration::from_millis(10));
        let present = now();
        if present != last {
            (last, since) = (present, Instant::now());
        }
    }
    last
}
