//! What kinds of secrets does a text hold?

use std::collections::BTreeSet;

use super::label::Label;
use super::providers::{Body, PREFIXES};
use super::{Start, each};

/// What a secret is, as far as its form and its label tell.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Kind {
    /// A password or a passphrase, by its label or the command that it stands in.
    Password,
    /// A key or a token, by its label.
    Key,
    /// The words that a wallet is made again from.
    SeedPhrase,
    /// What follows `Bearer` or `Basic`.
    Authorization,
    /// A token with the mark of its provider.
    ProviderToken,
    /// A JSON web token.
    WebToken,
    /// A private key.
    PrivateKey,
    /// The password within an address.
    AddressPassword,
    /// An address that anybody may post to who knows it.
    Webhook,
    /// The token of a bot.
    BotToken,
}

impl Kind {
    /// All of them.
    pub const ALL: [Self; 10] = [
        Self::Password,
        Self::Key,
        Self::SeedPhrase,
        Self::Authorization,
        Self::ProviderToken,
        Self::WebToken,
        Self::PrivateKey,
        Self::AddressPassword,
        Self::Webhook,
        Self::BotToken,
    ];

    /// Its name in answers.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Password => "password",
            Self::Key => "key",
            Self::SeedPhrase => "seed-phrase",
            Self::Authorization => "authorization",
            Self::ProviderToken => "provider-token",
            Self::WebToken => "web-token",
            Self::PrivateKey => "private-key",
            Self::AddressPassword => "address-password",
            Self::Webhook => "webhook",
            Self::BotToken => "bot-token",
        }
    }

    fn of(start: Start) -> Self {
        match start {
            Start::Label(Label::Key | Label::Token | Label::Secret) => Self::Key,
            Start::Label(Label::Pass | Label::Password | Label::Phrase) | Start::Order(_) => Self::Password,
            Start::Label(Label::Seed) => Self::SeedPhrase,
            Start::Scheme => Self::Authorization,
            Start::Prefix(number) if PREFIXES[number].body == Body::Path => Self::Webhook,
            Start::Prefix(_) | Start::Azure | Start::Suffix(_) => Self::ProviderToken,
            Start::Cookie => Self::Authorization,
            Start::Jwt => Self::WebToken,
            Start::KeyBlock | Start::PackedKey => Self::PrivateKey,
            Start::Url => Self::AddressPassword,
            Start::Telegram => Self::BotToken,
        }
    }
}

/// The kinds of the secrets in a text; none exactly where [`redact`](super::redact) changes nothing of it.
#[must_use]
pub fn kinds(text: &str) -> BTreeSet<Kind> {
    let mut kinds = BTreeSet::new();
    each(text, |_, start| {
        kinds.insert(Kind::of(start));
    });
    kinds
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_kind_is_known() {
        let table = [
            ("the password is hunter2", Kind::Password),
            ("mysql -u ada -pS3cretPw9x", Kind::Password),
            ("api_key = 9f8e7d6c5b4a39281706f5e4d3c2b1a0", Kind::Key),
            (
                "seed phrase: abandon ability able about above absent absorb abstract absurd abuse access accident",
                Kind::SeedPhrase,
            ),
            (
                "curl -H 'Authorization: Bearer Zx81kQ9dPw72LmA0vBt3'",
                Kind::Authorization,
            ),
            ("glpat-1234567890abcdefghij", Kind::ProviderToken),
            (
                "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NSJ9.dozjgNryP4J3",
                Kind::WebToken,
            ),
            (
                "-----BEGIN RSA PRIVATE KEY-----\nMIIEpA\n-----END RSA PRIVATE KEY-----",
                Kind::PrivateKey,
            ),
            ("postgres://ada:Tr0ub4dor@db.local/app", Kind::AddressPassword),
            (
                "https://hooks.slack.com/services/T024BE7LD/B01ABCD2EFG/a8Xk29LmQz71Pw04RtYv",
                Kind::Webhook,
            ),
            ("123456789:AAHdqTcvCH1vGWJxfSeofSAs0K5PALDsaw0", Kind::BotToken),
        ];
        for (text, kind) in table {
            assert_eq!(kinds(text), BTreeSet::from([kind]), "{text}");
        }
        assert_eq!(kinds("the pump is blue"), BTreeSet::new());
        let both = kinds("password: hunter2, and glpat-1234567890abcdefghij");
        assert_eq!(both, BTreeSet::from([Kind::Password, Kind::ProviderToken]));
        let names: BTreeSet<&str> = Kind::ALL.iter().map(|kind| kind.name()).collect();
        assert_eq!(names.len(), Kind::ALL.len());
    }
}
