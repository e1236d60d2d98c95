//! Limit on open files, and the number still available.

/// Raises the limit on open files to the maximum. 100 workspaces exceed the default limit of many systems.
pub fn raise_limit() {
    use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
    let limit = getrlimit(Resource::Nofile);
    if limit.current == limit.maximum {
        return;
    }
    let raised = |current| {
        let limit = Rlimit {
            current,
            maximum: limit.maximum,
        };
        setrlimit(Resource::Nofile, limit)
    };
    // Some systems reject a limit above `MODEST`, even if they report a higher maximum.
    if raised(limit.maximum).is_err()
        && let Err(error) = raised(Some(MODEST))
    {
        tracing::warn!(%error, "could not raise the limit of open files");
    }
}

const MODEST: u64 = 10_240;

/// Returns how many more files can be opened, or `None` if the operating system does not report it.
#[expect(clippy::disallowed_methods, reason = "this is not a workspace file")]
pub fn left() -> Option<u64> {
    let limit = rustix::process::getrlimit(rustix::process::Resource::Nofile).current?;
    let folder = if cfg!(target_os = "linux") {
        "/proc/self/fd"
    } else {
        "/dev/fd"
    };
    match std::fs::read_dir(folder) {
        Ok(open) => Some(limit.saturating_sub(open.count() as u64)),
        Err(error) if hippo_store::system::is_shortage(&error) => Some(0),
        Err(_) => None,
    }
}
