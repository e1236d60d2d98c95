//! Which secrets are known by their own form?

use std::ops::Range;

use super::Place;
use super::shape::{self, is_placeholder};

/// A mark that the secrets of one provider begin with.
pub(super) struct Prefix {
    pub mark: &'static str,
    /// Characters that follow it at least.
    pub least: usize,
    /// What they are.
    pub body: Body,
}

/// What follows a mark.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Body {
    /// Letters and digits.
    Word,
    /// Letters, digits, `-`, `_`, `.`, `=`.
    Any,
    /// Capitals and digits, exactly `least` of them.
    Capitals,
    /// Hexadecimal digits, exactly `least` of them.
    Hex,
    /// Letters and digits, exactly `least` of them, in no order.
    Exact,
    /// The same as [`Body::Any`]; the mark is an address, and stays.
    Path,
}

const fn prefix(mark: &'static str, least: usize, body: Body) -> Prefix {
    Prefix { mark, least, body }
}

/// The marks, as providers document them.
pub(super) const PREFIXES: [Prefix; 93] = [
    prefix("sk-ant-", 10, Body::Any),
    prefix("sk-proj-", 16, Body::Any),
    prefix("sk-or-", 16, Body::Any),
    prefix("sk-", 20, Body::Any),
    prefix("ghp_", 20, Body::Word),
    prefix("gho_", 20, Body::Word),
    prefix("ghu_", 20, Body::Word),
    prefix("ghs_", 20, Body::Word),
    prefix("ghr_", 20, Body::Word),
    prefix("github_pat_", 20, Body::Any),
    prefix("xoxa-", 10, Body::Any),
    prefix("xoxb-", 10, Body::Any),
    prefix("xoxe-", 10, Body::Any),
    prefix("xoxo-", 10, Body::Any),
    prefix("xoxp-", 10, Body::Any),
    prefix("xoxr-", 10, Body::Any),
    prefix("xoxs-", 10, Body::Any),
    prefix("xapp-", 16, Body::Any),
    prefix("AKIA", 16, Body::Capitals),
    prefix("ASIA", 16, Body::Capitals),
    prefix("AIza", 30, Body::Any),
    prefix("ya29.", 20, Body::Any),
    prefix("GOCSPX-", 20, Body::Any),
    prefix("glpat-", 16, Body::Any),
    prefix("gldt-", 16, Body::Any),
    prefix("glrt-", 16, Body::Any),
    prefix("npm_", 30, Body::Word),
    prefix("pypi-", 30, Body::Any),
    prefix("hf_", 30, Body::Word),
    prefix("whsec_", 16, Body::Any),
    prefix("sk_live_", 10, Body::Word),
    prefix("rk_live_", 10, Body::Word),
    prefix("pk_live_", 10, Body::Word),
    prefix("sk_test_", 10, Body::Word),
    prefix("rk_test_", 10, Body::Word),
    prefix("pk_test_", 10, Body::Word),
    prefix("SG.", 32, Body::Any),
    prefix("dop_v1_", 32, Body::Word),
    prefix("shpat_", 20, Body::Word),
    prefix("shpss_", 20, Body::Word),
    prefix("sq0atp-", 20, Body::Any),
    prefix("sq0csp-", 20, Body::Any),
    prefix("dckr_pat_", 20, Body::Any),
    prefix("lin_api_", 20, Body::Word),
    prefix("figd_", 20, Body::Any),
    prefix("ATATT3", 30, Body::Any),
    prefix("NRAK-", 20, Body::Word),
    prefix("tskey-", 16, Body::Any),
    prefix("gsk_", 30, Body::Word),
    prefix("xai-", 40, Body::Word),
    prefix("pplx-", 30, Body::Word),
    prefix("r8_", 30, Body::Word),
    prefix("AGE-SECRET-KEY-1", 40, Body::Word),
    prefix("key-", 32, Body::Hex),
    prefix("glptt-", 20, Body::Word),
    prefix("glcbt-", 16, Body::Any),
    prefix("glft-", 16, Body::Any),
    prefix("glsoat-", 16, Body::Any),
    prefix("glagent-", 20, Body::Any),
    prefix("shpca_", 20, Body::Word),
    prefix("shppa_", 20, Body::Word),
    prefix("sq0idp-", 20, Body::Any),
    prefix("dor_v1_", 32, Body::Word),
    prefix("doo_v1_", 32, Body::Word),
    prefix("dckr_oat_", 20, Body::Any),
    prefix("lin_oauth_", 20, Body::Word),
    prefix("dapi", 32, Body::Hex),
    prefix("hvs.", 24, Body::Any),
    prefix("hvb.", 24, Body::Any),
    prefix("hvr.", 24, Body::Any),
    prefix("sbp_", 40, Body::Word),
    prefix("sb_secret_", 20, Body::Any),
    prefix("sntrys_", 30, Body::Any),
    prefix("sntryu_", 30, Body::Word),
    prefix("pscale_tkn_", 30, Body::Any),
    prefix("pscale_pw_", 30, Body::Any),
    prefix("pscale_oauth_", 30, Body::Any),
    prefix("nfp_", 30, Body::Word),
    prefix("ntn_", 30, Body::Word),
    prefix("cio", 32, Body::Exact),
    prefix("rubygems_", 40, Body::Word),
    prefix("PMAK-", 40, Body::Any),
    prefix("glsa_", 30, Body::Any),
    prefix("glc_", 40, Body::Any),
    prefix("dp.pt.", 40, Body::Word),
    prefix("pul-", 40, Body::Word),
    prefix("lsv2_", 40, Body::Any),
    prefix("nvapi-", 40, Body::Any),
    prefix("tvly-", 24, Body::Any),
    // Addresses that anybody may post to who knows them: what follows is the secret.
    prefix("hooks.slack.com/services/", 30, Body::Path),
    prefix("hooks.slack.com/workflows/", 30, Body::Path),
    prefix("discord.com/api/webhooks/", 40, Body::Path),
    prefix("discordapp.com/api/webhooks/", 40, Body::Path),
];

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
            Body::Word | Body::Exact => is_word,
            Body::Any | Body::Path => is_any,
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
            Body::Any | Body::Path => body
                .split(['-', '_', '.', '/', '+'])
                .any(|part| part.len() >= 8 && !shape::is_plain(part)),
        };
        let from = if prefix.body == Body::Path {
            self.end
        } else {
            self.start
        };
        fits.then(|| from..self.whole(self.end, wanted))
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
