//! Any bytes as a snapshot: it is believed or not, and the memories are what the journal says.
#![no_main]

use libfuzzer_sys::fuzz_target;
use memory::backend::MemoryBackend;
use memory::request::Moment;
use memory::store::disk::DirDisk;
use memory::tools::dispatch;
use serde_json::json;

fuzz_target!(|snapshot: &[u8]| {
    let directory = tempfile::tempdir().expect("a directory can be made");
    let open = || {
        let disk = Box::new(DirDisk::new(directory.path()));
        MemoryBackend::new(disk, Box::new(|| [7; 16]))
    };
    let moment = Moment::new(jiff::Timestamp::UNIX_EPOCH, "fuzz");
    for text in ["one", "two", "three"] {
        dispatch("memory_save", &json!({"text": text}), &mut open(), &moment).expect("it is answered");
    }
    std::fs::write(directory.path().join("index.bin"), snapshot).expect("it can be written");
    let mut backend = open();
    let page = backend.export(None, usize::MAX, true).expect("the journal is whole");
    let texts: Vec<&str> = page.memories.iter().map(|memory| memory.text.as_str()).collect();
    assert_eq!(texts, ["one", "two", "three"]);
    let found = dispatch("memory_search", &json!({"query": "two"}), &mut backend, &moment);
    assert!(found.expect("it is answered").text.contains("two"));
});
