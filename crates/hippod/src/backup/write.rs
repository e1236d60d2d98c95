//! How is a backup written so that it is there whole or not at all?

use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io::{self, BufWriter, Read, Write as _};
use std::path::{Path, PathBuf};

use hippo_proto::{ErrorKind, RpcError};
use hippo_store::system::{PRIVATE_FILE, PRIVATE_FOLDER, WithMode as _, sync_folder};

use super::Job;
use super::destination::Destination;
use super::manifest::{MANIFEST, Manifest, Member};
use super::members;
use super::partial::Partial;
use super::refusal::{io_refusal, name_of};

/// Level of zstd: vectors do not shrink, and text shrinks at any.
const LEVEL: i32 = 1;
/// Most bytes that stand around a member: its header, a long name, what fills the last block.
const HEADERS: u64 = 8 << 10;
/// Bytes that are copied at once.
const PIECE: usize = 256 << 10;

/// Writes a backup beside its place, and puts it there when it is whole.
pub struct Writer {
    to: Destination,
    partial: Partial,
    out: Out,
    members: Vec<Member>,
}

/// One file, or a folder.
enum Out {
    File(Box<tar::Builder<zstd::Encoder<'static, BufWriter<File>>>>),
    Folder,
}

/// What is told of a file of a workspace beside its bytes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Traits {
    /// Last modification, nanoseconds since the Unix epoch.
    pub mtime_ns: Option<i64>,
    /// Rights.
    pub mode: Option<u32>,
}

impl Writer {
    /// Begins a backup at `to`; `state` is the state folder.
    ///
    /// # Errors
    /// `conflict` where something stands beside it already, else as the system says.
    #[expect(clippy::disallowed_methods, reason = "a place that a person names")]
    pub fn begin(state: &Path, to: Destination) -> Result<Self, RpcError> {
        let partial = Partial::begin(state, name_of(to.format), &to.path)?;
        let refused = |error| refusal(&to, &error);
        let out = match to.is_file {
            true => {
                let file = private(&partial.folder.join("out")).map_err(refused)?;
                let mut packed = zstd::Encoder::new(BufWriter::new(file), LEVEL).map_err(refused)?;
                packed.include_checksum(true).map_err(refused)?;
                Out::File(Box::new(tar::Builder::new(packed)))
            }
            false => {
                DirBuilder::new()
                    .with_mode(PRIVATE_FOLDER)
                    .create(partial.folder.join("out"))
                    .map_err(refused)?;
                Out::Folder
            }
        };
        Ok(Self {
            to,
            partial,
            out,
            members: Vec::new(),
        })
    }

    /// A place for what is made on the way, which goes with the writer.
    pub fn aside(&self, name: &str) -> PathBuf {
        self.partial.folder.join(name)
    }

    /// Adds a member of these bytes.
    ///
    /// # Errors
    /// As the system says.
    pub fn add(
        &mut self,
        path: &str,
        bytes: &[u8],
        traits: Traits,
        job: &mut Job<'_>,
    ) -> Result<(), RpcError> {
        self.put(path, bytes, bytes.len() as u64, traits, job)
    }

    /// Adds a file that nobody changes, and removes it.
    ///
    /// # Errors
    /// As the system says.
    #[expect(clippy::disallowed_methods, reason = "a place that a person names")]
    pub fn add_made(&mut self, path: &str, file: &Path, job: &mut Job<'_>) -> Result<(), RpcError> {
        let refused = |error| io_refusal("read what was copied", file, &error);
        let made = File::open(file).map_err(refused)?;
        let bytes = made.metadata().map_err(refused)?.len();
        self.put(path, made, bytes, Traits::default(), job)?;
        fs::remove_file(file).map_err(refused)
    }

    fn put(
        &mut self,
        path: &str,
        from: impl Read,
        bytes: u64,
        traits: Traits,
        job: &mut Job<'_>,
    ) -> Result<(), RpcError> {
        job.advance(bytes)?;
        let mut from = Hashed {
            from,
            hasher: blake3::Hasher::new(),
        };
        let written = match &mut self.out {
            Out::File(archive) => {
                let mut header = tar::Header::new_gnu();
                header.set_size(bytes);
                header.set_entry_type(tar::EntryType::Regular);
                header.set_mode(0o600);
                header.set_mtime(seconds(traits.mtime_ns));
                archive.append_data(&mut header, path, &mut from)
            }
            Out::Folder => into_folder(&self.partial.folder.join("out"), path, &mut from),
        };
        written.map_err(|error| refusal(&self.to, &error))?;
        self.members.push(Member {
            path: path.to_owned(),
            bytes,
            blake3: from.hasher.finalize().to_hex().to_string(),
            mtime_ns: traits.mtime_ns,
            mode: traits.mode,
        });
        Ok(())
    }

    /// Writes the manifest, makes all durable, and puts it into its place. Answers the bytes on the disk.
    ///
    /// # Errors
    /// As the system says; nothing is left then.
    #[expect(clippy::disallowed_methods, reason = "a place that a person names")]
    pub fn finish(mut self, mut manifest: Manifest) -> Result<(Manifest, u64), RpcError> {
        manifest.members = std::mem::take(&mut self.members);
        let mut json = serde_json::to_vec_pretty(&manifest)
            .map_err(|error| RpcError::internal(format!("could not write the manifest: {error}")))?;
        json.push(b'\n');
        let refused = |error| refusal(&self.to, &error);
        let made = self.partial.folder.join("out");
        let bytes = match self.out {
            Out::File(mut archive) => {
                let mut header = tar::Header::new_gnu();
                header.set_size(json.len() as u64);
                header.set_mode(0o600);
                archive
                    .append_data(&mut header, MANIFEST, json.as_slice())
                    .map_err(refused)?;
                let packed = archive.into_inner().map_err(refused)?;
                let buffered = packed.finish().map_err(refused)?;
                let file = buffered
                    .into_inner()
                    .map_err(|error| refused(error.into_error()))?;
                file.sync_all().map_err(refused)?;
                file.metadata().map_err(refused)?.len()
            }
            Out::Folder => {
                into_folder(&made, MANIFEST, &mut json.as_slice()).map_err(refused)?;
                manifest.members.iter().map(|member| member.bytes).sum::<u64>() + json.len() as u64
            }
        };
        if self.to.is_file && unpacked(&manifest) + json.len() as u64 > members::most(bytes) {
            let what = format!(
                "could not write the {}: {}: it unpacks to far more than its size, which a restore refuses",
                name_of(self.to.format),
                self.to.path.display()
            );
            return Err(RpcError::new(ErrorKind::TooLarge, what)
                .hint("write it into a folder instead: hippoctl export DIR"));
        }
        self.to.free()?;
        fs::rename(&made, &self.to.path).map_err(refused)?;
        sync_folder(self.to.path.parent().unwrap_or(Path::new("/"))).map_err(refused)?;
        Ok((manifest, bytes))
    }
}

/// Most bytes of the archive that has these members.
fn unpacked(manifest: &Manifest) -> u64 {
    manifest.members.iter().map(|member| member.bytes + HEADERS).sum()
}

fn refusal(to: &Destination, error: &io::Error) -> RpcError {
    io_refusal(&format!("write the {}", name_of(to.format)), &to.path, error)
}

#[expect(clippy::disallowed_methods, reason = "a place that a person names")]
fn private(path: &Path) -> io::Result<File> {
    OpenOptions::new()
        .write(true)
        .create_new(true)
        .with_mode(PRIVATE_FILE)
        .open(path)
}

#[expect(clippy::disallowed_methods, reason = "a place that a person names")]
fn into_folder(folder: &Path, path: &str, from: &mut impl Read) -> io::Result<()> {
    let file = folder.join(path);
    if let Some(above) = file.parent() {
        DirBuilder::new()
            .recursive(true)
            .with_mode(PRIVATE_FOLDER)
            .create(above)?;
    }
    let mut out = private(&file)?;
    let mut piece = vec![0; PIECE];
    loop {
        let read = from.read(&mut piece)?;
        if read == 0 {
            return out.sync_all();
        }
        out.write_all(&piece[..read])?;
    }
}

fn seconds(mtime_ns: Option<i64>) -> u64 {
    u64::try_from(mtime_ns.unwrap_or(0) / 1_000_000_000).unwrap_or(0)
}

/// Reads, and hashes what was read.
pub struct Hashed<R> {
    /// What is read.
    pub from: R,
    /// What was read so far.
    pub hasher: blake3::Hasher,
}

impl<R: Read> Read for Hashed<R> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let read = self.from.read(into)?;
        self.hasher.update(&into[..read]);
        Ok(read)
    }
}
