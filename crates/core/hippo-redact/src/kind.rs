//! Kinds of secrets in a text.

use std::collections::BTreeSet;

use super::label::SecretLabel;
use super::providers::{PREFIXES, SecretBody};
use super::{CandidateKind, for_each_secret};

/// Kind of a secret, determined by its form and its label.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum SecretKind {
    /// A password or passphrase, recognised by its label or by the command that contains it.
    Password,
    /// A key or token, recognised by its label.
    Key,
    /// The recovery words of a wallet.
    SeedPhrase,
    /// The credentials after `Bearer` or `Basic`.
    Authorization,
    /// A token with the prefix of its provider.
    ProviderToken,
    /// A JSON web token.
    WebToken,
    /// A private key.
    PrivateKey,
    /// The password inside a URL.
    AddressPassword,
    /// A URL to which anyone who knows it may post.
    Webhook,
    /// The token of a bot.
    BotToken,
}

impl SecretKind {
    /// Returns the name used in answers.
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

    fn from_candidate(start: CandidateKind) -> Self {
        match start {
            CandidateKind::Label(SecretLabel::Key | SecretLabel::Token | SecretLabel::Secret) => Self::Key,
            CandidateKind::Label(SecretLabel::Pass | SecretLabel::Password | SecretLabel::Phrase)
            | CandidateKind::Order(_) => Self::Password,
            CandidateKind::Label(SecretLabel::Seed) => Self::SeedPhrase,
            CandidateKind::Scheme | CandidateKind::Cookie => Self::Authorization,
            CandidateKind::Prefix(number) if PREFIXES[number].body == SecretBody::Path => Self::Webhook,
            CandidateKind::Prefix(_) | CandidateKind::Azure | CandidateKind::Suffix(_) => Self::ProviderToken,
            CandidateKind::Jwt => Self::WebToken,
            CandidateKind::KeyBlock | CandidateKind::PackedKey => Self::PrivateKey,
            CandidateKind::Url => Self::AddressPassword,
            CandidateKind::Telegram => Self::BotToken,
        }
    }
}

/// Returns the kinds of the secrets in a text. The set is empty if and only if [`redact`](super::redact) does not
/// change the text.
#[must_use]
pub fn find_kinds(text: &str) -> BTreeSet<SecretKind> {
    let mut kinds = BTreeSet::new();
    for_each_secret(text, |_, start| {
        kinds.insert(SecretKind::from_candidate(start));
    });
    kinds
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kind_is_detected() {
        let table = [
            ("the password is hunter2", SecretKind::Password),
            ("mysql -u ada -pS3cretPw9x", SecretKind::Password),
            ("api_key = 9f8e7d6c5b4a39281706f5e4d3c2b1a0", SecretKind::Key),
            (
                "seed phrase: abandon ability able about above absent absorb abstract absurd abuse access accident",
                SecretKind::SeedPhrase,
            ),
            (
                "curl -H 'Authorization: Bearer Zx81kQ9dPw72LmA0vBt3'",
                SecretKind::Authorization,
            ),
            ("glpat-1234567890abcdefghij", SecretKind::ProviderToken),
            (
                "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NSJ9.dozjgNryP4J3",
                SecretKind::WebToken,
            ),
            (
                "-----BEGIN RSA PRIVATE KEY-----\nMIIEpA\n-----END RSA PRIVATE KEY-----",
                SecretKind::PrivateKey,
            ),
            (
                "postgres://ada:Tr0ub4dor@db.local/app",
                SecretKind::AddressPassword,
            ),
            (
                "https://hooks.slack.com/services/T024BE7LD/B01ABCD2EFG/a8Xk29LmQz71Pw04RtYv",
                SecretKind::Webhook,
            ),
            (
                "123456789:AAHdqTcvCH1vGWJxfSeofSAs0K5PALDsaw0",
                SecretKind::BotToken,
            ),
        ];
        for (text, kind) in table {
            assert_eq!(find_kinds(text), BTreeSet::from([kind]), "{text}");
        }
        assert_eq!(find_kinds("the pump is blue"), BTreeSet::new());
        let both = find_kinds("password: hunter2, and glpat-1234567890abcdefghij");
        assert_eq!(
            both,
            BTreeSet::from([SecretKind::Password, SecretKind::ProviderToken])
        );
    }
}
