use super::*;

const TOKEN: &str = "correct-horse-battery-staple";

fn headers(pairs: &[(axum::http::HeaderName, &str)]) -> HeaderMap {
    pairs
        .iter()
        .map(|(name, value)| (name.clone(), HeaderValue::from_str(value).unwrap()))
        .collect()
}

fn check(guard: &Guard, host: &str, origin: Option<&str>) -> Result<(), Refusal> {
    let mut pairs = vec![(HOST, host)];
    pairs.extend(origin.map(|origin| (ORIGIN, origin)));
    guard.check_names(&Uri::from_static("/mcp"), &headers(&pairs))
}

fn local() -> Guard {
    Guard::new(false, Vec::new(), Vec::new(), None)
}

#[test]
fn only_names_of_this_machine_are_served() {
    for (host, served) in [
        ("localhost", true),
        ("LOCALHOST:7437", true),
        ("localhost:1", true),
        ("127.0.0.1:7437", true),
        ("127.1.2.3", true),
        ("[::1]:7437", true),
        ("[::1]", true),
        ("example.org", false),
        ("localhost.example.org", false),
        ("127.0.0.1.example.org:7437", false),
        ("192.168.1.7:7437", false),
        ("0.0.0.0:7437", false),
        ("[::2]:7437", false),
        ("user@localhost", false),
        ("localhost:7437@example.org", false),
        ("localhost/", false),
        ("", false),
    ] {
        assert_eq!(check(&local(), host, None).is_ok(), served, "{host}");
    }
}

#[test]
fn a_host_is_there_once_and_the_target_names_no_other() {
    let uri = Uri::from_static("/mcp");
    let none = local().check_names(&uri, &HeaderMap::new());
    assert!(matches!(none, Err(Refusal::Host(_))));
    let mut twice = headers(&[(HOST, "localhost")]);
    twice.append(HOST, HeaderValue::from_static("localhost"));
    assert!(local().check_names(&uri, &twice).is_err());
    let host = headers(&[(HOST, "localhost")]);
    for (uri, served) in [
        ("http://localhost:7437/mcp", true),
        ("http://example.org/mcp", false),
    ] {
        let checked = local().check_names(&Uri::from_static(uri), &host);
        assert_eq!(checked.is_ok(), served, "{uri}");
    }
}

#[test]
fn only_web_pages_of_this_machine_may_come() {
    for (origin, may) in [
        ("http://localhost", true),
        ("http://localhost:6274", true),
        ("https://127.0.0.1:7437", true),
        ("http://[::1]:7437", true),
        ("null", false),
        ("", false),
        ("http://example.org", false),
        ("http://localhost.example.org", false),
        ("http://localhost@example.org", false),
        ("http://192.168.1.7", false),
        ("file://localhost", false),
        ("localhost", false),
    ] {
        assert_eq!(
            check(&local(), "localhost", Some(origin)).is_ok(),
            may,
            "{origin}"
        );
    }
}

#[test]
fn further_names_and_origins_are_those_that_were_allowed() {
    let guard = Guard::new(
        false,
        vec![
            "memory.example.org".to_owned(),
            "other.example.org:8443".to_owned(),
        ],
        vec!["app://memory".to_owned()],
        None,
    );
    for (host, served) in [
        ("memory.example.org", true),
        ("Memory.Example.org:443", true),
        ("other.example.org:8443", true),
        ("other.example.org", false),
        ("a.memory.example.org", false),
    ] {
        assert_eq!(check(&guard, host, None).is_ok(), served, "{host}");
    }
    assert!(check(&guard, "localhost", Some("app://memory")).is_ok());
    assert!(check(&guard, "localhost", Some("app://memory.other")).is_err());
    assert!(check(&guard, "localhost", Some("https://memory.example.org")).is_err());
}

#[test]
fn where_other_machines_can_come_any_address_is_a_name() {
    let guard = Guard::new(true, Vec::new(), Vec::new(), None);
    assert!(check(&guard, "192.168.1.7:7437", None).is_ok());
    assert!(check(&guard, "[fe80::1]:7437", None).is_ok());
    // A name can be pointed here by anybody.
    assert!(check(&guard, "example.org:7437", None).is_err());
    assert!(check(&guard, "192.168.1.7", Some("http://192.168.1.8")).is_err());
}

#[test]
fn the_token_and_nothing_else_is_the_token() {
    let token = Token::new(&format!(" {TOKEN}\n")).unwrap();
    let guard = Guard::new(false, Vec::new(), Vec::new(), Some(token));
    for (credentials, right) in [
        (format!("Bearer {TOKEN}"), true),
        (format!("bearer  {TOKEN}"), true),
        (format!("Basic {TOKEN}"), false),
        (TOKEN.to_owned(), false),
        (format!("Bearer {TOKEN}x"), false),
        (format!("Bearer {}", &TOKEN[1..]), false),
        (format!("Bearer {}", TOKEN.to_uppercase()), false),
        ("Bearer".to_owned(), false),
        ("Bearer ".to_owned(), false),
    ] {
        let checked = guard.check_token(&headers(&[(AUTHORIZATION, &credentials)]));
        assert_eq!(checked.is_ok(), right, "{credentials}");
    }
    assert_eq!(guard.check_token(&HeaderMap::new()), Err(Refusal::Token));
    assert!(
        local().check_token(&HeaderMap::new()).is_ok(),
        "there is none"
    );
}

#[test]
fn tokens_that_can_be_guessed_or_not_be_sent_are_refused() {
    assert_eq!(Token::new("short").err(), Some(BadToken::TooShort(5)));
    assert_eq!(Token::new("  \n").err(), Some(BadToken::TooShort(0)));
    assert_eq!(
        Token::new("sixteen é letters").err(),
        Some(BadToken::NoAscii)
    );
    assert_eq!(
        Token::new("with a space in it, longer").err(),
        Some(BadToken::NoAscii)
    );
}
