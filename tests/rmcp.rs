//! The official Rust SDK's client: what it expects of a server is what clients expect, and not what we think they do.

use std::path::Path;

use ::rmcp::model::{
    CallToolRequestParams, CallToolResult, ContentBlock, GetPromptRequestParams, ProtocolVersion,
    ReadResourceRequestParams, ResourceContents,
};
use ::rmcp::service::RunningService;
use ::rmcp::transport::TokioChildProcess;
use ::rmcp::{ClientLifecycleMode, ClientServiceExt, RoleClient};
use serde_json::{Value, json};

use crate::harness::{PATIENCE, command};

type Client = RunningService<RoleClient, ()>;

/// How the client opens the conversation.
fn openings() -> [ClientLifecycleMode; 3] {
    [
        ClientLifecycleMode::Initialize,
        ClientLifecycleMode::Discover {
            preferred_versions: vec![ProtocolVersion::V_2026_07_28],
        },
        ClientLifecycleMode::Auto {
            preferred_versions: vec![ProtocolVersion::V_2026_07_28],
            legacy_version: None,
        },
    ]
}

async fn connect(data: &Path, opening: ClientLifecycleMode) -> Client {
    let mut server = tokio::process::Command::from(command());
    server.arg("--data-dir").arg(data);
    ().serve_with_lifecycle(TokioChildProcess::new(server).unwrap(), opening)
        .await
        .unwrap()
}

async fn call(client: &Client, tool: &'static str, arguments: Value) -> CallToolResult {
    let Value::Object(arguments) = arguments else {
        panic!("arguments are an object")
    };
    client
        .call_tool(CallToolRequestParams::new(tool).with_arguments(arguments))
        .await
        .unwrap()
}

fn text(result: &CallToolResult) -> &str {
    match &result.content[0] {
        ContentBlock::Text(text) => &text.text,
        other => panic!("{other:?}"),
    }
}

/// What a first app does: looks around, saves, searches, reads, gets the prompt.
async fn first_app(client: &Client) {
    let tools = client.list_all_tools().await.unwrap();
    let names: Vec<_> = tools.iter().map(|tool| tool.name.as_ref()).collect();
    assert_eq!(
        names,
        [
            "memory_search",
            "memory_recent",
            "memory_get",
            "memory_save",
            "memory_update",
            "memory_forget"
        ]
    );
    assert!(
        tools
            .iter()
            .all(|tool| tool.output_schema.is_some() && tool.annotations.is_some())
    );

    let saved = call(
        client,
        "memory_save",
        json!({"text": "the demo is on June 20", "tags": ["demo"]}),
    )
    .await;
    assert_eq!(text(&saved), "Saved m0.");
    assert_eq!(saved.structured_content.as_ref().unwrap()["id"], "m0");
    let found = call(client, "memory_search", json!({"query": "demo"})).await;
    assert_eq!(text(&found), "[m0] (episodic) the demo is on June 20");
    let refused = call(client, "memory_search", json!({"query": "demo", "k": 0})).await;
    assert_eq!(refused.is_error, Some(true));
    client
        .call_tool(CallToolRequestParams::new("no_such_tool"))
        .await
        .unwrap_err();

    assert_eq!(client.list_all_resources().await.unwrap().len(), 1);
    assert_eq!(client.list_all_resource_templates().await.unwrap().len(), 2);
    let prompts = client.list_all_prompts().await.unwrap();
    assert_eq!(prompts[0].name, "reflect_on");
    assert_eq!(
        client
            .complete_prompt_simple("reflect_on", "topic", "de")
            .await
            .unwrap(),
        ["demo"]
    );
    assert_eq!(
        client
            .complete_resource_simple("memory://entries/{id}", "id", "")
            .await
            .unwrap(),
        ["m0"]
    );
}

/// What a second app does, on the same memory.
async fn second_app(client: &Client) {
    let found = call(
        client,
        "memory_search",
        json!({"query": "when is the demo?"}),
    )
    .await;
    assert_eq!(text(&found), "[m0] (episodic) the demo is on June 20");
    let read = client
        .read_resource(ReadResourceRequestParams::new("memory://entries/m0"))
        .await
        .unwrap();
    let ResourceContents::TextResourceContents { text, .. } = &read.contents[0] else {
        panic!("{read:?}")
    };
    assert_eq!(text, "the demo is on June 20");
    client
        .read_resource(ReadResourceRequestParams::new("memory://entries/m1"))
        .await
        .unwrap_err();

    let Value::Object(arguments) = json!({"topic": "demo"}) else {
        unreachable!()
    };
    let prompt = client
        .get_prompt(GetPromptRequestParams::new("reflect_on").with_arguments(arguments))
        .await
        .unwrap();
    let shown = serde_json::to_string(&prompt.messages).unwrap();
    assert!(shown.contains("the demo is on June 20"), "{shown}");
}

#[test]
fn the_official_client_saves_and_another_one_finds_it() {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap();
    for opening in openings() {
        let data = tempfile::tempdir().unwrap();
        let session = async {
            let first = connect(data.path(), opening.clone()).await;
            first_app(&first).await;
            first.cancel().await.unwrap();
            let second = connect(data.path(), opening.clone()).await;
            second_app(&second).await;
            second.cancel().await.unwrap();
        };
        runtime
            .block_on(async { tokio::time::timeout(PATIENCE, session).await })
            .unwrap();
    }
}
