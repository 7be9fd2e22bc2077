//! What the owner of a memory may do with it: `admin` of `wit/memory`, each call under the store's lock like any other.

use std::fmt;

use wasmtime::Store;

pub use super::bindings::administered::exports::personal_memory::memory::admin::{
    Entry, EntryPage, Finding, FindingPage, ImportReport, NewEntry, Statistics,
};

use super::bindings::administered::exports::personal_memory::memory::admin::{
    Failure, Guest as Admin,
};
use super::guest::Guest;
use super::interfaces::Exports;
use super::{CallError, Cancel, Sandbox};
use crate::store_lock::PATIENCE;

/// How long a slice of a scan is, in milliseconds. Others may use the store between two of them.
const SCAN_SLICE_MS: u32 = 250;

/// Why something was not done.
#[derive(Debug)]
pub enum AdminError {
    /// There is no such memory; the text says which.
    NotFound(String),
    /// The component says why not.
    Refused(String),
    /// It was not answered.
    Call(CallError),
}

impl fmt::Display for AdminError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            AdminError::NotFound(reason) | AdminError::Refused(reason) => f.write_str(reason),
            AdminError::Call(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for AdminError {}

impl From<Failure> for AdminError {
    fn from(failure: Failure) -> AdminError {
        match failure {
            Failure::NotFound(reason) => AdminError::NotFound(reason),
            Failure::Invalid(reason) | Failure::Failed(reason) => AdminError::Refused(reason),
        }
    }
}

/// Each is what the function of its name in `wit/memory/admin.wit` is.
impl Sandbox {
    /// A page of the memories, in order of their ids.
    pub fn export_page(
        &mut self,
        cursor: Option<&str>,
        limit: u32,
        forgotten: bool,
    ) -> Result<EntryPage, AdminError> {
        self.administer(async |admin, store| {
            admin
                .call_export_page(store, cursor, limit, forgotten)
                .await
        })
    }

    /// Adds a batch of memories, all of it or nothing.
    pub fn import_batch(
        &mut self,
        entries: &[NewEntry],
        dry_run: bool,
    ) -> Result<ImportReport, AdminError> {
        self.administer(async |admin, store| admin.call_import_batch(store, entries, dry_run).await)
    }

    /// One memory, living or forgotten.
    pub fn entry(&mut self, id: &str) -> Result<Entry, AdminError> {
        self.administer(async |admin, store| admin.call_get(store, id).await)
    }

    /// Hides a living memory.
    pub fn forget(&mut self, id: &str) -> Result<Entry, AdminError> {
        self.administer(async |admin, store| admin.call_forget(store, id).await)
    }

    /// Brings a forgotten memory back.
    pub fn restore(&mut self, id: &str) -> Result<Entry, AdminError> {
        self.administer(async |admin, store| admin.call_restore(store, id).await)
    }

    /// Erases memories for good, all of them or none.
    pub fn purge(&mut self, ids: &[String]) -> Result<u32, AdminError> {
        self.administer(async |admin, store| admin.call_purge(store, ids).await)
    }

    /// Figures about the store.
    pub fn statistics(&mut self) -> Result<Statistics, AdminError> {
        self.administer(async |admin, store| admin.call_stats(store).await)
    }

    /// A slice of a scan of every byte of the store.
    pub fn verify(&mut self, cursor: Option<&str>) -> Result<FindingPage, AdminError> {
        self.administer(async |admin, store| admin.call_verify(store, cursor, SCAN_SLICE_MS).await)
    }

    fn administer<T>(
        &mut self,
        ask: impl AsyncFn(&Admin, &mut Store<Guest>) -> wasmtime::Result<Result<T, Failure>>,
    ) -> Result<T, AdminError> {
        let call = async |exports: &Exports, store: &mut Store<Guest>| match &exports.admin {
            Some(admin) => ask(admin, store).await.map(Some),
            None => Ok(None),
        };
        let answer = self.enter_once_open(Some(PATIENCE), &Cancel::default(), None, call);
        match answer.map_err(AdminError::Call)? {
            Some(outcome) => outcome.map_err(AdminError::from),
            None => Err(AdminError::Call(CallError::NotExported("admin"))),
        }
    }
}
