//! Access to the runner: the token, the host names the runner answers to, and the pages it answers.
//!
//! There are no cookies and no CORS headers. A page of another site cannot read answers. It can send the
//! token's header only after asking, and is refused. A name that an attacker points at this machine is not in
//! the list of hosts.

pub(crate) mod guests;
pub mod token_file;

use std::collections::BTreeMap;
use std::net::{IpAddr, SocketAddr};
use std::sync::Mutex;
use std::time::{Duration, Instant};

use axum::http::{HeaderMap, Uri, header};
use sha2::{Digest, Sha256};
use subtle::ConstantTimeEq;

use crate::error::ApiError;

/// Wrong tokens per minute and address before the answer becomes 429.
pub const FAILURES_PER_MINUTE: usize = 10;
const MINUTE: Duration = Duration::from_secs(60);

/// Checks tokens. Holds no token, only its hash.
#[derive(Debug)]
pub struct Auth {
    hash: [u8; 32],
    failures: Mutex<BTreeMap<Option<IpAddr>, Vec<Instant>>>,
}

impl Auth {
    /// Accepts only `token`.
    #[must_use]
    pub fn new(token: &str) -> Self {
        Self { hash: hash(token), failures: Mutex::default() }
    }

    /// Checks the header `Authorization: Bearer TOKEN`.
    ///
    /// # Errors
    ///
    /// 401, and 429 once an address has failed too often. The right token is always accepted, so
    /// that nobody can lock its owner out.
    pub fn check(&self, headers: &HeaderMap, from: Option<IpAddr>) -> Result<(), ApiError> {
        let given = bearer(headers);
        // Without a token the comparison is made all the same, and takes the same time.
        let is_right: bool = hash(given.unwrap_or_default()).ct_eq(&self.hash).into();
        if is_right && given.is_some() {
            return Ok(());
        }
        let now = Instant::now();
        let Ok(mut failures) = self.failures.lock() else { return Err(ApiError::Unauthenticated) };
        failures.retain(|_, times| {
            times.retain(|&time| now.duration_since(time) < MINUTE);
            !times.is_empty()
        });
        let times = failures.entry(from).or_default();
        if times.len() >= FAILURES_PER_MINUTE {
            let wait =
                times.first().map_or(MINUTE, |&first| MINUTE.saturating_sub(now.duration_since(first)));
            let retry_after_ms = u64::try_from(wait.as_millis()).unwrap_or(u64::MAX);
            return Err(ApiError::TooManyFailures { retry_after_ms });
        }
        times.push(now);
        Err(ApiError::Unauthenticated)
    }
}

fn hash(token: &str) -> [u8; 32] {
    Sha256::digest(token).into()
}

fn bearer(headers: &HeaderMap) -> Option<&str> {
    let mut values = headers.get_all(header::AUTHORIZATION).iter();
    let value = values.next()?.to_str().ok()?;
    if values.next().is_some() {
        return None;
    }
    let (scheme, token) = value.split_once(' ')?;
    scheme.eq_ignore_ascii_case("bearer").then_some(token)
}

/// The address under which a browser opens the page where a proxy or a tunnel stands between: `https://isobar.example/`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PublicUrl {
    /// `https://isobar.example`, as browsers write it: in small letters, without the usual port.
    origin: String,
    /// The part behind `//`, with the port where it is not the usual one.
    host: String,
    /// The host with the usual port written out, as some proxies pass it on.
    with_port: Option<String>,
}

impl std::str::FromStr for PublicUrl {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let uri: Uri = text.parse().map_err(|_| "it is no URL".to_owned())?;
        let scheme = uri.scheme_str().unwrap_or_default();
        let usual = match scheme {
            "http" => 80,
            "https" => 443,
            _ => return Err("it begins with `http://` or `https://`".to_owned()),
        };
        let authority = uri.authority().ok_or("it names no host")?;
        if authority.host().is_empty() || authority.as_str().contains('@') {
            return Err("it names a host, and nobody before it".to_owned());
        }
        if !matches!(uri.path(), "" | "/") || uri.query().is_some() || text.contains('#') {
            return Err("it ends behind the host: the runner answers at the root of its address".to_owned());
        }
        let name = authority.host().to_ascii_lowercase();
        let port = authority.port_u16().filter(|it| *it != usual);
        let host = port.map_or_else(|| name.clone(), |port| format!("{name}:{port}"));
        let with_port = port.is_none().then(|| format!("{name}:{usual}"));
        Ok(Self { origin: format!("{scheme}://{host}"), host, with_port })
    }
}

impl PublicUrl {
    fn answers_to(&self, name: &str) -> bool {
        [Some(&self.host), self.with_port.as_ref()]
            .into_iter()
            .flatten()
            .any(|it| it.eq_ignore_ascii_case(name))
    }
}

impl std::fmt::Display for PublicUrl {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}/", self.origin)
    }
}

/// The names under which the runner answers, each with its port.
#[derive(Clone, Debug)]
pub struct Hosts {
    allowed: Vec<String>,
    /// Where pages come from through a proxy.
    public: Option<PublicUrl>,
}

impl Hosts {
    /// Names of a runner at `address`: the loopback names, the address itself, and `further` names.
    #[must_use]
    pub fn new(address: SocketAddr, further: &[String]) -> Self {
        let port = address.port();
        let mut names = vec!["127.0.0.1".to_owned(), "localhost".to_owned(), "[::1]".to_owned()];
        match address.ip() {
            ip if ip.is_unspecified() => {}
            IpAddr::V4(ip) => names.push(ip.to_string()),
            IpAddr::V6(ip) => names.push(format!("[{ip}]")),
        }
        names.extend(further.iter().map(|it| it.to_ascii_lowercase()));
        let mut allowed: Vec<String> = names.iter().map(|name| format!("{name}:{port}")).collect();
        if port == 80 {
            allowed.extend(names);
        }
        Self { allowed, public: None }
    }

    /// The same, also under a public address.
    #[must_use]
    pub fn behind(self, public: Option<PublicUrl>) -> Self {
        Self { public, ..self }
    }

    /// Checks that there is exactly one host and that it is one of ours, whatever the method and path.
    ///
    /// # Errors
    ///
    /// 403.
    pub fn check_host(&self, uri: &Uri, headers: &HeaderMap) -> Result<(), ApiError> {
        let mut hosts = headers.get_all(header::HOST).iter();
        let (host, more) = (hosts.next(), hosts.next());
        let (Some(host), None) = (host.and_then(|it| it.to_str().ok()), more) else {
            return Err(ApiError::ForeignHost(String::new()));
        };
        // A proxy's form of the request line, `GET http://name/ HTTP/1.1`, must name one of ours too.
        let authority = uri.authority().map_or(host, |it| it.as_str());
        for name in [host, authority] {
            if !self.is_ours(name) && !self.public.as_ref().is_some_and(|it| it.answers_to(name)) {
                return Err(ApiError::ForeignHost(name.to_owned()));
            }
        }
        Ok(())
    }

    /// Checks that a browser, where one asks, asks for a page of this runner.
    ///
    /// # Errors
    ///
    /// 403.
    pub fn check_origin(&self, headers: &HeaderMap) -> Result<(), ApiError> {
        for origin in headers.get_all(header::ORIGIN) {
            let origin = origin.to_str().unwrap_or("null");
            let is_public = self.public.as_ref().is_some_and(|it| it.origin.eq_ignore_ascii_case(origin));
            if !is_public && !origin.strip_prefix("http://").is_some_and(|it| self.is_ours(it)) {
                return Err(ApiError::ForeignOrigin(origin.to_owned()));
            }
        }
        for site in headers.get_all("sec-fetch-site") {
            let site = site.to_str().unwrap_or("unknown");
            if site != "same-origin" && site != "none" {
                return Err(ApiError::ForeignOrigin(format!("another site ({site})")));
            }
        }
        Ok(())
    }

    fn is_ours(&self, name: &str) -> bool {
        self.allowed.iter().any(|it| it.eq_ignore_ascii_case(name))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use axum::http::HeaderValue;

    #[test]
    fn a_public_address_is_one_more_name_and_one_more_origin() {
        let url = |it: &str| it.parse::<PublicUrl>();
        let hosts = |it: &str| {
            let own = Hosts::new(SocketAddr::from(([127, 0, 0, 1], 8787)), &[]);
            own.behind(Some(url(it).expect("a URL")))
        };
        let one = |name: header::HeaderName, value: &str| {
            let mut headers = HeaderMap::new();
            headers.append(name, HeaderValue::from_str(value).expect("a header value"));
            headers
        };
        let host = |of: &Hosts, value: &str| {
            of.check_host(&Uri::from_static("/v1/jobs"), &one(header::HOST, value)).is_ok()
        };
        let origin = |of: &Hosts, value: &str| of.check_origin(&one(header::ORIGIN, value)).is_ok();
        let proxy = hosts("https://Isobar.example/");
        for it in ["isobar.example", "isobar.example:443", "127.0.0.1:8787"] {
            assert!(host(&proxy, it), "{it}");
        }
        for it in ["isobar.example:8787", "isobar.example:80", "example", "isobar.example.evil"] {
            assert!(!host(&proxy, it), "{it}");
        }
        assert!(origin(&proxy, "https://isobar.example") && origin(&proxy, "http://127.0.0.1:8787"));
        for it in [
            "https://isobar.example:8787",
            "https://other.example",
            "http://isobar.example",
            "https://isobar.example.evil",
            "null",
        ] {
            assert!(!origin(&proxy, it), "{it}");
        }
        let tunnel = hosts("http://localhost:9000");
        assert!(host(&tunnel, "localhost:9000") && origin(&tunnel, "http://localhost:9000"));
        assert!(!host(&tunnel, "localhost:9001") && !origin(&tunnel, "https://localhost:9000"));
        for it in [
            "isobar.example",
            "ftp://a",
            "https://",
            "https://a/b",
            "https://u@a/",
            "https://a/?b",
            "https://a/#b",
        ] {
            assert!(url(it).is_err(), "{it}");
        }
    }

    fn hosts() -> Hosts {
        Hosts::new(SocketAddr::from(([127, 0, 0, 1], 8787)), &["lab.example".to_owned()])
    }

    fn host_is_accepted(values: &[&[u8]]) -> bool {
        let mut headers = HeaderMap::new();
        for value in values {
            headers.append(header::HOST, HeaderValue::from_bytes(value).expect("a header value"));
        }
        hosts().check_host(&Uri::from_static("/v1/jobs"), &headers).is_ok()
    }

    #[test]
    fn only_the_exact_hosts_pass() {
        for host in ["127.0.0.1:8787", "localhost:8787", "LocalHost:8787", "[::1]:8787", "lab.example:8787"] {
            assert!(host_is_accepted(&[host.as_bytes()]), "{host}");
        }
        let foreign = [
            "",
            " ",
            "127.0.0.1",
            "localhost",
            "[::1]",
            "::1",
            "::1:8787",
            "127.0.0.1:8788",
            "127.0.0.1:08787",
            "127.0.0.1:87870",
            "127.0.0.1.:8787",
            "localhost.:8787",
            "localhost.evil.example:8787",
            "evil.example",
            "evil.example:8787",
            "evil-localhost:8787",
            "user@localhost:8787",
            "localhost:8787@evil.example",
            "localhost:8787,evil.example",
            "localhost:8787 ",
            " localhost:8787",
            "localhost:8787/",
            "127.1:8787",
            "2130706433:8787",
            "0x7f000001:8787",
            "0.0.0.0:8787",
            "[::ffff:127.0.0.1]:8787",
            "[::]:8787",
            "127.0.0.2:8787",
            "lab.example",
            "lab.example.:8787",
            "http://localhost:8787",
        ];
        for host in foreign {
            assert!(!host_is_accepted(&[host.as_bytes()]), "{host}");
        }
        assert!(!host_is_accepted(&[]), "absent");
        assert!(!host_is_accepted(&[b"localhost:8787", b"localhost:8787"]), "doubled");
        assert!(!host_is_accepted(&[b"localhost:8787", b"evil.example"]), "doubled");
        assert!(!host_is_accepted(&[b"\xff"]), "not text");
    }

    #[test]
    fn the_request_line_cannot_name_another_host() {
        let mut headers = HeaderMap::new();
        headers.insert(header::HOST, HeaderValue::from_static("localhost:8787"));
        let hosts = hosts();
        assert!(hosts.check_host(&Uri::from_static("http://localhost:8787/v1"), &headers).is_ok());
        assert!(hosts.check_host(&Uri::from_static("http://evil.example/v1"), &headers).is_err());
    }

    #[test]
    fn pages_of_others_are_refused() {
        let check = |name: &'static str, value: &str| {
            let mut headers = HeaderMap::new();
            headers.insert(name, HeaderValue::from_str(value).expect("a header value"));
            hosts().check_origin(&headers).is_ok()
        };
        assert!(hosts().check_origin(&HeaderMap::new()).is_ok(), "no browser");
        assert!(check("origin", "http://127.0.0.1:8787") && check("origin", "http://localhost:8787"));
        for origin in [
            "null",
            "",
            "https://127.0.0.1:8787",
            "http://127.0.0.1",
            "http://127.0.0.1:87",
            "http://evil.example",
            "http://127.0.0.1:8787.evil.example",
            "http://127.0.0.1:8787/",
            "file://",
        ] {
            assert!(!check("origin", origin), "{origin}");
        }
        assert!(check("sec-fetch-site", "same-origin") && check("sec-fetch-site", "none"));
        assert!(!check("sec-fetch-site", "cross-site") && !check("sec-fetch-site", "same-site"));
    }

    fn with(value: &'static str) -> HeaderMap {
        let mut headers = HeaderMap::new();
        headers.insert(header::AUTHORIZATION, HeaderValue::from_static(value));
        headers
    }

    #[test]
    fn only_the_token_itself_is_accepted() {
        let auth = Auth::new("right");
        assert!(auth.check(&with("Bearer right"), None).is_ok());
        assert!(auth.check(&with("bearer right"), None).is_ok());
        for wrong in
            ["Bearer wrong", "Bearer ", "Bearer", "Basic right", "right", "Bearer right ", "Bearer  right"]
        {
            assert!(auth.check(&with(wrong), None).is_err(), "{wrong}");
        }
        assert!(Auth::new("").check(&HeaderMap::new(), None).is_err(), "no header is no token");
    }

    #[test]
    fn an_address_that_guesses_is_slowed_down_and_its_owner_is_not() {
        let auth = Auth::new("right");
        let here = Some(IpAddr::from([127, 0, 0, 1]));
        for _ in 0..FAILURES_PER_MINUTE {
            assert!(matches!(auth.check(&with("Bearer wrong"), here), Err(ApiError::Unauthenticated)));
        }
        assert!(matches!(auth.check(&with("Bearer wrong"), here), Err(ApiError::TooManyFailures { .. })));
        assert!(auth.check(&with("Bearer right"), here).is_ok());
        assert!(matches!(auth.check(&with("Bearer wrong"), None), Err(ApiError::Unauthenticated)));
    }
}
