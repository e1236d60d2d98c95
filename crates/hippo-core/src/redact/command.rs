//! Which secrets does a command, a call or a sentence give by its order of words alone?

use std::ops::Range;

use super::Place;
use super::label::{Label, Named, is_space};
use super::shape::{self, Shape};
use super::words::TECHNIQUES;
use crate::text::start;

/// What gives a secret without a label right before it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Order {
    /// `curl -u ada:…`
    User,
    /// `sshpass -p …`, `mysql -p…`
    Flag,
    /// `htpasswd -b FILE USER …`
    Third,
    /// `echo … | sudo -S`
    Piped,
    /// `credentials: ada:…`
    Pair,
    /// `the password was …, I changed it to …`
    Changed,
    /// `machine … login … password …`
    Netrc,
}

/// Marks, with what they may mean.
pub(super) const ORDERS: [(&str, Order); 16] = [
    (" -u ", Order::User),
    (" --user ", Order::User),
    (" -p", Order::Flag),
    ("htpasswd -b", Order::Third),
    ("| sudo -S", Order::Piped),
    ("credentials", Order::Pair),
    ("creds", Order::Pair),
    ("login data", Order::Pair),
    ("zugangsdaten", Order::Pair),
    (" changed it to ", Order::Changed),
    (" reset it to ", Order::Changed),
    (" set it to ", Order::Changed),
    (" it is now ", Order::Changed),
    (" replaced it with ", Order::Changed),
    (" replaced it by ", Order::Changed),
    ("machine ", Order::Netrc),
];

/// Bytes before a mark in which its program or its label stands.
const BEFORE: usize = 160;
/// Bytes of a value that are judged.
const JUDGED: usize = 128;
/// Programs that take a user and a password together.
const OF_USERS: [&str; 3] = ["curl", "wget", "svn"];
/// Programs of which `-p` is a password, and whether a space stands before it.
const OF_FLAGS: [(&str, bool); 4] = [
    ("sshpass", true),
    ("docker login", true),
    ("mysql", false),
    ("mariadb", false),
];

impl Place<'_> {
    /// The secret that is given by an order of words.
    pub(super) fn ordered(&self, order: Order) -> Option<Range<usize>> {
        match order {
            Order::User => {
                let line = self.line_before();
                let program = OF_USERS.iter().any(|program| line.contains(program));
                program.then(|| self.behind_colon(self.end)).flatten()
            }
            Order::Flag => self.flag(),
            Order::Third => {
                let file = self.token(self.end)?;
                let user = self.token(file.end)?;
                self.made(self.token(user.end)?)
            }
            Order::Piped => self.piped(),
            Order::Pair => {
                let from = self.run(self.end, 4, |byte| b":=*\"'".contains(&byte) || is_space(byte));
                let announced = self.str(self.end..from).contains([':', '=']);
                announced.then(|| self.behind_colon(from)).flatten()
            }
            Order::Netrc => {
                let words: Vec<&str> = start(self.rest(self.end), BEFORE)
                    .split_ascii_whitespace()
                    .take(4)
                    .collect();
                let [_, "login", _, "password"] = words[..] else {
                    return None;
                };
                let label = self.rest(self.end).find(" password")? + self.end;
                let space = |byte: u8| byte.is_ascii_whitespace();
                let at = self.run(label + " password".len(), BEFORE, space);
                let end = self.run(at, JUDGED, |byte| !space(byte));
                let value = self.str(at..end);
                (!value.is_empty() && !shape::is_placeholder(value)).then_some(at..end)
            }
            Order::Changed => {
                let line = self.line_before();
                let labels = ["assword", "asswort", "assphrase", "ennwort"];
                let named = labels.iter().any(|label| line.contains(label));
                named.then(|| self.made(self.token(self.end)?)).flatten()
            }
        }
    }

    /// `password hunter2` at the end of a sentence, a line or an item.
    pub(super) fn beside(&self, named: Named) -> Option<Range<usize>> {
        if named.label < Label::Password || self.at(named.end) != b' ' {
            return None;
        }
        let value = self.made(self.token(named.end)?)?;
        let after = self.rest(value.end);
        let after = after.trim_start_matches(['!', '.', ',', ';', ')', '"', '`', '\'']);
        let ends =
            after.is_empty() || after.starts_with(['\n', '\r']) || after.len() < self.rest(value.end).len();
        ends.then_some(value)
    }

    /// What a function gives where nothing is set: `os.getenv("DB_PASSWORD", "…")`, and what another one sets:
    /// `set_password("…")`.
    pub(super) fn argument(&self, named: Named) -> Option<Range<usize>> {
        if named.label < Label::Secret || !matches!(self.at(named.end), b'"' | b'\'' | b'`' | b'(') {
            return None;
        }
        let quote = |byte: u8| matches!(byte, b'"' | b'\'' | b'`');
        let before = self.line_before();
        let name =
            before.trim_end_matches(|mark: char| mark.is_ascii_alphanumeric() || matches!(mark, '_' | '-'));
        let setter = before[name.len()..].to_ascii_lowercase();
        let from = if quote(self.at(named.end)) && name.ends_with(['"', '\'', '`']) {
            let call = name[..name.len() - 1].to_ascii_lowercase();
            let reads = ["getenv(", "environ.get(", "env.get(", "env(", "config("];
            if !reads.iter().any(|read| call.ends_with(read)) {
                return None;
            }
            let comma = named.end + 1;
            let from = self.run(comma, 2, |byte| byte == b',' || byte == b' ');
            let named = self.rest(from).starts_with("default=");
            (from > comma).then_some(from + if named { 8 } else { 0 })?
        } else if self.at(named.end) == b'(' && (setter.ends_with("set") || setter.ends_with("set_")) {
            named.end + 1
        } else {
            return None;
        };
        quote(self.at(from))
            .then(|| self.made(self.token(from)?))
            .flatten()
    }

    /// What stands before on the same line, as far as it is looked at.
    fn line_before(&self) -> &str {
        let mut from = self.start.saturating_sub(BEFORE).max(self.done);
        while !self.text.is_char_boundary(from) {
            from += 1;
        }
        let before = self.str(from..self.start);
        before.rsplit('\n').next().unwrap_or_default()
    }

    /// The next word, without quotes around it; `None` at the end of the line.
    fn token(&self, from: usize) -> Option<Range<usize>> {
        let from = self.run(from, 4, is_space);
        let quote = self.at(from);
        if matches!(quote, b'"' | b'\'' | b'`') {
            let end = self.run(from + 1, JUDGED, |byte| byte != quote && byte != b'\n');
            return (self.at(end) == quote && end > from + 1).then_some(from + 1..end);
        }
        let end = self.run(from, JUDGED, |byte| {
            !byte.is_ascii_whitespace() && !b"\"'`|<>".contains(&byte)
        });
        let word = self.text.get(from..end)?;
        let word = word.trim_end_matches(['.', ',', ';', ')', ':']);
        (!word.is_empty()).then_some(from..from + word.len())
    }

    /// A word, if it looks made: letters and digits both.
    fn made(&self, word: Range<usize>) -> Option<Range<usize>> {
        let text = self.str(word.clone());
        let technique = TECHNIQUES.iter().any(|name| text.eq_ignore_ascii_case(name));
        let numbered = text.len() < 4 || !Shape::of(text).is_mixed();
        let other = shape::is_number(text)
            || shape::is_place(text)
            || shape::is_expression(text)
            || shape::is_placeholder(text)
            || text.contains([' ', '[']);
        (!technique && !numbered && !other).then_some(word)
    }

    fn behind_colon(&self, from: usize) -> Option<Range<usize>> {
        let word = self.token(from)?;
        let (user, secret) = self.str(word.clone()).split_once(':')?;
        let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"_-.@".contains(&byte);
        if user.is_empty() || !user.bytes().all(plain) || secret.starts_with('/') {
            return None;
        }
        self.made(word.end - secret.len()..word.end)
    }

    fn flag(&self) -> Option<Range<usize>> {
        let line = self.line_before();
        let (_, spaced) = OF_FLAGS.iter().find(|(program, _)| line.contains(program))?;
        if *spaced != is_space(self.at(self.end)) {
            return None;
        }
        self.made(self.token(self.end)?)
    }

    fn piped(&self) -> Option<Range<usize>> {
        let line = self.line_before();
        let said = line.len() - line.rfind("echo ")? - "echo ".len();
        self.made(self.token(self.start - said)?)
    }
}
