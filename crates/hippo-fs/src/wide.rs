//! Conversion of files in UTF-16 and Windows-1252 to UTF-8.

use std::fs::File;
use std::io;
use std::ops::Range;
use std::os::unix::fs::FileExt as _;

/// The characters of the bytes 0x80 to 0x9f in Windows-1252. The other bytes are those of Latin-1.
const MARKS: &str = "€\u{fffd}‚ƒ„…†‡ˆ‰Š‹Œ\u{fffd}Ž\u{fffd}\u{fffd}‘’“”•–—˜™š›œ\u{fffd}žŸ";

/// Returns the content of a file as UTF-8 if it begins with a byte order mark of UTF-16 or is in Windows-1252, otherwise
/// unchanged.
pub fn to_utf8(bytes: Vec<u8>) -> Vec<u8> {
    if is_windows_1252(&bytes) {
        let text = bytes.iter().map(|byte| match byte {
            0x80..=0x9f => MARKS.chars().nth(usize::from(byte - 0x80)).unwrap_or('\u{fffd}'),
            byte => char::from(*byte),
        });
        return text.collect::<String>().into_bytes();
    }
    let unit: fn([u8; 2]) -> u16 = match bytes.as_slice() {
        [0xff, 0xfe, ..] => u16::from_le_bytes,
        [0xfe, 0xff, ..] => u16::from_be_bytes,
        _ => return bytes,
    };
    let units = bytes[2..].chunks_exact(2).map(|pair| unit([pair[0], pair[1]]));
    String::from_utf16_lossy(&units.collect::<Vec<_>>()).into_bytes()
}

/// Returns whether the content of a file begins with a byte order mark of UTF-16.
pub fn is_utf16(bytes: &[u8]) -> bool {
    bytes.starts_with(&[0xff, 0xfe]) || bytes.starts_with(&[0xfe, 0xff])
}

/// Returns whether the content of a file is in Windows-1252 or Latin-1: it contains no NUL, is not in UTF-16, and more
/// bytes are invalid in UTF-8 than there are characters of several bytes. A file in UTF-8 with a few invalid bytes is not
/// converted.
pub fn is_windows_1252(bytes: &[u8]) -> bool {
    if std::str::from_utf8(bytes).is_ok() || is_utf16(bytes) || bytes.contains(&0) {
        return false;
    }
    let (mut valid, mut invalid) = (0, 0);
    for part in bytes.utf8_chunks() {
        valid += part.valid().chars().filter(|mark| !mark.is_ascii()).count();
        invalid += part.invalid().len();
    }
    invalid > valid
}

/// Returns the name of the encoding of a file if [`to_utf8`] would convert the file.
pub fn foreign_encoding(bytes: &[u8]) -> Option<&'static str> {
    let is_latin = || is_windows_1252(bytes).then_some("Windows-1252");
    is_utf16(bytes).then_some("UTF-16").or_else(is_latin)
}

/// Content of a file, after the conversion by [`to_utf8`].
#[derive(Debug)]
pub enum FileContent {
    /// File whose content is not converted.
    Unconverted(File),
    /// Converted content.
    Converted(Vec<u8>),
}

impl FileContent {
    /// Reads and converts a file in UTF-16. Of other files, reads only the first two bytes. For a file in Windows-1252,
    /// see [`convert`](Self::convert).
    ///
    /// # Errors
    /// Fails if the file cannot be read.
    pub fn of(file: File) -> io::Result<Self> {
        if !is_utf16(&read_at(&file, 0..2).unwrap_or_default()) {
            return Ok(Self::Unconverted(file));
        }
        let whole = usize::try_from(file.metadata()?.len()).unwrap_or(usize::MAX);
        Ok(Self::Converted(to_utf8(read_at(&file, 0..whole)?)))
    }

    /// Reads the whole file and converts it if it is in Windows-1252. Returns whether it was converted. This is needed
    /// only if a part of the file differs from what is expected, because it reads the whole file.
    pub fn convert(&mut self) -> bool {
        let Self::Unconverted(file) = self else {
            return false;
        };
        let length = file.metadata().map_or(0, |metadata| metadata.len());
        let bytes = read_at(file, 0..usize::try_from(length).unwrap_or(0)).unwrap_or_default();
        let is_converted = is_windows_1252(&bytes);
        if is_converted {
            *self = Self::Converted(to_utf8(bytes));
        }
        is_converted
    }

    /// Returns a range of the content.
    ///
    /// # Errors
    /// Fails if the content is shorter, or if the file cannot be read.
    pub fn read(&self, range: Range<usize>) -> io::Result<Vec<u8>> {
        match self {
            Self::Unconverted(file) => read_at(file, range),
            Self::Converted(bytes) => {
                let part = bytes.get(range).map(<[u8]>::to_vec);
                part.ok_or_else(|| io::ErrorKind::UnexpectedEof.into())
            }
        }
    }
}

fn read_at(file: &File, range: Range<usize>) -> io::Result<Vec<u8>> {
    let mut bytes = vec![0; range.len()];
    file.read_exact_at(&mut bytes, range.start as u64)?;
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn windows_1252_is_read_as_utf_8() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.md");
        std::fs::write(&path, b"Caf\xe9 \x80 5 \x96 na\xefve").unwrap();
        let text = "Café € 5 – naïve";
        assert_eq!(to_utf8(std::fs::read(&path).unwrap()), text.as_bytes());
        let mut content = FileContent::of(File::open(&path).unwrap()).unwrap();
        assert!(content.convert() && !content.convert());
        assert_eq!(content.read(0..text.len()).unwrap(), text.as_bytes());
        for other in [
            &b"a\xe9\0"[..],
            "Café".as_bytes(),
            b"\xc3\xa9\xc3\xa8 \xff",
            b"\xff\xfea\0",
        ] {
            assert!(!is_windows_1252(other), "{other:?}");
        }
    }

    #[test]
    fn utf_16_is_read_as_utf_8() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.md");
        let text = "# Über\r\n\r\nDer Schlüssel 🗝 liegt im Schrank.\r\n";
        let little = text.encode_utf16().flat_map(u16::to_le_bytes);
        let big = text.encode_utf16().flat_map(u16::to_be_bytes);
        for bytes in [
            [0xff, 0xfe].into_iter().chain(little).collect::<Vec<u8>>(),
            [0xfe, 0xff].into_iter().chain(big).collect(),
            text.as_bytes().to_vec(),
        ] {
            std::fs::write(&path, &bytes).unwrap();
            assert_eq!(to_utf8(bytes), text.as_bytes());
            let content = FileContent::of(File::open(&path).unwrap()).unwrap();
            for range in [0..text.len(), 3..7, text.len()..text.len()] {
                assert_eq!(content.read(range.clone()).unwrap(), &text.as_bytes()[range]);
            }
            content.read(0..text.len() + 1).unwrap_err();
        }
        std::fs::write(&path, [0xff, 0xfe, 0x41]).unwrap();
        let content = FileContent::of(File::open(&path).unwrap()).unwrap();
        assert_eq!(content.read(0..0).unwrap(), b"");
    }
}
