//! Content ids, compression and verification.

use std::fmt;
use std::str::FromStr;

use super::ContextError;

/// Maximum size of content in bytes.
pub const MAX_CONTENT: usize = 64 << 20;
/// Minimum number of hexadecimal digits in a content id prefix.
const FEWEST_DIGITS: usize = 12;
/// Compression level: zstd's default. At higher levels, the time grows faster than the size shrinks.
const LEVEL: i32 = 3;

/// The id of content: the BLAKE3 hash of its bytes, written as `b3:` and 64 hexadecimal digits.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ContentId(pub [u8; 32]);

impl ContentId {
    /// Returns the id of the bytes.
    #[must_use]
    pub fn of(bytes: &[u8]) -> Self {
        Self(*blake3::hash(bytes).as_bytes())
    }

    /// Returns the shortest prefix of the id that a lookup accepts.
    #[must_use]
    pub fn short_form(&self) -> String {
        let mut text = self.to_string();
        text.truncate(3 + FEWEST_DIGITS);
        text
    }
}

impl fmt::Display for ContentId {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "b3:{}", blake3::Hash::from_bytes(self.0).to_hex())
    }
}

impl fmt::Debug for ContentId {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, out)
    }
}

/// A content id, or a prefix of a content id with 12 or more of its 64 hexadecimal digits. The `b3:` may be missing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ContentPrefix {
    pub(super) least: [u8; 32],
    pub(super) most: [u8; 32],
}

impl From<ContentId> for ContentPrefix {
    fn from(id: ContentId) -> Self {
        Self {
            least: id.0,
            most: id.0,
        }
    }
}

impl ContentPrefix {
    /// Returns the prefix that consists of the lowest `count` bits of a number; `count` is at most 64.
    #[must_use]
    pub fn of_bits(number: u64, count: u32) -> Self {
        let rest = 64_u32.saturating_sub(count);
        let least = number.checked_shl(rest).unwrap_or(0);
        let most = least | 1_u64.checked_shl(rest).map_or(u64::MAX, |bit| bit - 1);
        let mut prefix = Self {
            least: [0; 32],
            most: [0xff; 32],
        };
        prefix.least[..8].copy_from_slice(&least.to_be_bytes());
        prefix.most[..8].copy_from_slice(&most.to_be_bytes());
        prefix
    }
}

impl FromStr for ContentPrefix {
    type Err = ContextError;

    fn from_str(text: &str) -> Result<Self, ContextError> {
        let refused = || ContextError::NoContentId(text.chars().take(100).collect());
        let digits = text.strip_prefix("b3:").unwrap_or(text);
        if !(FEWEST_DIGITS..=64).contains(&digits.len()) {
            return Err(refused());
        }
        let mut prefix = Self {
            least: [0; 32],
            most: [0xff; 32],
        };
        for (at, sign) in digits.chars().enumerate() {
            let digit = sign.to_digit(16).and_then(|digit| u8::try_from(digit).ok());
            let digit = digit.ok_or_else(refused)?;
            let (shift, others) = if at % 2 == 0 { (4, 0x0f) } else { (0, 0xf0) };
            for bytes in [&mut prefix.least, &mut prefix.most] {
                bytes[at / 2] = bytes[at / 2] & others | digit << shift;
            }
        }
        Ok(prefix)
    }
}

/// Content as it is stored: compressed, or as raw bytes.
#[derive(Clone)]
pub(super) struct PackedBytes {
    /// The zstd frame, if it is smaller than the content; otherwise the raw bytes are stored.
    frame: Option<Vec<u8>>,
}

impl PackedBytes {
    /// Compresses content. To verify the frame, decompresses it once.
    pub(super) fn of(content: &[u8]) -> Self {
        let whole =
            |frame: &[u8]| zstd::bulk::decompress(frame, content.len()).is_ok_and(|same| same == content);
        let frame = zstd::bulk::compress(content, LEVEL).ok();
        Self {
            frame: frame.filter(|frame| frame.len() < content.len() && whole(frame)),
        }
    }

    /// Returns the number of the coding: 0 for raw bytes, 1 for zstd.
    pub(super) fn coding(&self) -> i64 {
        i64::from(self.frame.is_some())
    }

    pub(super) fn bytes<'a>(&'a self, content: &'a [u8]) -> &'a [u8] {
        self.frame.as_deref().unwrap_or(content)
    }
}

/// Decodes stored content and verifies it. The error describes the problem. Even for a malicious frame, allocates at
/// most the recorded length.
pub(super) fn unpack(id: ContentId, coding: i64, raw: i64, stored: &[u8]) -> Result<Vec<u8>, String> {
    let length = usize::try_from(raw)
        .ok()
        .filter(|length| *length <= MAX_CONTENT)
        .ok_or_else(|| format!("invalid length: {raw}"))?;
    let content = match coding {
        0 => stored.to_vec(),
        1 => zstd::bulk::decompress(stored, length)
            .map_err(|error| format!("its {} packed bytes cannot be unpacked: {error}", stored.len()))?,
        _ => return Err(format!("unknown coding: {coding}")),
    };
    if content.len() != length {
        return Err(format!("it has {} bytes instead of {length}", content.len()));
    }
    let found = ContentId::of(&content);
    if found != id {
        return Err(format!(
            "its bytes belong to another content id, {}",
            found.short_form()
        ));
    }
    Ok(content)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn content_ids_and_prefixes_are_parsed() {
        let id = ContentId::of(b"x");
        let whole: ContentPrefix = id.to_string().parse().unwrap();
        assert_eq!(whole, id.into());
        for digits in 12..64 {
            let text = &id.to_string()[3..3 + digits];
            let part: ContentPrefix = text.parse().unwrap();
            assert!(part.least < id.0 && id.0 < part.most, "{text}");
            let upper: ContentPrefix = text.to_uppercase().parse().unwrap();
            assert_eq!(part, upper);
        }
        for wrong in [
            "",
            "b3:",
            "b3:12345678901",
            "b3:12345678901g",
            "b4:123456789012",
            "ä23456789012",
        ] {
            assert!(wrong.parse::<ContentPrefix>().is_err(), "{wrong}");
        }
        assert!(format!("{id}0").parse::<ContentPrefix>().is_err());
    }

    #[test]
    fn a_frame_never_decompresses_to_more_than_the_recorded_length() {
        let zeros = vec![0; 32 << 20];
        let bomb = zstd::bulk::compress(&zeros, 3).unwrap();
        let id = ContentId::of(&zeros);
        assert!(
            unpack(id, 1, 1000, &bomb)
                .unwrap_err()
                .contains("cannot be unpacked")
        );
        assert!(
            unpack(id, 1, i64::MAX, &bomb)
                .unwrap_err()
                .contains("invalid length")
        );
        assert!(unpack(id, 1, -1, &bomb).unwrap_err().contains("invalid length"));
        assert!(unpack(id, 7, 1000, &bomb).unwrap_err().contains("coding"));
        assert_eq!(unpack(id, 1, 32 << 20, &bomb).unwrap(), zeros);
    }

    #[test]
    fn incompressible_contents_are_stored_uncompressed() {
        let mut noise = vec![0; 10_000];
        blake3::Hasher::new().finalize_xof().fill(&mut noise);
        for (content, coding) in [(&noise[..], 0), (b"", 0), (&[7; 10_000], 1)] {
            let packed = PackedBytes::of(content);
            assert_eq!(packed.coding(), coding);
            let stored = packed.bytes(content);
            assert!(stored.len() <= content.len());
            let length = i64::try_from(content.len()).unwrap();
            assert_eq!(
                unpack(ContentId::of(content), coding, length, stored).unwrap(),
                content
            );
        }
    }
}
