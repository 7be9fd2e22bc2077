//! Any URI: only the two shapes are served, and an entry only if it is known.
#![no_main]

use libfuzzer_sys::fuzz_target;
use memory::security::{ResourceUri, validate_resource_uri};

fuzz_target!(|uri: &str| {
    match validate_resource_uri(uri, |id| id < 10) {
        Ok(ResourceUri::Entry(id)) => assert_eq!(uri, format!("memory://entries/m{id}")),
        Ok(ResourceUri::Search(query)) => {
            assert!(uri.starts_with("memory://search/"));
            assert!(!query.is_empty());
        }
        Err(_) => {}
    }
});
