//! Key of this device, which signs every published text.

use std::io::{Read, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

use ring::rand::SystemRandom;
use ring::signature::{ED25519, Ed25519KeyPair, KeyPair, UnparsedPublicKey};

use crate::ShareError;

/// Number of bytes of a public key.
pub const KEY: usize = 32;

/// The Ed25519 key of this device.
pub struct DeviceKey {
    pair: Ed25519KeyPair,
    /// Key of the digests of documents.
    digest: [u8; 32],
}

impl DeviceKey {
    /// Loads the key from a file. If the file does not exist, creates a key.
    ///
    /// # Errors
    /// Fails if the file cannot be read or written, or if it contains no key.
    pub fn load(path: &Path) -> Result<Self, ShareError> {
        let failed = |what, source| ShareError::File {
            what,
            path: path.to_path_buf(),
            source,
        };
        let bytes = match std::fs::File::open(path) {
            Ok(file) => {
                let mut bytes = Vec::new();
                file.take(1024)
                    .read_to_end(&mut bytes)
                    .map_err(|error| failed("read", error))?;
                bytes
            }
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
                let made = Ed25519KeyPair::generate_pkcs8(&SystemRandom::new());
                let made = made.map_err(|_| failed("create", std::io::Error::other("no random numbers")))?;
                write_new(path, made.as_ref()).map_err(|error| failed("write", error))?;
                made.as_ref().to_vec()
            }
            Err(error) => return Err(failed("read", error)),
        };
        let pair = Ed25519KeyPair::from_pkcs8(&bytes);
        let pair =
            pair.map_err(|_| failed("use", std::io::Error::other("the file contains no device key")))?;
        Ok(Self {
            pair,
            digest: blake3::derive_key("hippod 2026 digests of shared documents", &bytes),
        })
    }

    /// Returns the public key, which identifies the device.
    pub fn public(&self) -> [u8; KEY] {
        let mut key = [0; KEY];
        key.copy_from_slice(self.pair.public_key().as_ref());
        key
    }

    /// Signs a message.
    pub fn sign(&self, message: &[u8]) -> Vec<u8> {
        self.pair.sign(message).as_ref().to_vec()
    }

    /// Starts a digest that only the key of this device can compute, so that a digest does not reveal a
    /// text that was redacted.
    pub fn digest(&self) -> blake3::Hasher {
        blake3::Hasher::new_keyed(&self.digest)
    }
}

/// Returns true if the device with this public key signed the message.
pub fn is_signed_by(key: &[u8], message: &[u8], signature: &[u8]) -> bool {
    UnparsedPublicKey::new(&ED25519, key)
        .verify(message, signature)
        .is_ok()
}

fn write_new(path: &Path, bytes: &[u8]) -> std::io::Result<()> {
    let draft = path.with_extension("tmp");
    // An interrupted process may have left a draft.
    let _ = std::fs::remove_file(&draft);
    let mut file = std::fs::File::options()
        .create_new(true)
        .write(true)
        .mode(0o600)
        .open(&draft)?;
    file.write_all(bytes)?;
    file.sync_all()?;
    std::fs::rename(&draft, path)
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    #[test]
    fn a_key_is_created_once_and_only_its_owner_can_read_it() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("device.key");
        let first = DeviceKey::load(&path).unwrap();
        let again = DeviceKey::load(&path).unwrap();
        assert_eq!(first.public(), again.public());
        assert_eq!(
            std::fs::metadata(&path).unwrap().permissions().mode() & 0o777,
            0o600
        );
        let signature = first.sign(b"text");
        assert!(is_signed_by(&again.public(), b"text", &signature));
        assert!(!is_signed_by(&again.public(), b"Text", &signature));
        let other = DeviceKey::load(&folder.path().join("other.key")).unwrap();
        assert!(!is_signed_by(&other.public(), b"text", &signature));
        assert_ne!(first.digest().finalize(), other.digest().finalize());
        std::fs::write(&path, "no key").unwrap();
        assert!(DeviceKey::load(&path).is_err());
    }
}
