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

/// Reads a range of the content of a file, after the conversion by [`to_utf8`].
///
/// # Errors
/// Fails if the content is shorter, or if the file cannot be read.
pub fn read_range(file: &File, range: Range<usize>) -> io::Result<Vec<u8>> {
    let read = |range: &Range<usize>| {
        let mut bytes = vec![0; range.len()];
        file.read_exact_at(&mut bytes, range.start as u64)?;
        Ok(bytes)
    };
    if !matches!(read(&(0..2)).as_deref(), Ok([0xff, 0xfe] | [0xfe, 0xff])) {
        return read(&range);
    }
    let whole = usize::try_from(file.metadata()?.len()).unwrap_or(usize::MAX);
    let part = to_utf8(read(&(0..whole))?).get(range).map(<[u8]>::to_vec);
    part.ok_or_else(|| io::ErrorKind::UnexpectedEof.into())
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
            let file = File::open(&path).unwrap();
            for range in [0..text.len(), 3..7, text.len()..text.len()] {
                assert_eq!(read_range(&file, range.clone()).unwrap(), &text.as_bytes()[range]);
            }
            read_range(&file, 0..text.len() + 1).unwrap_err();
        }
        std::fs::write(&path, [0xff, 0xfe, 0x41]).unwrap();
        assert_eq!(read_range(&File::open(&path).unwrap(), 0..0).unwrap(), b"");
    }
}
