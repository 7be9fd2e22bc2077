//! Documents before and after.

use serde_json::json;

use super::*;

fn registration() -> Registration {
    Registration {
        command: "/opt/pm".into(),
        data_dir: None,
    }
}

fn in_dir(data_dir: &str) -> Registration {
    Registration {
        data_dir: Some(data_dir.into()),
        ..registration()
    }
}

#[track_caller]
fn added(before: &str, app: App) -> String {
    match connect(before, app, &registration()).unwrap() {
        Change::To { text, before: None } => text,
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_document_that_is_not_there_is_made() {
    for empty in ["", "\n", "  \r\n"] {
        let text = added(empty, App::Cursor);
        let value: Value = serde_json::from_str(&text).unwrap();
        assert_eq!(
            value,
            json!({"mcpServers": {"personal-memory": {"command": "/opt/pm"}}})
        );
        assert!(text.ends_with('\n'), "{text:?}");
    }
    assert_eq!(
        added("{}\n", App::VsCode),
        "{\n  \"servers\": {\n    \"personal-memory\": {\n      \"type\": \"stdio\",\n      \"command\": \"/opt/pm\"\n    }\n  }\n}\n"
    );
}

/// Every byte of these is there afterwards, in its order, around our entry; and without it again, all is as it was.
const DOCUMENTS: [&str; 8] = [
    "{\n  \"mcpServers\": {\n    \"other\": {\n      \"command\": \"x\"\n    }\n  },\n  \"b\": [1,2 , 3]\n}\n",
    "{\n\t\"mcpServers\": {\n\t\t// about other\n\t\t\"other\": { \"command\": \"x\" }, // behind it\n\t},\n\t/* last */\n}",
    "{\r\n    \"mcpServers\": {\r\n        \"other\": {\r\n            \"command\": \"x\"\r\n        }\r\n    }\r\n}\r\n",
    "// first\n{\n  \"z\": 1e400, \"a\": \"\\u00e9\\/\",\n\n\n  \"mcpServers\": {\n    \"o\": {}, /* c */\n    \"p\": {}\n    // end\n  }\n}\n// last",
    "{\n  \"mcpServers\": {\n    \"a\": {},\n\n    \"b\": {}\n  },\n  \"mcpServersX\": {}\n}\n",
    "{\n  \"servers\": {\"x\": {}},\n  \"mcpServers\": {\n    \"x\": {\"servers\": {}}\n  }\n}\n",
    "{\n  \"mcpServers\": {\n    \"o\": {}\n  },\n  \"numStartups\": 12345678901234567890, \"s\": \"\u{202e}\"\n}\n",
    "{\n  \"deep\": {\"mcpServers\": {\"personal-memory\": 1}},\n  \"mcpServers\": {\n    \"o\": {}\n  }\n}\n",
];

#[test]
fn all_else_stays_byte_for_byte() {
    for document in DOCUMENTS {
        let text = added(document, App::Cursor);
        let mut rest = text.chars();
        for character in document.chars() {
            assert!(
                rest.any(|other| other == character),
                "{character:?} of {document:?} is gone: {text:?}"
            );
        }
        let grown = text.len() - document.len();
        assert!(grown < 120, "{grown} bytes more: {text:?}");
        if document.contains("\r\n") {
            assert_eq!(
                text.matches('\n').count(),
                text.matches("\r\n").count(),
                "{text:?}"
            );
        }
        assert_eq!(
            entry(&text, App::Cursor).unwrap(),
            Some(json!({"command": "/opt/pm"}))
        );
        assert_eq!(
            connect(&text, App::Cursor, &registration()).unwrap(),
            Change::Nothing
        );
        assert_eq!(
            disconnect(&text, App::Cursor).unwrap().as_deref(),
            Some(document)
        );
    }
}

#[test]
fn a_document_in_one_line_says_the_same_afterwards() {
    let text = added(
        r#"{"a":[1],"mcpServers":{"x":{"command":"y"}}}"#,
        App::Cursor,
    );
    let value: Value = serde_json::from_str(&text).unwrap();
    assert_eq!(
        value,
        json!({"a": [1], "mcpServers": {"x": {"command": "y"}, "personal-memory": {"command": "/opt/pm"}}})
    );
}

#[test]
fn an_entry_of_another_program_is_brought_up_to_date_and_keeps_the_rest() {
    let document = r#"{
  "mcpServers": {
    "personal-memory": {
      "command": "/old/pm", // where it was
      "args": ["--log", "info"],
      "env": {"A": "b"},
    },
  },
}"#;
    let Change::To { text, before } = connect(document, App::Cursor, &registration()).unwrap()
    else {
        panic!("it changes");
    };
    assert_eq!(before.as_deref(), Some("/old/pm"));
    assert_eq!(text, document.replace("/old/pm", "/opt/pm"));
    let Change::To { text, before } = connect(&text, App::Cursor, &in_dir("/m")).unwrap() else {
        panic!("it changes");
    };
    assert_eq!(before, None, "it is the same program");
    assert_eq!(
        entry(&text, App::Cursor).unwrap().unwrap(),
        json!({"command": "/opt/pm", "args": ["--log", "info", "--data-dir", "/m"], "env": {"A": "b"}})
    );
    assert!(text.contains("// where it was"));
    assert_eq!(
        connect(&text, App::Cursor, &in_dir("/m")).unwrap(),
        Change::Nothing
    );
    assert_eq!(
        connect(&text, App::Cursor, &registration()).unwrap(),
        Change::Nothing,
        "nothing was said of the place"
    );
}

#[test]
fn a_data_directory_takes_the_place_of_another() {
    let args = |present: &[&str]| {
        let present: Vec<String> = present.iter().map(|arg| (*arg).to_owned()).collect();
        in_dir("/m").args(&present)
    };
    assert_eq!(args(&[]), ["--data-dir", "/m"]);
    assert_eq!(
        args(&["--data-dir", "/old", "-x"]),
        ["--data-dir", "/m", "-x"]
    );
    assert_eq!(args(&["--data-dir=/old"]), ["--data-dir=/m"]);
    assert_eq!(args(&["--data-dir"]), ["--data-dir", "/m"]);
    let dir = |args: &[&str]| {
        let args: Vec<String> = args.iter().map(|arg| (*arg).to_owned()).collect();
        data_dir_of(&args).map(str::to_owned)
    };
    assert_eq!(
        dir(&["--log", "info", "--data-dir", "/m"]).as_deref(),
        Some("/m")
    );
    assert_eq!(dir(&["--data-dir=/m"]).as_deref(), Some("/m"));
    assert_eq!(dir(&["--data-dirt=/m", "--data-dir"]), None);
}

#[test]
fn what_is_no_settings_is_told_with_its_place() {
    let told = |text: &str| {
        connect(text, App::Cursor, &registration())
            .unwrap_err()
            .to_string()
    };
    for (text, place) in [
        ("{\n  \"a\": 1,\n  \"b\" 2\n}", ":3:"),
        ("{\"a\": 1", ":1:"),
        ("{a: 1}", ":1:"),
        ("{'a': 1}", ":1:"),
        ("{\"a\": 1 \"b\": 2}", ":1:"),
        ("{} x", ":1:"),
    ] {
        assert!(told(text).starts_with(place), "{text}: {}", told(text));
        assert!(told(text).contains("left as it is"));
    }
    for (text, part) in [
        ("[]", "it is not a JSON object"),
        ("null", "it is not a JSON object"),
        (r#"{"mcpServers": []}"#, "`mcpServers` is not a JSON object"),
        (
            r#"{"mcpServers": {}, "mcpServers": {}}"#,
            "`mcpServers` twice",
        ),
        (
            r#"{"mcpServers": {"personal-memory": {"url": "http://x"}}}"#,
            "starts no program",
        ),
        (
            r#"{"mcpServers": {"personal-memory": 1}}"#,
            "starts no program",
        ),
    ] {
        assert!(told(text).contains(part), "{text}: {}", told(text));
    }
}

#[test]
fn only_our_entry_is_taken_out() {
    assert_eq!(disconnect("", App::Cursor).unwrap(), None);
    assert_eq!(
        disconnect(r#"{"mcpServers": {"x": {}}}"#, App::Cursor).unwrap(),
        None
    );
    let other = r#"{"servers": {"personal-memory": {"command": "x"}}}"#;
    assert_eq!(
        disconnect(other, App::Cursor).unwrap(),
        None,
        "it is VS Code's"
    );
    let text = disconnect(other, App::VsCode).unwrap().unwrap();
    assert_eq!(
        serde_json::from_str::<Value>(&text).unwrap(),
        json!({"servers": {}})
    );
    assert!(disconnect("{", App::Cursor).is_err());
}
