//! The store: who uses it, and whether every byte of it is as it should be.

use std::path::Path;
use std::time::Duration;

use anyhow::Result;

use super::Report;
use crate::cli::options::Common;
use crate::cli::owner::Owner;
use crate::cli::stats::bytes;
use crate::sandbox::{Finding, Statistics};
use crate::store_lock::{LockError, StoreLock};

/// How long a call may hold the lock without being suspicious. It takes milliseconds.
const LOCK_PATIENCE: Duration = Duration::from_secs(2);

/// Findings that are told one by one.
const MAX_FINDINGS: usize = 20;

pub(super) fn look(common: &Common, directory: &Path, report: &mut Report) {
    if !lock(directory, report) {
        return;
    }
    let looked = Owner::open(common).and_then(|mut owner| {
        let statistics = owner.administer(|sandbox| sandbox.statistics())?;
        figures(&statistics, report);
        journal(&scan(&mut owner)?, report);
        Ok(())
    });
    if let Err(error) = looked {
        let advice = "the message says what to do; nothing was changed";
        report.fail("store", format!("{error:#}"), advice);
    }
}

/// Whether the store can be used now.
fn lock(directory: &Path, report: &mut Report) -> bool {
    const WHAT: &str = "lock";
    let mut lock = StoreLock::new(directory);
    // Read before it is ours.
    let holder = lock.holder();
    let acquired = lock
        .acquire(LOCK_PATIENCE, || false)
        .map(|held| held.is_some());
    match acquired {
        Ok(true) => {
            let last = match holder {
                Some(pid) if is_running(pid) => format!("; process {pid} used it last, and runs"),
                Some(pid) => format!("; process {pid} used it last, and has ended"),
                None => String::new(),
            };
            report.fine(WHAT, format!("free{last}"));
            true
        }
        Ok(false) => {
            report.warn(
                WHAT,
                "the directory can only be read",
                "nothing can be saved there",
            );
            true
        }
        Err(error @ LockError::Busy { .. }) => {
            let advice = "a server hangs or is stopped: end that process, nothing is lost; don't delete the lock";
            report.fail(WHAT, error.to_string(), advice);
            false
        }
        Err(error) => {
            let advice = "see to it that you may write there, and that `lock` is a plain file";
            report.fail(WHAT, error.to_string(), advice);
            false
        }
    }
}

/// Whether there is a process of this number.
fn is_running(pid: u32) -> bool {
    #[cfg(unix)]
    {
        let pid = i32::try_from(pid)
            .ok()
            .and_then(rustix::process::Pid::from_raw);
        // One that we may not signal is there all the same.
        pid.is_some_and(|pid| {
            !matches!(
                rustix::process::test_kill_process(pid),
                Err(rustix::io::Errno::SRCH)
            )
        })
    }
    #[cfg(not(unix))]
    {
        let _ = pid;
        true
    }
}

fn figures(statistics: &Statistics, report: &mut Report) {
    let Statistics {
        living, forgotten, ..
    } = statistics;
    let format = statistics.format;
    report.fine(
        "memories",
        format!("{living}, and {forgotten} forgotten; format {format}"),
    );
    match statistics.index_bytes {
        0 => report.fine("index", "none; servers write one when it is worth it"),
        size => report.fine("index", bytes(size)),
    }
    match statistics.damaged_lines {
        0 => report.fine("set aside", "no damaged lines"),
        count => report.warn(
            "set aside",
            format!("{count} damaged line(s) are in set-aside.jsonl"),
            "read them there; everything else is served, and nothing needs deleting",
        ),
    }
}

fn scan(owner: &mut Owner) -> Result<Vec<Finding>> {
    let (mut findings, mut cursor) = (Vec::new(), None);
    loop {
        let page = owner.administer(|sandbox| sandbox.verify(cursor.as_deref()))?;
        findings.extend(page.findings);
        match page.next_cursor {
            Some(next) => cursor = Some(next),
            None => return Ok(findings),
        }
    }
}

fn journal(findings: &[Finding], report: &mut Report) {
    const WHAT: &str = "journal";
    if findings.is_empty() {
        return report.fine(WHAT, "every byte is as it should be");
    }
    for finding in findings.iter().take(MAX_FINDINGS) {
        let found = format!(
            "{} at byte {}: {}",
            finding.file, finding.offset, finding.problem
        );
        let advice = "the rest is served; if you have a backup, compare that line";
        report.fail(WHAT, found, advice);
    }
    if findings.len() > MAX_FINDINGS {
        let found = format!("{} more", findings.len() - MAX_FINDINGS);
        report.fail(
            WHAT,
            found,
            "restore the directory from a backup, and keep this one",
        );
    }
}
