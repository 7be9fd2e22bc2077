//! An embedding provider of the person's own, played by a stub: who is asked what, and what becomes of a search.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::mpsc::{Receiver, channel};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::harness::{Builder, PATIENCE, Server};

/// What a stub was asked.
#[derive(Debug)]
struct Asked {
    path: String,
    authorization: Option<String>,
    body: Value,
}

/// A provider that answers as it is told, on a port of its own. Its thread ends with the tests.
pub(crate) struct Stub {
    pub(crate) url: String,
    asked: Receiver<Asked>,
}

impl Stub {
    /// `answer` makes the status line with further headers, and the body.
    fn start(answer: impl Fn(&Value) -> (String, String) + Send + 'static) -> Stub {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let (sender, asked) = channel();
        thread::spawn(move || {
            for stream in listener.incoming() {
                let Ok(mut stream) = stream else { continue };
                let Some(request) = read_request(&stream) else {
                    continue;
                };
                let (head, body) = answer(&request.body);
                // The test may be over.
                let _ = sender.send(request);
                let length = body.len();
                let _ = write!(
                    stream,
                    "HTTP/1.1 {head}\r\nContent-Type: application/json\r\nContent-Length: {length}\r\nConnection: close\r\n\r\n{body}"
                );
            }
        });
        Stub { url, asked }
    }

    /// One that knows animals from everything else.
    pub(crate) fn of_animals() -> Stub {
        Stub::start(|question| ("200 OK".to_owned(), vectors(question).to_string()))
    }

    fn next(&self) -> Asked {
        self.asked.recv_timeout(PATIENCE).unwrap()
    }

    /// Waits until it was asked about memories, as opposed to questions.
    fn wait_for_passage(&self, text: &str) -> Asked {
        loop {
            let asked = self.next();
            if inputs(&asked.body).iter().any(|input| input.contains(text)) {
                return asked;
            }
        }
    }
}

fn read_request(stream: &TcpStream) -> Option<Asked> {
    let mut reader = BufReader::new(stream);
    let mut line = String::new();
    reader.read_line(&mut line).ok()?;
    let path = line.split(' ').nth(1)?.to_owned();
    let (mut length, mut authorization) = (0, None);
    loop {
        let mut header = String::new();
        reader.read_line(&mut header).ok()?;
        match header.trim().split_once(": ") {
            None => break,
            Some((name, value)) if name.eq_ignore_ascii_case("content-length") => {
                length = value.parse().ok()?;
            }
            Some((name, value)) if name.eq_ignore_ascii_case("authorization") => {
                authorization = Some(value.to_owned());
            }
            Some(_) => {}
        }
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body).ok()?;
    Some(Asked {
        path,
        authorization,
        body: serde_json::from_slice(&body).ok()?,
    })
}

fn inputs(question: &Value) -> Vec<String> {
    serde_json::from_value(question["input"].clone()).unwrap()
}

fn vectors(question: &Value) -> Value {
    let is_animal = |text: &str| ["dog", "canine"].iter().any(|word| text.contains(word));
    let data: Vec<Value> = inputs(question)
        .iter()
        .enumerate()
        .map(|(index, text)| {
            let vector = if is_animal(text) {
                [1.0, 0.0, 0.1]
            } else {
                [0.0, 1.0, 0.1]
            };
            json!({"index": index, "embedding": vector})
        })
        .collect();
    json!({"data": data})
}

fn with_provider(url: &str) -> Builder {
    Builder::memory().args(&["--embedder", url, "--embedder-model", "animals"])
}

const DOG: &str = "my dog is called Rex";

fn save_some(server: &mut Server) {
    for text in [DOG, "the train leaves at nine", "rent is due on the first"] {
        server.call_text("memory_save", &json!({"text": text}));
    }
}

fn search(server: &mut Server, query: &str) -> String {
    server.call_text("memory_search", &json!({"query": query}))
}

/// Searches until the reply says something: vectors are made when nobody waits for them.
fn search_until(server: &mut Server, query: &str, wanted: &str) -> String {
    let began = Instant::now();
    loop {
        let found = search(server, query);
        if found.contains(wanted) {
            return found;
        }
        assert!(began.elapsed() < PATIENCE, "{found}");
        thread::sleep(Duration::from_secs(3));
    }
}

#[test]
fn a_provider_finds_what_shares_no_word() {
    let stub = Stub::of_animals();
    let mut server = with_provider(&stub.url).start();
    server.initialize("2025-06-18");
    save_some(&mut server);
    // Vectors of memories are made when nobody waits for anything.
    let asked = stub.wait_for_passage(DOG);
    assert_eq!(asked.path, "/v1/embeddings");
    assert_eq!(asked.body["model"], "animals");
    assert_eq!(asked.authorization, None);
    let found = search_until(&mut server, "canine", DOG);
    assert!(found.lines().any(|line| line.contains(DOG)), "{found}");
    assert!(!found.contains("train"), "{found}");
    server.end_in_order();
}

#[test]
fn without_the_provider_a_search_goes_on_and_says_so() {
    // It knows memories, and has broken down when it is asked.
    let stub = Stub::start(|question| match inputs(question).as_slice() {
        [query] if query == "dog" => ("503 Busy".to_owned(), "out of order".to_owned()),
        _ => ("200 OK".to_owned(), vectors(question).to_string()),
    });
    let mut server = with_provider(&stub.url).start();
    save_some(&mut server);
    let found = search_until(&mut server, "dog", "embedding provider");
    assert!(found.contains(DOG), "{found}");
    let finished = server.end();
    assert!(finished.status.success());
    assert!(
        finished.stderr.contains("out of order"),
        "{}",
        finished.stderr
    );
}

#[test]
fn a_provider_that_is_not_there_keeps_nobody_from_searching() {
    // A port that nobody listens on any more.
    let url = {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        format!("http://{}", listener.local_addr().unwrap())
    };
    let mut server = with_provider(&url).start();
    save_some(&mut server);
    let found = search(&mut server, "dog");
    assert!(found.contains(DOG), "{found}");
    assert!(server.end().status.success());
}

#[test]
fn neither_texts_nor_the_key_follow_a_redirect_elsewhere() {
    let elsewhere = Stub::of_animals();
    let target = format!("{}/v1/embeddings", elsewhere.url);
    let stub = Stub::start(move |_| {
        (
            format!("307 Temporary Redirect\r\nLocation: {target}"),
            String::new(),
        )
    });
    let mut server = with_provider(&stub.url)
        .env("PERSONAL_MEMORY_EMBEDDER_KEY", "the-key")
        .start();
    save_some(&mut server);
    let found = search(&mut server, "dog");
    assert!(found.contains(DOG), "{found}");
    assert_eq!(stub.next().authorization.as_deref(), Some("Bearer the-key"));
    // Long enough to go there, and to say that it was not done.
    thread::sleep(Duration::from_secs(1));
    assert!(elsewhere.asked.try_recv().is_err(), "it was asked");
    let finished = server.end();
    assert!(
        finished
            .stderr
            .contains("not the provider that was configured"),
        "{}",
        finished.stderr
    );
    assert!(!finished.stderr.contains("the-key"), "{}", finished.stderr);
}

#[test]
fn an_answer_that_is_no_vectors_is_none() {
    let stub = Stub::start(|_| ("200 OK".to_owned(), r#"{"data":[]}"#.to_owned()));
    let mut server = with_provider(&stub.url).start();
    save_some(&mut server);
    stub.wait_for_passage(DOG);
    let found = search(&mut server, "dog");
    assert!(found.contains(DOG), "{found}");
    assert!(server.end().status.success());
}

#[test]
fn a_save_never_waits_for_the_provider() {
    // It takes a request and never answers.
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    let mut server = with_provider(&url).start();
    save_some(&mut server);
    server.end_in_order();
    drop(listener);
}

#[test]
fn a_key_that_would_travel_in_the_clear_is_refused_at_start() {
    let finished = with_provider("http://embeddings.example")
        .env("PERSONAL_MEMORY_EMBEDDER_KEY", "the-key")
        .pipe(b"");
    assert!(!finished.status.success());
    assert!(finished.stderr.contains("https"), "{}", finished.stderr);
    assert!(!finished.stderr.contains("the-key"), "{}", finished.stderr);
}
