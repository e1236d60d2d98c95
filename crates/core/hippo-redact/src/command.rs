//! Secrets recognised by the word order of a command, a call or a sentence.

use std::ops::Range;

use super::SecretCandidate;
use super::label::{LabelMatch, SecretLabel, is_space};
use super::shape::{self, CharacterShape};
use super::start;
use super::words::{TECHNIQUES, words_of};

/// Word order that shows where a secret is, although no label is directly before it. `…` marks the secret.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum WordOrder {
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

/// Search patterns that find the word orders.
#[rustfmt::skip] // keep the list compact
pub(super) const ORDERS: [(&str, WordOrder); 16] = {
    use WordOrder::{Changed, Flag, Netrc, Pair, Piped, Third, User};
    [
    (" -u ", User), (" --user ", User), (" -p", Flag), ("htpasswd -b", Third), ("| sudo -S", Piped),
    ("credentials", Pair), ("creds", Pair), ("login data", Pair), ("zugangsdaten", Pair),
    (" changed it to ", Changed), (" reset it to ", Changed), (" set it to ", Changed),
    (" it is now ", Changed), (" replaced it with ", Changed), (" replaced it by ", Changed),
    ("machine ", Netrc),
    ]
};

/// Number of bytes before a candidate in which hippod searches for the program or the label.
const BEFORE: usize = 160;
/// Number of bytes at the start of a value that are examined.
const JUDGED: usize = 128;
/// Programs whose option for the user has the form `user:password`.
const OF_USERS: [&str; 3] = ["curl", "wget", "svn"];
/// Programs whose option `-p` is followed by a password; true if a space separates the two.
const OF_FLAGS: [(&str, bool); 4] = [
    ("sshpass", true),
    ("docker login", true),
    ("mysql", false),
    ("mariadb", false),
];

impl SecretCandidate<'_> {
    /// Returns the secret in the text around a candidate with this word order.
    pub(super) fn find_by_word_order(&self, order: WordOrder) -> Option<Range<usize>> {
        match order {
            WordOrder::User => {
                let line = self.line_before();
                let program = OF_USERS.iter().any(|program| line.contains(program));
                self.find_after_colon(program.then_some(self.end)?)
            }
            WordOrder::Flag => self.find_flag(),
            WordOrder::Third => {
                let file = self.next_word(self.end)?;
                let user = self.next_word(file.end)?;
                self.accept_mixed(self.next_word(user.end)?)
            }
            WordOrder::Piped => self.find_piped(),
            WordOrder::Pair => {
                let from = self.run_end(self.end, 4, |byte| b":=*\"'".contains(&byte) || is_space(byte));
                let announced = self.slice(self.end..from).contains([':', '=']);
                self.find_after_colon(announced.then_some(from)?)
            }
            WordOrder::Netrc => {
                let words = start(self.text_from(self.end), BEFORE).split_ascii_whitespace();
                let words: Vec<&str> = words.take(4).collect();
                let [_, "login", _, "password"] = words[..] else {
                    return None;
                };
                let label = self.text_from(self.end).find(" password")? + self.end;
                let space = |byte: u8| byte.is_ascii_whitespace();
                let at = self.run_end(label + " password".len(), BEFORE, space);
                let end = self.run_end(at, JUDGED, |byte| !space(byte));
                let value = self.slice(at..end);
                (!value.is_empty() && !shape::is_placeholder(value)).then_some(at..end)
            }
            WordOrder::Changed => {
                let line = self.line_before();
                let labels = ["assword", "asswort", "assphrase", "ennwort"];
                let named = labels.iter().any(|label| line.contains(label));
                self.accept_mixed(self.next_word(self.end).filter(|_| named)?)
            }
        }
    }

    /// Finds the secret in `password hunter2` at the end of a sentence, a line or a list item.
    pub(super) fn find_adjacent(&self, named: LabelMatch) -> Option<Range<usize>> {
        if named.label < SecretLabel::Password || self.byte_at(named.end) != b' ' {
            return None;
        }
        let value = self.accept_mixed(self.next_word(named.end)?)?;
        let after = self.text_from(value.end);
        let marks = ['!', '.', ',', ';', ')', '"', '`', '\'', '\n', '\r'];
        (after.is_empty() || after.starts_with(marks)).then_some(value)
    }

    /// Finds the default value in `os.getenv("DB_PASSWORD", "…")`, or the argument of a setter: `set_password("…")`.
    pub(super) fn find_argument(&self, named: LabelMatch) -> Option<Range<usize>> {
        if named.label < SecretLabel::Secret || !matches!(self.byte_at(named.end), b'"' | b'\'' | b'`' | b'(')
        {
            return None;
        }
        let quote = |byte: u8| matches!(byte, b'"' | b'\'' | b'`');
        let before = self.line_before();
        let is_name = |mark: char| mark.is_ascii_alphanumeric() || matches!(mark, '_' | '-');
        let name = before.trim_end_matches(is_name);
        let setter = before[name.len()..].to_ascii_lowercase();
        let from = if quote(self.byte_at(named.end)) && name.ends_with(['"', '\'', '`']) {
            let call = name[..name.len() - 1].to_ascii_lowercase();
            let reads = ["getenv(", "environ.get(", "env.get(", "env(", "config("];
            if !reads.iter().any(|read| call.ends_with(read)) {
                return None;
            }
            let comma = named.end + 1;
            let from = self.run_end(comma, 2, |byte| byte == b',' || byte == b' ');
            let named = self.text_from(from).starts_with("default=");
            (from > comma).then_some(from + if named { 8 } else { 0 })?
        } else if self.byte_at(named.end) == b'(' && (setter.ends_with("set") || setter.ends_with("set_")) {
            named.end + 1
        } else {
            return None;
        };
        self.accept_mixed(self.next_word(from).filter(|_| quote(self.byte_at(from)))?)
    }

    /// Returns the text before the candidate in the same line, at most [`BEFORE`] bytes.
    fn line_before(&self) -> &str {
        let mut from = self.start.saturating_sub(BEFORE).max(self.done);
        while !self.text.is_char_boundary(from) {
            from += 1;
        }
        let before = self.slice(from..self.start);
        before.rsplit('\n').next().unwrap_or_default()
    }

    /// Returns the range of the next word, without quotes; `None` if there is none.
    fn next_word(&self, from: usize) -> Option<Range<usize>> {
        let from = self.run_end(from, 4, is_space);
        let quote = self.byte_at(from);
        if matches!(quote, b'"' | b'\'' | b'`') {
            let end = self.run_end(from + 1, JUDGED, |byte| byte != quote && byte != b'\n');
            return (self.byte_at(end) == quote && end > from + 1).then_some(from + 1..end);
        }
        let end = self.run_end(from, JUDGED, |byte| {
            !byte.is_ascii_whitespace() && !b"\"'`|<>".contains(&byte)
        });
        let word = self.text.get(from..end)?;
        let word = word.trim_end_matches(['.', ',', ';', ')', ':']);
        (!word.is_empty()).then_some(from..from + word.len())
    }

    /// Returns the word if it looks like a password, with letters and digits.
    fn accept_mixed(&self, word: Range<usize>) -> Option<Range<usize>> {
        let text = self.slice(word.clone());
        let technique = words_of(TECHNIQUES).any(|name| text.eq_ignore_ascii_case(name));
        let numbered = text.len() < 4 || !CharacterShape::measure(text).is_mixed();
        let other = shape::is_number(text)
            || shape::is_location(text)
            || shape::is_expression(text)
            || shape::is_placeholder(text)
            || text.contains([' ', '[']);
        (!technique && !numbered && !other).then_some(word)
    }

    fn find_after_colon(&self, from: usize) -> Option<Range<usize>> {
        let word = self.next_word(from)?;
        let (user, secret) = self.slice(word.clone()).split_once(':')?;
        let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"_-.@".contains(&byte);
        if user.is_empty() || !user.bytes().all(plain) || secret.starts_with('/') {
            return None;
        }
        self.accept_mixed(word.end - secret.len()..word.end)
    }

    fn find_flag(&self) -> Option<Range<usize>> {
        let line = self.line_before();
        let (_, spaced) = OF_FLAGS.iter().find(|(program, _)| line.contains(program))?;
        if *spaced != is_space(self.byte_at(self.end)) {
            return None;
        }
        self.accept_mixed(self.next_word(self.end)?)
    }

    fn find_piped(&self) -> Option<Range<usize>> {
        let line = self.line_before();
        let said = line.len() - line.rfind("echo ")? - "echo ".len();
        self.accept_mixed(self.next_word(self.start - said)?)
    }
}
