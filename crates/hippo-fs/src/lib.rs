//! Files inside a workspace, opened below its root and never through a link.
//!
//! Everything below a workspace may come from a stranger, links included. [`WorkspaceDir`] is the one way to a file there: it
//! holds the opened root, walks a relative path one component at a time, and refuses a component that is a link, so that no
//! check can be outrun by a rename. What is read as memory may be a link within the workspace: [`WorkspaceDir::resolve`] finds
//! the real path, which is then opened as strictly as any other.

mod error;
mod folder;
mod path;
mod workspace;

pub use error::{Refusal, is_absence, refusal};
pub use folder::{Entry, Folder, Kind, Stat};
pub use workspace::WorkspaceDir;
