//! Secrets that are recognised by their own form.

use std::ops::Range;

use super::SecretCandidate;
use super::providers::{ProviderPrefix, SecretBody};
use super::shape::{self, CharacterShape, is_placeholder};
use super::start;

/// Start of a JSON web token: `{"` in base64.
pub(super) const JWT: &str = "eyJ";
/// Start of the first line of a key in PEM format.
pub(super) const KEY_BLOCK: &str = "-----BEGIN ";
/// Start of the last line of a key in PEM format.
pub(super) const KEY_END: &str = "-----END ";
/// Separator of the scheme and the rest of a URL.
pub(super) const URL: &str = "://";
/// Part of a Telegram bot token.
pub(super) const TELEGRAM: &str = ":AA";

/// Part of the client secret of an Azure application.
pub(super) const AZURE: &str = "Q~";
/// Headers that contain cookies.
pub(super) const COOKIES: [&str; 2] = ["set-cookie:", "cookie:"];
/// Start of a private key in PEM format that is encoded as base64 again.
pub(super) const PACKED_KEY: &str = "LS0tLS1CRUdJTi";

/// Mark at the end of or inside the secrets of one provider.
pub(super) struct ProviderSuffix {
    pub mark: &'static str,
    /// Minimum and maximum number of characters before the mark.
    before: (usize, usize),
    hex: bool,
    /// Minimum and maximum number of characters after the mark.
    behind: (usize, usize),
}

/// Secrets that are recognised by a mark at their end or inside them.
pub(super) const SUFFIXES: [ProviderSuffix; 3] = [
    ProviderSuffix {
        mark: "-us",
        before: (32, 32),
        hex: true,
        behind: (1, 2),
    },
    ProviderSuffix {
        mark: "_mmk",
        before: (34, 40),
        hex: false,
        behind: (0, 0),
    },
    ProviderSuffix {
        mark: ".atlasv1.",
        before: (14, 14),
        hex: false,
        behind: (50, 80),
    },
];

/// Maximum bytes of a title such as `RSA PRIVATE KEY`.
const TITLE: usize = 60;
/// Maximum bytes of the user, the password and the host in a URL.
const AUTHORITY: usize = 512;
/// Number of bytes at the start of a secret that are examined.
const JUDGED: usize = 256;

const fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric()
}

const fn is_any(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.' | b'=' | b'+' | b'/')
}

/// Returns true for the characters in the path and query of a URL.
const fn is_url_byte(byte: u8) -> bool {
    is_any(byte) || matches!(byte, b'@' | b'%' | b'?' | b'&' | b':')
}

const fn is_base64url(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_')
}

impl SecretCandidate<'_> {
    /// Returns true if the candidate is at the start of a word.
    pub(super) fn is_word_start(&self) -> bool {
        let before = self.byte_before(self.start);
        !(before.is_ascii_alphanumeric() || matches!(before, b'_' | b'-'))
    }

    /// Returns the secret that begins with the prefix of a provider.
    pub(super) fn find_prefixed(&self, prefix: &ProviderPrefix) -> Option<Range<usize>> {
        let exact = self.slice(self.start..self.end) == prefix.mark;
        if !exact || !self.is_word_start() {
            return None;
        }
        let wanted = match prefix.body {
            SecretBody::Shape(shape) => return self.find_shaped(shape),
            SecretBody::Word | SecretBody::Exact => is_word,
            SecretBody::Any => is_any,
            SecretBody::Path => is_url_byte,
            SecretBody::Capitals => |byte: u8| byte.is_ascii_uppercase() || byte.is_ascii_digit(),
            SecretBody::Hex => |byte: u8| byte.is_ascii_hexdigit(),
        };
        let judged = self.run_end(self.end, JUDGED, wanted);
        let body = self.slice(self.end..judged).trim_end_matches(['.', '-', '/']);
        if body.len() < prefix.least || is_placeholder(body) {
            return None;
        }
        let fits = match prefix.body {
            SecretBody::Capitals | SecretBody::Hex => {
                body.len() == prefix.least && !is_word(self.byte_at(judged)) && !body.contains("EXAMPLE")
            }
            SecretBody::Exact => body.len() == prefix.least && shape::is_random(body),
            SecretBody::Word => !shape::is_plain(body),
            SecretBody::Shape(_) => false,
            SecretBody::Any | SecretBody::Path => body
                .split(['-', '_', '.', '/', '+', '@', '=', '&'])
                .any(|part| part.len() >= 8 && !shape::is_plain(part)),
        };
        let from = match prefix.body {
            SecretBody::Path => self.end,
            _ => self.start,
        };
        fits.then(|| from..self.trimmed_run_end(self.end, wanted))
    }

    /// Finds a secret that has a prefix and then matches a shape, see `find_shape_end`.
    fn find_shaped(&self, shape: &str) -> Option<Range<usize>> {
        let end = shape
            .split('|')
            .find_map(|shape| super::providers::find_shape_end(shape, self.bytes(), self.end))?;
        let body = start(self.slice(self.end..end), JUDGED);
        // A shape with punctuation marks matches few ordinary words, so one digit is enough.
        let least = if shape.contains('\'') { 1 } else { 2 };
        let made = CharacterShape::measure(body).digits >= least || body.len() < 8;
        (made && !is_placeholder(body)).then_some(self.start..end)
    }

    /// Finds the client secret of an Azure application: four characters before `Q~` and 31 to 34 after it.
    pub(super) fn find_azure_secret(&self) -> Option<Range<usize>> {
        let wanted = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'~' | b'.' | b'-');
        let from = self.start.checked_sub(4).filter(|from| *from >= self.done)?;
        let before = &self.bytes()[from..self.start];
        let end = self.run_end(self.end, 64, wanted);
        let end = self.end + self.slice(self.end..end).trim_end_matches('.').len();
        let whole = before.iter().all(|byte| wanted(*byte)) && before[3].is_ascii_digit();
        (whole && (31..=34).contains(&(end - self.end))).then_some(from..end)
    }

    /// Finds a secret with a provider's mark at its end or inside it.
    pub(super) fn find_suffixed(&self, suffix: &ProviderSuffix) -> Option<Range<usize>> {
        if self.slice(self.start..self.end) != suffix.mark {
            return None;
        }
        let before = &self.bytes()[self.done..self.start];
        let wanted = |byte: &&u8| match suffix.hex {
            true => byte.is_ascii_hexdigit(),
            false => byte.is_ascii_alphanumeric() || **byte == b'_',
        };
        let length = before.iter().rev().take(64).take_while(wanted).count();
        let end = self.run_end(self.end, JUDGED, is_base64url);
        let fits = (suffix.before.0..=suffix.before.1).contains(&length)
            && (suffix.behind.0..=suffix.behind.1).contains(&(end - self.end));
        let body = self.slice(self.start - length..self.start);
        (fits && CharacterShape::measure(body).digits >= 2 && !is_placeholder(body))
            .then(|| self.start - length..end)
    }

    /// Returns the range of all values in a cookie header if one of the values looks generated.
    pub(super) fn find_cookie(&self) -> Option<Range<usize>> {
        let inside = |byte| !matches!(byte, b'\n' | b'\r' | b'"' | b'\'' | b'`');
        let end = self.run_end(self.end, 2_048, inside);
        let pairs = self.slice(self.end..end);
        let made = |pair: &str| {
            let value = pair.split_once('=').map_or("", |(_, value)| value.trim());
            value.len() >= 12
                && CharacterShape::measure(value).is_mixed()
                && !shape::is_slug(value)
                && !is_placeholder(value)
        };
        if !pairs.split(';').any(made) {
            return None;
        }
        let from = self.end + pairs.len() - pairs.trim_start().len();
        Some(from..self.end + pairs.trim_end().len())
    }

    /// Finds a private key in PEM format that is encoded as base64 again, as in the configuration of kubectl.
    pub(super) fn find_packed_key(&self) -> Option<Range<usize>> {
        let exact = self.slice(self.start..self.end) == PACKED_KEY;
        let public = ["BDRVJU", "BQVUJMSUM", "BUUlVTVE"];
        let rest = self.text_from(self.end);
        if !exact || public.iter().any(|title| rest.starts_with(title)) {
            return None;
        }
        let end = self.run_end(self.end, usize::MAX, is_any);
        (end - self.end >= 24).then_some(self.start..end)
    }

    /// Returns the end of the run of `wanted` bytes at an offset, without trailing punctuation.
    pub(super) fn trimmed_run_end(&self, from: usize, wanted: impl Fn(u8) -> bool) -> usize {
        let end = self.run_end(from, usize::MAX, wanted);
        from + self.slice(from..end).trim_end_matches(['.', '-', '/']).len()
    }

    /// Finds `header.payload.signature`, where the signature may be missing.
    pub(super) fn find_jwt(&self) -> Option<Range<usize>> {
        if self.slice(self.start..self.end) != JWT || !self.is_word_start() {
            return None;
        }
        let header = self.run_end(self.end, JUDGED, is_base64url);
        // A Grafana token is a single JSON object, without a payload and a signature.
        let single = self.text_from(self.end).starts_with("rIjoi") && header - self.end >= 40;
        if single && self.byte_at(header) != b'.' {
            let end = self.trimmed_run_end(self.end, |byte| is_base64url(byte) || byte == b'=');
            return Some(self.start..end);
        }
        let long = header - self.end >= 8;
        // Check only that the payload has the minimum length: searching for its end would cost time.
        let payload = self.run_end(header + 1, 9, is_base64url);
        let whole = long && self.byte_at(header) == b'.' && payload - header > 8;
        whole.then(|| self.start..self.trimmed_run_end(self.end, |byte| is_base64url(byte) || byte == b'.'))
    }

    /// Finds a private key, from its first line to its last one, or to the end of the text.
    pub(super) fn find_key_block(&self) -> Option<Range<usize>> {
        let body = self.end + private_title(self.text_from(self.end))?;
        let Some(last) = self.text_from(body).find(KEY_END) else {
            return Some(self.start..self.text.len());
        };
        let last = body + last + KEY_END.len();
        let end = self.run_end(last, TITLE, |byte| byte.is_ascii_alphanumeric() || byte == b' ');
        let end = self.run_end(end, 5, |byte| byte == b'-');
        Some(self.start..end)
    }

    /// Finds the password in `scheme://user:password@host`.
    pub(super) fn find_url_password(&self) -> Option<Range<usize>> {
        let scheme = self.byte_before(self.start);
        if !(scheme.is_ascii_alphanumeric() || matches!(scheme, b'+' | b'.')) {
            return None;
        }
        let ends = |byte: u8| byte.is_ascii_whitespace() || b"/?#\"'`<>|\\,".contains(&byte);
        let end = self.run_end(self.end, AUTHORITY, |byte| !ends(byte));
        let authority = self.slice(self.end..end);
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

    /// Finds a Telegram bot token: `123456789:AA…`.
    pub(super) fn find_telegram_token(&self) -> Option<Range<usize>> {
        let number = self.bytes()[..self.start].iter().rev().take(12);
        let number = number.take_while(|byte| byte.is_ascii_digit()).count();
        let end = self.run_end(self.end, 64, is_base64url);
        let whole = (6..=11).contains(&number) && (30..=40).contains(&(end - self.end));
        whole.then(|| self.start - number..end)
    }
}

/// Returns the offset after the title of a private key, such as `RSA PRIVATE KEY-----`; `None` for other titles.
pub(super) fn private_title(rest: &str) -> Option<usize> {
    let bytes = rest.as_bytes().iter().take(TITLE);
    let title = bytes.take_while(|byte| byte.is_ascii_uppercase() || byte.is_ascii_digit() || **byte == b' ');
    let title = title.count();
    let private = rest[..title].contains("PRIVATE KEY") && rest[title..].starts_with("-----");
    private.then_some(title + 5)
}
