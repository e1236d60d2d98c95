//! Checks that every request must pass, and the secrets of the page.

use std::io::{self, Read};
use std::sync::Mutex;

use super::http::{HttpRequest, HttpResponse};

/// Header with the token for changes.
const WRITE_HEADER: &str = "x-hippod-write";
/// Header with the token that stops the server.
const STOP_HEADER: &str = "x-hippod-stop";

/// Returns 256 random bits in hexadecimal notation.
///
/// # Errors
/// Fails if the system provides no random numbers.
#[expect(clippy::disallowed_methods, reason = "the random numbers of the system")]
pub fn random_token() -> io::Result<String> {
    let mut bytes = [0; 32];
    std::fs::File::open("/dev/urandom")?.read_exact(&mut bytes)?;
    Ok(blake3::Hash::from(bytes).to_hex().to_string())
}

/// Permission that a request needs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Permission {
    /// Files of the page, which contain no data.
    Page,
    /// The one-time token, which becomes the cookie.
    SignIn,
    /// The cookie, for data.
    Read,
    /// The cookie and the token for changes.
    Write,
    /// The token that stops the server.
    Stop,
}

/// Secrets of one server, and the checks that use them.
#[derive(Debug)]
pub struct Guard {
    host: String,
    cookie_name: String,
    cookie: String,
    write: Option<String>,
    stop: String,
    /// The one-time token, until a browser has used it.
    token: Mutex<Option<String>>,
}

impl Guard {
    /// Creates the guard of the server at a port, with new secrets.
    ///
    /// # Errors
    /// Fails if the system provides no random numbers.
    pub fn new(port: u16, may_write: bool) -> io::Result<Self> {
        Ok(Self {
            host: format!("127.0.0.1:{port}"),
            // Browsers send a cookie to all ports of a host, so each port has a name of its own.
            cookie_name: format!("hippod-{port}"),
            cookie: random_token()?,
            write: may_write.then(random_token).transpose()?,
            stop: random_token()?,
            token: Mutex::new(Some(random_token()?)),
        })
    }

    /// Returns the address of the page, with the one-time token in the fragment, which browsers do not send.
    pub fn url(&self) -> String {
        let token = self.token.lock().ok().and_then(|token| token.clone());
        format!("http://{}/#token={}", self.host, token.unwrap_or_default())
    }

    /// Returns the token that stops the server.
    pub fn stop_token(&self) -> &str {
        &self.stop
    }

    /// Returns the token for changes, if the page may change the memory.
    pub fn write_token(&self) -> Option<&str> {
        self.write.as_deref()
    }

    /// Checks a request.
    ///
    /// # Errors
    /// Returns the response to a request that is not allowed.
    pub fn check(&self, request: &HttpRequest, access: Permission) -> Result<(), HttpResponse> {
        let forbidden = |why: &str| Err(HttpResponse::refusal("403 Forbidden", why));
        // A page of another site can resolve its own name to 127.0.0.1. Then the host is that name.
        if request.header("host") != Some(&self.host) {
            return Err(HttpResponse::refusal("421 Misdirected Request", "wrong host"));
        }
        let origin = format!("http://{}", self.host);
        let is_post = request.method == "POST";
        let names_origin = request.has_header("origin") || is_post;
        if names_origin && request.header("origin") != Some(&origin) {
            return forbidden("wrong origin");
        }
        let site = request.header("sec-fetch-site");
        let is_own = matches!(site, None | Some("same-origin" | "none"));
        // A link of another site may open the page, which has no data until a person signs in.
        let is_tab = request.header("sec-fetch-dest") == Some("document");
        let is_link = access == Permission::Page && is_tab;
        if !is_own && !is_link {
            return forbidden("the request comes from another site");
        }
        let is_json = request.header("content-type") == Some("application/json");
        if is_post && !is_json {
            return Err(HttpResponse::refusal(
                "415 Unsupported Media Type",
                "the body must be JSON",
            ));
        }
        let has =
            |header: &str, secret: &str| request.header(header).is_some_and(|given| is_same(given, secret));
        match access {
            Permission::Page | Permission::SignIn => Ok(()),
            Permission::Stop if has(STOP_HEADER, &self.stop) => Ok(()),
            Permission::Stop => forbidden("wrong token"),
            Permission::Read | Permission::Write if !self.has_cookie(request) => {
                let why = "not signed in; to sign in, open the address that `hippoctl ui` prints";
                Err(HttpResponse::refusal("401 Unauthorized", why))
            }
            Permission::Read => Ok(()),
            Permission::Write => match &self.write {
                Some(secret) if has(WRITE_HEADER, secret) => Ok(()),
                Some(_) => forbidden("wrong token"),
                None => forbidden("the page is read-only; to allow changes, start it with --write"),
            },
        }
    }

    /// Returns whether the request has the cookie.
    pub fn has_cookie(&self, request: &HttpRequest) -> bool {
        let cookies = request.header("cookie").unwrap_or_default().split(';');
        let mut own = cookies.filter_map(|pair| pair.trim().split_once('='));
        own.any(|(name, value)| name == self.cookie_name && is_same(value, &self.cookie))
    }

    /// Returns the cookie in exchange for the one-time token. The token is then used up.
    pub fn sign_in(&self, given: &str) -> Option<String> {
        let mut token = self.token.lock().ok()?;
        token.take_if(|token| is_same(given, token))?;
        Some(format!(
            "{}={}; HttpOnly; SameSite=Strict; Path=/",
            self.cookie_name, self.cookie
        ))
    }
}

/// Compares a secret in constant time.
fn is_same(given: &str, secret: &str) -> bool {
    blake3::hash(given.as_bytes()) == blake3::hash(secret.as_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn request(method: &str, headers: &[(&str, &str)]) -> HttpRequest {
        let mut text = format!("{method} / HTTP/1.1\r\n");
        for (name, value) in headers {
            text += &format!("{name}: {value}\r\n");
        }
        text += "\r\n";
        HttpRequest::read(&mut text.as_bytes(), &mut Vec::new())
            .unwrap()
            .unwrap()
    }

    fn status(guard: &Guard, access: Permission, method: &str, headers: &[(&str, &str)]) -> String {
        let checked = guard.check(&request(method, headers), access);
        checked.map_or_else(|refusal| refusal.status[..3].to_owned(), |()| "200".to_owned())
    }

    const HOST: (&str, &str) = ("Host", "127.0.0.1:80");
    const ORIGIN: (&str, &str) = ("Origin", "http://127.0.0.1:80");
    const JSON: (&str, &str) = ("Content-Type", "application/json");

    #[test]
    fn only_the_page_itself_can_ask_for_data() {
        let guard = Guard::new(80, true).unwrap();
        let cookie = format!("a=b; hippod-80={}", guard.cookie);
        let cookie = ("Cookie", cookie.as_str());
        let write = (WRITE_HEADER, guard.write.as_deref().unwrap());
        let (read, change) = (Permission::Read, Permission::Write);
        for (expected, access, method, headers) in [
            ("200", read, "POST", vec![HOST, ORIGIN, JSON, cookie]),
            ("200", change, "POST", vec![HOST, ORIGIN, JSON, cookie, write]),
            ("200", Permission::Page, "GET", vec![HOST]),
            // A name that resolves to 127.0.0.1, no host, and two hosts.
            ("421", Permission::Page, "GET", vec![("Host", "evil.example:80")]),
            ("421", Permission::Page, "GET", vec![("Host", "localhost:80")]),
            ("421", Permission::Page, "GET", vec![]),
            (
                "421",
                Permission::Page,
                "GET",
                vec![HOST, ("Host", "evil.example")],
            ),
            // Another origin, no origin, and another port of the same host.
            (
                "403",
                read,
                "POST",
                vec![HOST, ("Origin", "http://evil.example"), JSON, cookie],
            ),
            ("403", read, "POST", vec![HOST, ("Origin", "null"), JSON, cookie]),
            ("403", read, "POST", vec![HOST, JSON, cookie]),
            (
                "403",
                read,
                "POST",
                vec![HOST, ("Origin", "http://127.0.0.1:81"), JSON, cookie],
            ),
            (
                "403",
                read,
                "GET",
                vec![HOST, ("Origin", "http://evil.example"), cookie],
            ),
            (
                "403",
                read,
                "GET",
                vec![HOST, ("Sec-Fetch-Site", "cross-site"), cookie],
            ),
            (
                "403",
                read,
                "GET",
                vec![HOST, ("Sec-Fetch-Site", "same-site"), cookie],
            ),
            // A form.
            (
                "415",
                read,
                "POST",
                vec![HOST, ORIGIN, ("Content-Type", "text/plain"), cookie],
            ),
            ("415", read, "POST", vec![HOST, ORIGIN, cookie]),
            // No cookie, and a wrong one.
            ("401", read, "POST", vec![HOST, ORIGIN, JSON]),
            (
                "401",
                read,
                "POST",
                vec![HOST, ORIGIN, JSON, ("Cookie", "hippod-80=1")],
            ),
            ("401", change, "POST", vec![HOST, ORIGIN, JSON, write]),
            ("403", change, "POST", vec![HOST, ORIGIN, JSON, cookie]),
            (
                "403",
                change,
                "POST",
                vec![HOST, ORIGIN, JSON, cookie, (WRITE_HEADER, "1")],
            ),
            (
                "403",
                Permission::Stop,
                "POST",
                vec![HOST, ORIGIN, JSON, cookie, write],
            ),
        ] {
            assert_eq!(
                status(&guard, access, method, &headers),
                expected,
                "{method} {headers:?}"
            );
        }
        let link = [
            HOST,
            ("Sec-Fetch-Site", "cross-site"),
            ("Sec-Fetch-Dest", "document"),
        ];
        assert_eq!(status(&guard, Permission::Page, "GET", &link), "200");
        assert_eq!(
            status(&guard, read, "GET", &[&link[..], &[cookie]].concat()),
            "403"
        );
        let read_only = Guard::new(80, false).unwrap();
        let cookie = format!("hippod-80={}", read_only.cookie);
        let headers = [HOST, ORIGIN, JSON, ("Cookie", cookie.as_str()), write];
        assert_eq!(status(&read_only, change, "POST", &headers), "403");
    }

    #[test]
    fn the_token_in_the_address_works_once() {
        let guard = Guard::new(80, false).unwrap();
        let token = guard.url().split_once("#token=").unwrap().1.to_owned();
        assert_eq!(token.len(), 64);
        assert_eq!(guard.sign_in("wrong"), None);
        let cookie = guard.sign_in(&token).unwrap();
        assert!(
            cookie.ends_with("; HttpOnly; SameSite=Strict; Path=/"),
            "{cookie}"
        );
        assert_eq!(guard.sign_in(&token), None);
        assert_eq!(guard.sign_in(""), None);
    }
}
