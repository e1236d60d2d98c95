//! Conversion of UTF-16 files to UTF-8.

use std::fs::File;
use std::io;
use std::ops::Range;
use std::os::unix::fs::FileExt as _;

/// Returns the content of a file as UTF-8 if it begins with a byte order mark of UTF-16, otherwise unchanged.
pub fn to_utf8(bytes: Vec<u8>) -> Vec<u8> {
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

/// Content of a file, after the conversion by [`to_utf8`].
#[derive(Debug)]
pub enum FileContent {
    /// File whose content is not converted.
    Unconverted(File),
    /// Converted content.
    Converted(Vec<u8>),
}

impl FileContent {
    /// Reads and converts a file in UTF-16. Of other files, reads only the first two bytes.
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
