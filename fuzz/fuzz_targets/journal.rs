//! Any bytes as a journal: what can be read is served, a save works, and a later start sees the same.
#![no_main]

use libfuzzer_sys::fuzz_target;
use memory::backend::MemoryBackend;
use memory::request::Moment;
use memory::store::disk::DirDisk;
use memory::tools::dispatch;
use serde_json::json;

fuzz_target!(|journal: &[u8]| {
    let directory = tempfile::tempdir().expect("a directory can be made");
    std::fs::write(directory.path().join("journal.jsonl"), journal).expect("it can be written");
    let open = || {
        let disk = Box::new(DirDisk::new(directory.path()));
        MemoryBackend::new(disk, Box::new(|| [7; 16]))
    };
    let mut backend = open();
    if backend.export(None, usize::MAX, true).is_err() {
        return;
    }
    let moment = Moment::new(jiff::Timestamp::UNIX_EPOCH, "fuzz");
    let save = json!({"text": "after the damage"});
    let saved = dispatch("memory_save", &save, &mut backend, &moment).expect("a save is answered");
    assert!(!saved.is_error, "{}", saved.text);
    let ids = |backend: &mut MemoryBackend| {
        let page = backend.export(None, usize::MAX, true).expect("it was read before");
        page.memories.iter().map(|memory| memory.id).collect::<Vec<_>>()
    };
    assert_eq!(ids(&mut backend), ids(&mut open()));
});
