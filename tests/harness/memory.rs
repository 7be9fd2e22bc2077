//! What clients of a memory do all the time.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use super::Server;

impl Server {
    /// Saves a memory; returns its id.
    pub(crate) fn save(&mut self, text: &str) -> String {
        let saved = self.call("memory_save", &json!({"text": text}));
        saved["structuredContent"]["id"]
            .as_str()
            .unwrap_or_else(|| panic!("{saved}"))
            .to_owned()
    }

    /// Why something is refused: a tool's own words, or an error of the protocol.
    pub(crate) fn refusal(&mut self, tool: &str, arguments: &Value) -> String {
        let params = json!({"name": tool, "arguments": arguments});
        let response = self.request("tools/call", &params);
        if let Some(message) = response.pointer("/error/message") {
            return message.as_str().unwrap().to_owned();
        }
        assert_eq!(response["result"]["isError"], true, "{response}");
        response["result"]["content"][0]["text"]
            .as_str()
            .unwrap()
            .to_owned()
    }

    /// The text of a memory, if it is there.
    pub(crate) fn read_entry(&mut self, id: &str) -> Option<String> {
        let uri = format!("memory://entries/{id}");
        let response = self.request("resources/read", &json!({"uri": uri}));
        let text = response.pointer("/result/contents/0/text")?;
        Some(text.as_str().unwrap().to_owned())
    }

    /// Ids of all memories, each of which is there once.
    pub(crate) fn ids(&mut self) -> BTreeSet<String> {
        let mut found = BTreeSet::new();
        let mut params = json!({});
        loop {
            let page = self.request("resources/list", &params)["result"].clone();
            for resource in page["resources"].as_array().unwrap() {
                let uri = resource["uri"].as_str().unwrap();
                let id = uri.rsplit('/').next().unwrap().to_owned();
                assert!(found.insert(id), "{uri} twice");
            }
            match page.get("nextCursor") {
                Some(cursor) => params = json!({"cursor": cursor}),
                None => return found,
            }
        }
    }
}
