use super::*;

const LIFETIME: Duration = Duration::from_secs(300);

fn seal() -> Seal {
    Seal::new(SealKey::beside(None), LIFETIME)
}

fn tool(name: &str, arguments: &str) -> RequestDigest {
    let call = Call::CallTool {
        name: name.to_owned(),
        arguments: arguments.to_owned(),
        resume: None,
    };
    digest(&call, ("memory", "1"))
}

fn prompt(name: &str, arguments: &[(&str, &str)]) -> RequestDigest {
    let call = Call::GetPrompt {
        name: name.to_owned(),
        arguments: arguments
            .iter()
            .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()))
            .collect(),
        resume: None,
    };
    digest(&call, ("memory", "1"))
}

#[test]
fn a_state_comes_back_as_it_was() {
    let (seal, about) = (seal(), tool("forget", r#"{"id":"m1"}"#));
    for content in [&b""[..], b"state", &[0; 1000]] {
        let sealed = seal.seal(content, &about).unwrap();
        assert_eq!(seal.open(&sealed, &about).unwrap(), content);
    }
}

#[test]
fn a_state_of_which_any_bit_was_changed_is_refused() {
    let (seal, about) = (seal(), tool("forget", "{}"));
    let sealed = seal.seal(b"state", &about).unwrap();
    let bytes = URL_SAFE_NO_PAD.decode(&sealed).unwrap();
    for bit in 0..bytes.len() * 8 {
        let mut changed = bytes.clone();
        changed[bit / 8] ^= 1 << (bit % 8);
        let changed = URL_SAFE_NO_PAD.encode(changed);
        let opened = seal.open_at(&changed, &about, SystemTime::now()).unwrap();
        assert_eq!(opened, Err(Rejected::Foreign), "bit {bit}");
    }
    for length in 0..sealed.len() {
        let error = seal.open(&sealed[..length], &about).unwrap_err();
        assert_eq!(error.code, crate::jsonrpc::INVALID_PARAMS, "{length}");
    }
    for foreign in [
        format!("{sealed}A"),
        format!("{sealed}-TAMPERED"),
        format!("{sealed}="),
        "é".to_owned(),
    ] {
        assert!(seal.open(&foreign, &about).is_err(), "{foreign}");
    }
}

#[test]
fn a_state_is_good_until_it_expires() {
    let (seal, about, now) = (seal(), tool("forget", "{}"), SystemTime::now());
    let sealed = seal.seal_at(b"state", &about, now).unwrap();
    let opened = |after| seal.open_at(&sealed, &about, now + after).unwrap();
    assert_eq!(opened(LIFETIME), Ok(b"state".to_vec()));
    let late = LIFETIME + Duration::from_millis(1);
    assert_eq!(opened(late), Err(Rejected::Expired));
}

#[test]
fn a_state_belongs_to_one_request_to_one_component() {
    let seal = seal();
    let about = tool("forget", r#"{"id":"m1","sure":true}"#);
    let sealed = seal.seal(b"state", &about).unwrap();
    let read = Call::ReadResource {
        uri: "forget".to_owned(),
        resume: None,
    };
    let call = Call::CallTool {
        name: "forget".to_owned(),
        arguments: r#"{"id":"m1","sure":true}"#.to_owned(),
        resume: None,
    };
    for other in [
        tool("forget", r#"{"id":"m2","sure":true}"#),
        tool("forget", r#"{"id":"m1","sure":"true"}"#),
        tool("forget", r#"{"id":"m1"}"#),
        tool("save", r#"{"id":"m1","sure":true}"#),
        prompt("forget", &[("id", "m1")]),
        digest(&read, ("memory", "1")),
        digest(&call, ("memory", "2")),
        digest(&call, ("other", "1")),
    ] {
        assert!(seal.open(&sealed, &other).is_err());
    }
    let in_other_order = tool("forget", r#"{ "sure": true, "id": "m1" }"#);
    assert_eq!(seal.open(&sealed, &in_other_order).unwrap(), b"state");
    assert_eq!(
        prompt("p", &[("a", "1"), ("b", "2")]),
        prompt("p", &[("b", "2"), ("a", "1")])
    );
}

#[test]
fn values_that_differ_have_digests_that_differ() {
    let values = [
        "{}",
        "{\"a\":[]}",
        "{\"a\":[[]]}",
        "{\"a\":[\"\"]}",
        "{\"a\":\"[]\"}",
        "{\"a\":null}",
        "{\"a\":false}",
        "{\"a\":true}",
        "{\"a\":0}",
        "{\"a\":\"0\"}",
        "{\"a\":{}}",
        "{\"a\":{\"b\":1}}",
        "{\"a\":[\"b\",1]}",
        "{\"a\":1,\"b\":2}",
        "{\"a\":[1,\"b\",2]}",
        "{\"ab\":12}",
        "{\"a\":12}",
    ];
    let mut digests: Vec<_> = values.iter().map(|value| tool("t", value)).collect();
    digests.sort_unstable();
    digests.dedup();
    assert_eq!(digests.len(), values.len());
}

#[test]
fn another_key_opens_nothing() {
    let about = tool("forget", "{}");
    let sealed = seal().seal(b"state", &about).unwrap();
    assert!(seal().open(&sealed, &about).is_err());
}

#[test]
fn too_much_is_not_sealed_and_not_opened() {
    let (seal, about) = (seal(), tool("forget", "{}"));
    let most = seal.seal(&vec![7; MAX_CONTENT_BYTES], &about).unwrap();
    assert_eq!(most.len().next_multiple_of(4), MAX_SEALED_CHARS);
    assert_eq!(seal.open(&most, &about).unwrap().len(), MAX_CONTENT_BYTES);
    let error = seal.seal(&vec![7; MAX_CONTENT_BYTES + 1], &about);
    assert!(error.unwrap_err().message.contains("1048577"));
    assert!(
        seal.open(&"A".repeat(MAX_SEALED_CHARS + 1), &about)
            .is_err()
    );
}
