//! Secrets that their own form tells.

use std::ops::Range;

use super::Place;
use super::providers::{Body, Prefix};
use super::shape::{self, Shape, is_placeholder};
use crate::text::start;

/// JSON that begins with `{"`, as base64: a web token.
pub(super) const JWT: &str = "eyJ";
/// First line of a key.
pub(super) const KEY_BLOCK: &str = "-----BEGIN ";
/// Beginning of its last line.
pub(super) const KEY_END: &str = "-----END ";
/// Between the scheme and the rest of an address.
pub(super) const URL: &str = "://";
/// Within the token of a Telegram bot.
pub(super) const TELEGRAM: &str = ":AA";

/// Within the secret of an application of Azure.
pub(super) const AZURE: &str = "Q~";
/// What cookies stand behind.
pub(super) const COOKIES: [&str; 2] = ["set-cookie:", "cookie:"];
/// The beginning of a private key, as base64.
pub(super) const PACKED_KEY: &str = "LS0tLS1CRUdJTi";

/// What the secrets of one provider have behind them.
pub(super) struct Suffix {
    pub mark: &'static str,
    /// Fewest and most characters before it.
    before: (usize, usize),
    hex: bool,
    /// Fewest and most characters behind it.
    behind: (usize, usize),
}

/// Secrets that are known by their end.
pub(super) const SUFFIXES: [Suffix; 3] = [
    Suffix {
        mark: "-us",
        before: (32, 32),
        hex: true,
        behind: (1, 2),
    },
    Suffix {
        mark: "_mmk",
        before: (34, 40),
        hex: false,
        behind: (0, 0),
    },
    Suffix {
        mark: ".atlasv1.",
        before: (14, 14),
        hex: false,
        behind: (50, 80),
    },
];

/// Bytes of a title such as `RSA PRIVATE KEY`.
const TITLE: usize = 60;
/// Bytes of an address before its host.
const AUTHORITY: usize = 512;
/// Bytes of a secret that are judged; more of the same do not make it another thing.
const JUDGED: usize = 256;

const fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric()
}

const fn is_any(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.' | b'=' | b'+' | b'/')
}

/// What stands behind the host of an address.
const fn is_of_address(byte: u8) -> bool {
    is_any(byte) || matches!(byte, b'@' | b'%' | b'?' | b'&' | b':')
}

const fn is_base64url(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_')
}

impl Place<'_> {
    /// Whether nothing that belongs to a word stands before it.
    pub(super) fn stands_alone(&self) -> bool {
        let before = self.before(self.start);
        !(before.is_ascii_alphanumeric() || matches!(before, b'_' | b'-'))
    }

    /// A secret that begins with the mark of its provider.
    pub(super) fn prefix(&self, prefix: &Prefix) -> Option<Range<usize>> {
        let exact = self.str(self.start..self.end) == prefix.mark;
        if !exact || !self.stands_alone() {
            return None;
        }
        let wanted = match prefix.body {
            Body::Shape(shape) => return self.shaped(shape),
            Body::Word | Body::Exact => is_word,
            Body::Any => is_any,
            Body::Path => is_of_address,
            Body::Capitals => |byte: u8| byte.is_ascii_uppercase() || byte.is_ascii_digit(),
            Body::Hex => |byte: u8| byte.is_ascii_hexdigit(),
        };
        let judged = self.run(self.end, JUDGED, wanted);
        let body = self.str(self.end..judged).trim_end_matches(['.', '-', '/']);
        if body.len() < prefix.least || is_placeholder(body) {
            return None;
        }
        let fits = match prefix.body {
            Body::Capitals | Body::Hex => {
                body.len() == prefix.least && !is_word(self.at(judged)) && !body.contains("EXAMPLE")
            }
            Body::Exact => body.len() == prefix.least && shape::is_random(body),
            Body::Word => !shape::is_plain(body),
            Body::Shape(_) => false,
            Body::Any | Body::Path => body
                .split(['-', '_', '.', '/', '+', '@', '=', '&'])
                .any(|part| part.len() >= 8 && !shape::is_plain(part)),
        };
        let from = if prefix.body == Body::Path {
            self.end
        } else {
            self.start
        };
        fits.then(|| from..self.whole(self.end, wanted))
    }

    /// A secret of which every part has a known length.
    fn shaped(&self, shape: &str) -> Option<Range<usize>> {
        let end = shape
            .split('|')
            .find_map(|shape| super::providers::end_of_shape(shape, self.bytes(), self.end))?;
        let body = start(self.str(self.end..end), JUDGED);
        // Parts with marks between them are no word, however few digits they have.
        let least = if shape.contains('\'') { 1 } else { 2 };
        let made = Shape::of(body).digits >= least || body.len() < 8;
        (made && !is_placeholder(body)).then_some(self.start..end)
    }

    /// `Q~` in the secret of an application of Azure: four characters before it and 31 to 34 behind.
    pub(super) fn azure(&self) -> Option<Range<usize>> {
        let wanted = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'~' | b'.' | b'-');
        let from = self.start.checked_sub(4).filter(|from| *from >= self.done)?;
        let before = &self.bytes()[from..self.start];
        let end = self.run(self.end, 64, wanted);
        let end = self.end + self.str(self.end..end).trim_end_matches('.').len();
        let whole = before.iter().all(|byte| wanted(*byte)) && before[3].is_ascii_digit();
        (whole && (31..=34).contains(&(end - self.end))).then_some(from..end)
    }

    /// A secret that ends in a mark of its provider: so many characters before it at least.
    pub(super) fn suffix(&self, suffix: &Suffix) -> Option<Range<usize>> {
        if self.str(self.start..self.end) != suffix.mark {
            return None;
        }
        let before = &self.bytes()[self.done..self.start];
        let wanted = |byte: &&u8| match suffix.hex {
            true => byte.is_ascii_hexdigit(),
            false => byte.is_ascii_alphanumeric() || **byte == b'_',
        };
        let length = before.iter().rev().take(64).take_while(wanted).count();
        let end = self.run(self.end, JUDGED, is_base64url);
        let fits = (suffix.before.0..=suffix.before.1).contains(&length)
            && (suffix.behind.0..=suffix.behind.1).contains(&(end - self.end));
        let body = self.str(self.start - length..self.start);
        (fits && Shape::of(body).digits >= 2 && !is_placeholder(body)).then(|| self.start - length..end)
    }

    /// The values of a cookie, where one of them looks made by a machine.
    pub(super) fn cookie(&self) -> Option<Range<usize>> {
        let end = self.run(self.end, 2_048, |byte| {
            !matches!(byte, b'\n' | b'\r' | b'"' | b'\'' | b'`')
        });
        let pairs = self.str(self.end..end);
        let made = |pair: &str| {
            let value = pair.split_once('=').map_or("", |(_, value)| value.trim());
            value.len() >= 12
                && Shape::of(value).is_mixed()
                && !shape::is_slug(value)
                && !is_placeholder(value)
        };
        if !pairs.split(';').any(made) {
            return None;
        }
        let from = self.end + pairs.len() - pairs.trim_start().len();
        Some(from..self.end + pairs.trim_end().len())
    }

    /// A private key as base64 of its text, as the configuration of kubectl has it.
    pub(super) fn packed_key(&self) -> Option<Range<usize>> {
        let exact = self.str(self.start..self.end) == PACKED_KEY;
        let public = ["BDRVJU", "BQVUJMSUM", "BUUlVTVE"];
        let rest = self.rest(self.end);
        if !exact || public.iter().any(|title| rest.starts_with(title)) {
            return None;
        }
        let end = self.run(self.end, usize::MAX, is_any);
        (end - self.end >= 24).then_some(self.start..end)
    }

    /// To the end of a run, without the marks that end a sentence.
    pub(super) fn whole(&self, from: usize, wanted: impl Fn(u8) -> bool) -> usize {
        let end = self.run(from, usize::MAX, wanted);
        from + self.str(from..end).trim_end_matches(['.', '-', '/']).len()
    }

    /// `header.payload.signature`, the last of which may be missing.
    pub(super) fn jwt(&self) -> Option<Range<usize>> {
        if self.str(self.start..self.end) != JWT || !self.stands_alone() {
            return None;
        }
        let header = self.run(self.end, JUDGED, is_base64url);
        // What Grafana gives out is one object without a signature.
        let single = self.rest(self.end).starts_with("rIjoi") && header - self.end >= 40;
        if single && self.at(header) != b'.' {
            return Some(self.start..self.whole(self.end, |byte| is_base64url(byte) || byte == b'='));
        }
        let long = header - self.end >= 8;
        // Longer headers are none, and looking for their ends would cost.
        let payload = self.run(header + 1, 9, is_base64url);
        let whole = long && self.at(header) == b'.' && payload - header > 8;
        whole.then(|| self.start..self.whole(self.end, |byte| is_base64url(byte) || byte == b'.'))
    }

    /// A private key, from its first line to its last one, or to the end of the text.
    pub(super) fn key_block(&self) -> Option<Range<usize>> {
        let body = self.end + private_title(self.rest(self.end))?;
        let Some(last) = self.rest(body).find(KEY_END) else {
            return Some(self.start..self.text.len());
        };
        let last = body + last + KEY_END.len();
        let end = self.run(last, TITLE, |byte| byte.is_ascii_alphanumeric() || byte == b' ');
        let end = self.run(end, 5, |byte| byte == b'-');
        Some(self.start..end)
    }

    /// The password in `scheme://user:password@host`.
    pub(super) fn url(&self) -> Option<Range<usize>> {
        let scheme = self.before(self.start);
        if !(scheme.is_ascii_alphanumeric() || matches!(scheme, b'+' | b'.')) {
            return None;
        }
        let ends = |byte: u8| byte.is_ascii_whitespace() || b"/?#\"'`<>|\\,".contains(&byte);
        let end = self.run(self.end, AUTHORITY, |byte| !ends(byte));
        let authority = self.str(self.end..end);
        let user = &authority[..authority.rfind('@')?];
        let secret = match user.split_once(':') {
            Some((_, password)) => password,
            None if shape::is_random(user) => user,
            None => return None,
        };
        let stays = secret.is_empty() || is_placeholder(secret) || shape::is_expression(secret);
        let from = self.end + user.len() - secret.len();
        (!stays).then_some(from..from + secret.len())
    }

    /// `123456789:AA…`.
    pub(super) fn telegram(&self) -> Option<Range<usize>> {
        let number = self.bytes()[..self.start].iter().rev().take(12);
        let number = number.take_while(|byte| byte.is_ascii_digit()).count();
        let end = self.run(self.end, 64, is_base64url);
        let whole = (6..=11).contains(&number) && (30..=40).contains(&(end - self.end));
        whole.then(|| self.start - number..end)
    }
}

/// Where the rest of a first or last line ends that is one of a private key: behind `RSA PRIVATE KEY-----`.
pub(super) fn private_title(rest: &str) -> Option<usize> {
    let bytes = rest.as_bytes().iter().take(TITLE);
    let title = bytes.take_while(|byte| byte.is_ascii_uppercase() || byte.is_ascii_digit() || **byte == b' ');
    let title = title.count();
    let private = rest[..title].contains("PRIVATE KEY") && rest[title..].starts_with("-----");
    private.then_some(title + 5)
}
