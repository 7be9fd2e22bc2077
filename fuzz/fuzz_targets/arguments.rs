//! Any arguments of any tool: taken or refused, and never a panic, which would be a trap.
#![no_main]

use libfuzzer_sys::fuzz_target;
use memory::backend::MemoryBackend;
use memory::request::Moment;
use memory::store::disk::DirDisk;
use memory::tools::{TOOLS, dispatch};

fuzz_target!(|input: (u8, &str)| {
    let Ok(arguments) = serde_json::from_str(input.1) else {
        return;
    };
    let directory = tempfile::tempdir().expect("a directory can be made");
    let disk = Box::new(DirDisk::new(directory.path()));
    let mut backend = MemoryBackend::new(disk, Box::new(|| [7; 16]));
    let moment = Moment::new(jiff::Timestamp::UNIX_EPOCH, "fuzz");
    let tool = TOOLS[usize::from(input.0) % TOOLS.len()].name;
    if let Ok(reply) = dispatch(tool, &arguments, &mut backend, &moment) {
        assert_eq!(reply.structured.is_none(), reply.is_error);
    }
});
