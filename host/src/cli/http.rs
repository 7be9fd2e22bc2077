//! Options of the HTTP server.

use std::env::VarError;
use std::fs;
use std::net::SocketAddr;
use std::path::PathBuf;

use anyhow::{Context, Result, bail};
use clap::Args;

use super::options::Options;
use crate::transport::http::{Config, DEFAULT_ADDRESS, Token};

/// Holds the token: not an argument, which other users of the machine could see.
const TOKEN_VARIABLE: &str = "PERSONAL_MEMORY_TOKEN";

pub(super) const EXAMPLES: &str = "\
Examples:
  personal-memory serve --http
      Serve every app on this machine, at http://127.0.0.1:7437/mcp.
  claude mcp add --scope user --transport http personal-memory http://127.0.0.1:7437/mcp
      Have Claude Code use it.
  personal-memory serve --http 0.0.0.0:7437 --token-file /home/me/token --allow-host memory.example.org
      Serve other machines too. They must send `Authorization: Bearer` with what is in the file.

TLS is not spoken: put a reverse proxy in front of what other machines can reach, have it pass each event on at once
(responses say so with X-Accel-Buffering), and name its host with --allow-host.";

#[derive(Debug, Args)]
pub(super) struct HttpOptions {
    /// Serve Streamable HTTP at /mcp instead of standard input and output. Port 0 is any that is free; the address is
    /// said on standard error. Without TLS, so an address that other machines can reach belongs behind a proxy that
    /// speaks it, and needs a token. Default: 127.0.0.1:7437.
    #[arg(long, value_name = "ADDRESS", num_args = 0..=1, default_missing_value = DEFAULT, value_parser = parse_address)]
    http: Option<SocketAddr>,

    /// Serve only those who send the token in this file, as `Authorization: Bearer`. Can also be given as
    /// $PERSONAL_MEMORY_TOKEN.
    #[arg(long, value_name = "FILE", requires = "http")]
    token_file: Option<PathBuf>,

    /// Answer to this name as well, such as a reverse proxy's, with or without a port. May be given several times.
    #[arg(long = "allow-host", value_name = "HOST", requires = "http")]
    allowed_hosts: Vec<String>,

    /// Serve web pages of this origin as well, besides those of this machine. May be given several times.
    #[arg(long = "allow-origin", value_name = "ORIGIN", requires = "http")]
    allowed_origins: Vec<String>,
}

/// [`DEFAULT_ADDRESS`], as clap wants it.
const DEFAULT: &str = "127.0.0.1:7437";

impl HttpOptions {
    /// What is to be served over HTTP, if that is wanted.
    pub(super) fn config(&self, options: &Options) -> Result<Option<Config>> {
        let Some(address) = self.http else {
            return Ok(None);
        };
        let config = Config {
            token: self.token()?,
            hosts: self.allowed_hosts.clone(),
            origins: self.allowed_origins.clone(),
            max_body_bytes: options.bounds().max_line_bytes,
            max_calls_per_second: options.bounds().max_calls_per_second,
            ..Config::local(address)
        };
        if config.token.is_none() && !config.is_local() {
            bail!(
                "other machines can reach {address}, so a token is needed: name a file that has it with --token-file, or set {TOKEN_VARIABLE}"
            );
        }
        Ok(Some(config))
    }

    fn token(&self) -> Result<Option<Token>> {
        let (text, origin) = match &self.token_file {
            Some(file) => {
                let text = fs::read_to_string(file)
                    .with_context(|| format!("the token file {} can't be read", file.display()))?;
                (text, file.display().to_string())
            }
            None => match std::env::var(TOKEN_VARIABLE) {
                Ok(text) => (text, TOKEN_VARIABLE.to_owned()),
                Err(VarError::NotPresent) => return Ok(None),
                Err(VarError::NotUnicode(_)) => bail!("{TOKEN_VARIABLE} is not text"),
            },
        };
        Token::new(&text)
            .map(Some)
            .with_context(|| format!("{origin} can't be used"))
    }
}

/// Reads `ADDRESS:PORT`, `localhost:PORT` or an address alone.
fn parse_address(text: &str) -> Result<SocketAddr, String> {
    let named = match text.strip_prefix("localhost") {
        Some(port) => format!("{}{port}", DEFAULT_ADDRESS.ip()),
        None => text.to_owned(),
    };
    let address = named.parse().or_else(|_| {
        let ip = named.parse()?;
        Ok(SocketAddr::new(ip, DEFAULT_ADDRESS.port()))
    });
    address.map_err(|_: std::net::AddrParseError| {
        format!("`{text}` is not of the form ADDRESS:PORT, such as {DEFAULT_ADDRESS}")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_may_lack_a_port_or_be_called_localhost() {
        assert_eq!(parse_address(DEFAULT), Ok(DEFAULT_ADDRESS));
        assert_eq!(parse_address("localhost:7437"), Ok(DEFAULT_ADDRESS));
        assert_eq!(parse_address("localhost"), Ok(DEFAULT_ADDRESS));
        assert_eq!(parse_address("127.0.0.1"), Ok(DEFAULT_ADDRESS));
        for (text, same) in [
            ("[::1]:80", "[::1]:80"),
            ("::1", "[::1]:7437"),
            ("0.0.0.0:0", "0.0.0.0:0"),
        ] {
            assert_eq!(
                parse_address(text)
                    .map(|address| address.to_string())
                    .as_deref(),
                Ok(same)
            );
        }
        for text in [
            "",
            "80",
            "127.0.0.1:",
            "localhost.example.org:80",
            "example.org:80",
            "1.2.3.4:99999",
        ] {
            assert!(parse_address(text).is_err(), "{text}");
        }
    }
}
