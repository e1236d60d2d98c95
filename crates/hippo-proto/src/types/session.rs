//! `hello`, `subscribe`, `shutdown`: methods of a connection.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::PROTOCOL;
use crate::error::{ErrorKind, RpcError};
use crate::event::EventName;

/// Parameters of `hello`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct HelloRequest {
    /// The protocol version of the client.
    pub protocol: u32,
    /// Name and version of the client as `name/version`, for the log.
    pub client: String,
}

impl HelloRequest {
    pub(crate) fn validate(&self) -> Result<(), RpcError> {
        if self.protocol == PROTOCOL {
            return Ok(());
        }
        let message = format!("protocol {} is not supported", self.protocol);
        Err(
            RpcError::new(ErrorKind::UnsupportedProtocol, message).hint(format!(
                "this daemon supports protocol {PROTOCOL}; install client and daemon of the same version"
            )),
        )
    }
}

/// Answer to `hello`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct HelloResponse {
    /// The protocol version of the daemon.
    pub protocol: u32,
    /// The version of the daemon.
    pub daemon: String,
    /// The process id of the daemon.
    pub pid: u32,
}

/// Parameters of `subscribe`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SubscribeRequest {
    /// Return only events of this workspace, and events without a workspace; default: all events.
    pub workspace: Option<String>,
    /// Return only events with these names; default: all events.
    pub events: Option<Vec<EventName>>,
}

/// Answer to `subscribe`; events follow it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SubscribeResponse {
    /// The subscribed events.
    pub events: Vec<EventName>,
}

/// Parameters of `shutdown`: none.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ShutdownRequest {}

/// Answer to `shutdown`, sent before the daemon stops.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ShutdownResponse {
    /// The process id of the daemon. The connection closes after the process has ended.
    pub pid: u32,
}
