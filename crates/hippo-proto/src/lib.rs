//! Wire protocol of hippod: messages, framing, blocking client.
//!
//! The protocol is JSON-RPC 2.0 in UTF-8, one object per line, at most [`MAX_LINE_BYTES`] per line. Requests are parsed strictly
//! (an unknown method, field or type is an error). Answers are parsed leniently (a newer daemon may add fields), so old clients
//! keep working.

mod client;
mod error;
mod event;
pub mod folder;
mod frame;
mod id;
pub mod log_file;
mod methods;
mod parse;
pub mod paths;
mod reply;
mod suggest;
mod types;

pub use client::{Client, ClientError};
pub use error::{ErrorData, ErrorKind, RpcError};
pub use event::{Event, EventName, Notification, Progress};
pub use frame::{Frame, FrameReader, MAX_LINE_BYTES};
pub use id::Id;
pub use log_file::LogFile;
pub use methods::describe;
pub use methods::{METHODS, Method, Request, shorten};
pub use parse::{Call, parse_request};
pub use paths::Paths;
pub use reply::{Reply, encode_error, encode_notification, encode_result};
pub use suggest::nearest;
pub use types::*;

/// The protocol version of this crate.
pub const PROTOCOL: u32 = 1;
