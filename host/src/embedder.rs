//! The embedding provider that a person may configure: anything that speaks OpenAI's `/v1/embeddings` (Ollama, LM Studio,
//! vLLM). Its address and its key stay here; a component only ever says which texts want vectors.
//!
//! **Invariant:** texts and key go to the configured origin and nowhere else, whatever it answers.

use std::fmt;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use ureq::http::{Response, StatusCode, Uri, header};
use ureq::{Agent, Body};

/// How long a provider may take. The first text after a start may have it load a model.
const TIMEOUT: Duration = Duration::from_secs(30);

/// How long it may take to answer the telephone: a provider that is not running is noticed at once on the same machine.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(2);

/// Redirects that are followed, within the origin: a moved path has one.
const MAX_REDIRECTS: usize = 3;

/// Bytes of an answer: some hundred vectors of the longest kind, written as decimal numbers.
const MAX_ANSWER_BYTES: u64 = 64 << 20;

/// Components of a vector. The largest models in use have 4096.
const MAX_DIMENSIONS: usize = 16_384;

/// Where the API's path begins.
const API: &str = "/v1";

/// What texts are for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Purpose {
    /// To find others.
    Query,
    /// To be found.
    Passage,
}

/// What some models were trained to read before a text: part of the model's name, before queries, before passages. The
/// API has no other way to say what a text is for. From the models' own descriptions.
const PREFIXES: [(&str, &str, &str); 3] = [
    ("nomic-embed-text", "search_query: ", "search_document: "),
    ("e5-", "query: ", "passage: "),
    (
        "mxbai-embed-large",
        "Represent this sentence for searching relevant passages: ",
        "",
    ),
];

/// A provider and one of its models.
pub struct Embedder {
    agent: Agent,
    endpoint: Uri,
    model: String,
    key: Option<String>,
}

/// Why there are no vectors. Never names the key or a text.
#[derive(Debug)]
pub struct EmbedError(String);

impl fmt::Display for EmbedError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for EmbedError {}

#[derive(Serialize)]
struct Question<'a> {
    model: &'a str,
    input: Vec<String>,
    encoding_format: &'static str,
}

#[derive(Deserialize)]
struct Answer {
    data: Vec<Item>,
}

#[derive(Deserialize)]
struct Item {
    index: usize,
    embedding: Vec<f32>,
}

impl Embedder {
    /// A provider at a URL: its origin, its `/v1`, or the endpoint in full. Nothing is sent yet.
    ///
    /// # Errors
    ///
    /// A URL that is none, or a key that would travel in the clear.
    pub fn new(url: &str, model: String, key: Option<String>) -> Result<Embedder, EmbedError> {
        let endpoint = endpoint(url)?;
        let is_local = endpoint.host().is_some_and(is_loopback);
        if key.is_some() && !is_local && endpoint.scheme_str() != Some("https") {
            return Err(EmbedError(format!(
                "the key would travel unencrypted to {}; use https",
                origin(&endpoint)
            )));
        }
        let mut config = Agent::config_builder()
            .max_redirects(0)
            .http_status_as_error(false)
            .timeout_connect(Some(CONNECT_TIMEOUT))
            .timeout_global(Some(TIMEOUT));
        if is_local {
            config = config.proxy(None);
        }
        Ok(Embedder {
            agent: config.build().into(),
            endpoint,
            model,
            key: key.filter(|key| !key.is_empty()),
        })
    }

    /// Identifies provider and model: vectors of two that differ can't be compared.
    pub fn id(&self) -> String {
        format!("{} {}", self.endpoint, self.model)
    }

    /// Vectors for texts, in their order, all of one length.
    ///
    /// # Errors
    ///
    /// The provider can't be reached, refuses, or answers something else than vectors for these texts.
    pub fn embed(&self, texts: &[String], purpose: Purpose) -> Result<Vec<Vec<f32>>, EmbedError> {
        let question = Question {
            model: &self.model,
            input: texts
                .iter()
                .map(|text| format!("{}{text}", prefix(&self.model, purpose)))
                .collect(),
            encoding_format: "float",
        };
        let question = serde_json::to_string(&question)
            .map_err(|error| EmbedError(format!("the texts can't be sent: {error}")))?;
        let mut response = self.ask(&question)?;
        let status = response.status();
        let body = response.body_mut().with_config().limit(MAX_ANSWER_BYTES);
        if !status.is_success() {
            let said = body.read_to_string().unwrap_or_default();
            let said = crate::jsonrpc::shorten(said.trim());
            return Err(self.error(&format!("answers {status}: {said}")));
        }
        let answer: Answer = body.read_json().map_err(|error| {
            self.error(&format!("answers something else than vectors: {error}"))
        })?;
        vectors(answer, texts.len()).map_err(|reason| self.error(&reason))
    }

    fn ask(&self, question: &str) -> Result<Response<Body>, EmbedError> {
        let mut uri = self.endpoint.clone();
        for _ in 0..=MAX_REDIRECTS {
            let mut request = self
                .agent
                .post(&uri)
                .header(header::CONTENT_TYPE, "application/json");
            if let Some(key) = &self.key {
                request = request.header(header::AUTHORIZATION, format!("Bearer {key}"));
            }
            let response = request
                .send(question)
                .map_err(|error| self.error(&format!("can't be reached: {error}")))?;
            if !is_redirect(response.status()) {
                return Ok(response);
            }
            let location = response.headers().get(header::LOCATION);
            let location = location.and_then(|to| to.to_str().ok()).unwrap_or_default();
            uri = self.redirected(location)?;
        }
        Err(self.error(&format!("redirects more than {MAX_REDIRECTS} times")))
    }

    /// Where a redirect leads, if that is within the origin.
    fn redirected(&self, location: &str) -> Result<Uri, EmbedError> {
        let home = origin(&self.endpoint);
        let absolute = match location.starts_with('/') && !location.starts_with("//") {
            true => format!("{home}{location}"),
            false => location.to_owned(),
        };
        match absolute.parse::<Uri>() {
            Ok(uri) if origin(&uri) == home => Ok(uri),
            _ => Err(self.error(&format!(
                "redirects to {}, which is not the provider that was configured",
                crate::jsonrpc::shorten(location)
            ))),
        }
    }

    fn error(&self, what: &str) -> EmbedError {
        EmbedError(format!(
            "the embedding provider {} {what}",
            origin(&self.endpoint)
        ))
    }
}

/// The answer's vectors in the order of the texts.
fn vectors(answer: Answer, count: usize) -> Result<Vec<Vec<f32>>, String> {
    let mut vectors = vec![Vec::new(); count];
    let mut given = 0;
    for Item { index, embedding } in answer.data {
        let Some(place) = vectors.get_mut(index).filter(|place| place.is_empty()) else {
            return Err(format!(
                "answers with a vector number {index}, of {count} asked for, once too often"
            ));
        };
        if embedding.is_empty() || embedding.len() > MAX_DIMENSIONS {
            let dimensions = embedding.len();
            return Err(format!(
                "answers with a vector of {dimensions} dimensions; 1 to {MAX_DIMENSIONS} are possible"
            ));
        }
        *place = embedding;
        given += 1;
    }
    if given != count {
        return Err(format!("answers with {given} vectors for {count} texts"));
    }
    let first = vectors.first().map_or(0, Vec::len);
    if vectors.iter().any(|vector| vector.len() != first) {
        return Err("answers with vectors of different lengths".to_owned());
    }
    Ok(vectors)
}

fn prefix(model: &str, purpose: Purpose) -> &'static str {
    let model = model.to_lowercase();
    let known = PREFIXES.iter().find(|(part, _, _)| model.contains(part));
    match (known, purpose) {
        (Some((_, query, _)), Purpose::Query) => query,
        (Some((_, _, passage)), Purpose::Passage) => passage,
        (None, _) => "",
    }
}

/// The endpoint that a person's URL means.
fn endpoint(url: &str) -> Result<Uri, EmbedError> {
    let wrong = |why: &str| {
        let url = crate::jsonrpc::shorten(url);
        EmbedError(format!("the embedder's URL `{url}` {why}"))
    };
    let uri: Uri = url
        .parse()
        .map_err(|error| wrong(&format!("is none: {error}")))?;
    if !matches!(uri.scheme_str(), Some("http" | "https")) || uri.host().is_none() {
        return Err(wrong("must begin with http:// or https:// and a host"));
    }
    if uri
        .authority()
        .is_some_and(|authority| authority.as_str().contains('@'))
    {
        return Err(wrong(
            "must not hold a password; the key goes into a variable",
        ));
    }
    let path = uri.path().trim_end_matches('/');
    let path = match path {
        "" => format!("{API}/embeddings"),
        path if path.ends_with("/embeddings") => path.to_owned(),
        path => format!("{path}/embeddings"),
    };
    format!("{}{path}", origin(&uri))
        .parse()
        .map_err(|error| wrong(&format!("is none: {error}")))
}

/// Scheme, host and port.
fn origin(uri: &Uri) -> String {
    let scheme = uri.scheme_str().unwrap_or("http");
    let port = uri
        .port_u16()
        .unwrap_or(if scheme == "https" { 443 } else { 80 });
    let host = uri.host().unwrap_or_default().to_lowercase();
    format!("{scheme}://{host}:{port}")
}

fn is_loopback(host: &str) -> bool {
    let host = host.trim_start_matches('[').trim_end_matches(']');
    host == "localhost"
        || host
            .parse::<std::net::IpAddr>()
            .is_ok_and(|address| address.is_loopback())
}

fn is_redirect(status: StatusCode) -> bool {
    matches!(
        status,
        StatusCode::MOVED_PERMANENTLY
            | StatusCode::FOUND
            | StatusCode::SEE_OTHER
            | StatusCode::TEMPORARY_REDIRECT
            | StatusCode::PERMANENT_REDIRECT
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn embedder(url: &str, key: Option<&str>) -> Result<Embedder, EmbedError> {
        Embedder::new(url, "model".to_owned(), key.map(str::to_owned))
    }

    #[test]
    fn a_url_may_name_the_origin_the_api_or_the_endpoint() {
        for (url, endpoint) in [
            (
                "http://localhost:11434",
                "http://localhost:11434/v1/embeddings",
            ),
            (
                "http://localhost:11434/",
                "http://localhost:11434/v1/embeddings",
            ),
            (
                "https://Example.org/v1",
                "https://example.org:443/v1/embeddings",
            ),
            (
                "https://example.org/x/embeddings",
                "https://example.org:443/x/embeddings",
            ),
        ] {
            let id = embedder(url, None).unwrap().id();
            assert_eq!(id, format!("{endpoint} model"), "{url}");
        }
        for url in [
            "",
            "localhost",
            "ftp://x/",
            "/v1",
            "http://me:secret@x/",
            "http://",
        ] {
            assert!(embedder(url, None).is_err(), "{url}");
        }
    }

    #[test]
    fn a_key_never_travels_in_the_clear() {
        assert!(embedder("http://example.org", Some("k")).is_err());
        assert!(embedder("http://127.0.0.1:1", Some("k")).is_ok());
        assert!(embedder("http://[::1]:1", Some("k")).is_ok());
        assert!(embedder("https://example.org", Some("k")).is_ok());
        assert!(
            !embedder("https://example.org", Some("secret"))
                .unwrap()
                .id()
                .contains("secret")
        );
    }

    #[test]
    fn redirects_stay_within_the_origin() {
        let embedder = embedder("http://localhost:11434", None).unwrap();
        assert!(embedder.redirected("/elsewhere").is_ok());
        assert!(embedder.redirected("http://LOCALHOST:11434/x").is_ok());
        for elsewhere in [
            "http://localhost/x",
            "https://localhost:11434/x",
            "//example.org/x",
            "http://example.org/",
            "",
        ] {
            assert!(embedder.redirected(elsewhere).is_err(), "{elsewhere}");
        }
    }

    #[test]
    fn an_answer_has_one_good_vector_for_each_text() {
        let read = |text: &str, count| vectors(serde_json::from_str(text).unwrap(), count);
        let swapped = r#"{"data":[{"index":1,"embedding":[3,4]},{"index":0,"embedding":[1,2]}]}"#;
        assert_eq!(read(swapped, 2).unwrap(), [[1.0, 2.0], [3.0, 4.0]]);
        for (answer, count) in [
            (swapped, 1),
            (swapped, 3),
            (r#"{"data":[{"index":0,"embedding":[]}]}"#, 1),
            (
                r#"{"data":[{"index":0,"embedding":[1]},{"index":0,"embedding":[1]}]}"#,
                2,
            ),
            (
                r#"{"data":[{"index":0,"embedding":[1]},{"index":1,"embedding":[1,2]}]}"#,
                2,
            ),
        ] {
            assert!(read(answer, count).is_err(), "{answer}");
        }
    }

    #[test]
    fn models_read_what_they_were_trained_to_read() {
        assert_eq!(
            prefix("Nomic-Embed-Text:v1.5", Purpose::Query),
            "search_query: "
        );
        assert_eq!(prefix("intfloat/e5-base", Purpose::Passage), "passage: ");
        assert_eq!(prefix("text-embedding-3-small", Purpose::Query), "");
    }
}
