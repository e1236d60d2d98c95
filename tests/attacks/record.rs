//! File system calls of a daemon, parsed from `strace -y -xx -ttt`.

use std::collections::HashMap;
use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt;
use std::path::PathBuf;
use std::time::{Duration, SystemTime};

/// System calls to record.
pub const CALLS: &str = "?open,openat,openat2,?creat,write,pwrite64,writev,pwritev,pwritev2,ftruncate,truncate,fallocate,\
?rename,renameat,renameat2,?link,linkat,?symlink,symlinkat,?unlink,unlinkat,?mkdir,mkdirat,?rmdir,fsync,fdatasync,syncfs,\
sync,lseek,copy_file_range,sendfile";

/// Effect of a system call.
#[derive(Debug, Clone)]
pub enum Change {
    /// Opens a file for writing. The call may create the file.
    Open {
        fd: i64,
        path: PathBuf,
        made: bool,
        cut: bool,
        append: bool,
    },
    /// Writes bytes at the given offset. Without an offset, writes at the position of the descriptor.
    Write {
        fd: i64,
        path: PathBuf,
        at: Option<u64>,
        bytes: Vec<u8>,
    },
    /// Moves the position of a descriptor.
    Seek {
        fd: i64,
        to: u64,
    },
    /// Sets the length of a file.
    Resize {
        path: PathBuf,
        length: u64,
    },
    Rename {
        from: PathBuf,
        to: PathBuf,
        exchange: bool,
    },
    Link {
        from: PathBuf,
        to: PathBuf,
    },
    Remove {
        path: PathBuf,
    },
    Folder {
        path: PathBuf,
    },
    /// Makes a file or folder durable.
    Sync {
        path: PathBuf,
    },
    /// Makes everything on the disk durable.
    SyncAll,
    /// A system call that the parser does not support.
    Unknown(String),
}

/// A change and its time.
pub struct Call {
    pub at: SystemTime,
    pub change: Change,
}

/// Parses the output of `strace`. Returns the successful calls, in the order in which they returned.
pub fn read(record: &str) -> Vec<Call> {
    let mut begun: HashMap<&str, String> = HashMap::new();
    let mut calls = Vec::new();
    for line in record.lines() {
        let Some((thread, rest)) = line.trim_start().split_once(' ') else {
            continue;
        };
        let Some((at, text)) = rest.trim_start().split_once(' ') else {
            continue;
        };
        if let Some(head) = text.strip_suffix(" <unfinished ...>") {
            begun.insert(thread, head.to_owned());
            continue;
        }
        let whole = match text
            .strip_prefix("<... ")
            .and_then(|rest| rest.split_once(" resumed>"))
        {
            Some((_, tail)) => begun.remove(thread).unwrap_or_default() + tail,
            None => text.to_owned(),
        };
        let Some(change) = change(&whole) else { continue };
        let at: f64 = at.parse().unwrap_or_default();
        let at = SystemTime::UNIX_EPOCH + Duration::from_secs_f64(at);
        calls.push(Call { at, change });
    }
    calls
}

/// Parses one call. Returns `None` if the call failed or changed nothing.
fn change(text: &str) -> Option<Change> {
    let (name, rest) = text.split_once('(')?;
    let (arguments, result) = rest.rsplit_once(") ")?;
    let result = result.trim_start().strip_prefix("= ")?;
    let value = result.split(['<', ' ']).next()?.parse::<i64>().ok()?;
    if value < 0 {
        return None;
    }
    let all = split(arguments);
    let argument = |at: usize| all.get(at).copied().unwrap_or_default();
    let number = |at: usize| argument(at).parse::<u64>().ok();
    let at_folder = |at: usize| Some(described(argument(at))?.join(quoted(argument(at + 1))?));
    Some(match name {
        "open" | "creat" | "openat" | "openat2" => {
            let flags = if name == "open" { argument(1) } else { argument(2) };
            if !["O_WRONLY", "O_RDWR", "O_CREAT"]
                .iter()
                .any(|flag| flags.contains(flag))
            {
                return None;
            }
            Change::Open {
                fd: value,
                path: described(result)?,
                made: flags.contains("O_CREAT"),
                cut: flags.contains("O_TRUNC"),
                append: flags.contains("O_APPEND"),
            }
        }
        "write" | "pwrite64" => Change::Write {
            fd: descriptor(argument(0))?,
            path: described(argument(0))?,
            at: number(3),
            bytes: first(bytes(argument(1))?, value),
        },
        "writev" => Change::Write {
            fd: descriptor(argument(0))?,
            path: described(argument(0))?,
            at: None,
            bytes: first(all_bytes(argument(1)), value),
        },
        // This call reserves space without changing the content.
        "fallocate" if argument(1).contains("FALLOC_FL_KEEP_SIZE") => return None,
        "lseek" => Change::Seek {
            fd: descriptor(argument(0))?,
            to: u64::try_from(value).ok()?,
        },
        "ftruncate" => Change::Resize {
            path: described(argument(0))?,
            length: number(1)?,
        },
        "rename" | "link" => {
            let (from, to) = (quoted(argument(0))?, quoted(argument(1))?);
            let exchange = false;
            if name == "link" {
                Change::Link { from, to }
            } else {
                Change::Rename { from, to, exchange }
            }
        }
        "renameat" | "renameat2" => Change::Rename {
            from: at_folder(0)?,
            to: at_folder(2)?,
            exchange: argument(4).contains("RENAME_EXCHANGE"),
        },
        "linkat" => Change::Link {
            from: at_folder(0)?,
            to: at_folder(2)?,
        },
        "unlink" | "rmdir" => Change::Remove {
            path: quoted(argument(0))?,
        },
        "unlinkat" => Change::Remove { path: at_folder(0)? },
        "mkdir" => Change::Folder {
            path: quoted(argument(0))?,
        },
        "mkdirat" => Change::Folder { path: at_folder(0)? },
        "fsync" | "fdatasync" => Change::Sync {
            path: described(argument(0))?,
        },
        "syncfs" | "sync" => Change::SyncAll,
        _ => Change::Unknown(format!("{name}({arguments:.120})")),
    })
}

fn first(mut bytes: Vec<u8>, count: i64) -> Vec<u8> {
    bytes.truncate(usize::try_from(count).unwrap_or(0));
    bytes
}

/// Splits the arguments of a call at the commas outside brackets.
fn split(text: &str) -> Vec<&str> {
    let (mut all, mut depth, mut begin) = (Vec::new(), 0, 0);
    for (at, letter) in text.bytes().enumerate() {
        match letter {
            b'[' | b'{' => depth += 1,
            b']' | b'}' => depth -= 1,
            b',' if depth == 0 => {
                all.push(text[begin..at].trim());
                begin = at + 1;
            }
            _ => {}
        }
    }
    all.push(text[begin..].trim());
    all
}

/// Returns the number of a descriptor. `strace` prints descriptors in the form `7<\x2f>`.
fn descriptor(text: &str) -> Option<i64> {
    text.split('<').next()?.parse().ok()
}

/// Returns the path of a descriptor. `strace` prints descriptors in the form `7<\x2f>` or `AT_FDCWD<\x2f>`. Returns
/// `None` for a deleted file, a socket or a pipe.
fn described(text: &str) -> Option<PathBuf> {
    let (_, rest) = text.split_once('<')?;
    let (path, rest) = rest.split_once('>')?;
    (rest.is_empty() && path.starts_with("\\x2f")).then(|| path_of(path))
}

fn quoted(text: &str) -> Option<PathBuf> {
    Some(path_of(text.strip_prefix('"')?.strip_suffix('"')?))
}

fn path_of(hex: &str) -> PathBuf {
    PathBuf::from(OsString::from_vec(unhex(hex)))
}

fn bytes(text: &str) -> Option<Vec<u8>> {
    Some(unhex(text.strip_prefix('"')?.strip_suffix('"')?))
}

/// Returns the bytes of all buffers in `[{iov_base="…", iov_len=3}, …]`.
fn all_bytes(text: &str) -> Vec<u8> {
    text.split('"').skip(1).step_by(2).flat_map(unhex).collect()
}

fn unhex(text: &str) -> Vec<u8> {
    let digits = |pair: &str| u8::from_str_radix(pair, 16).unwrap_or(b'?');
    text.split("\\x").skip(1).map(digits).collect()
}
