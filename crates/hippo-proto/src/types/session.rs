//! `hello`, `subscribe`, `shutdown`: methods of a connection.

use serde::{Deserialize, Serialize};

use super::{Validate, refuse_empty};
use crate::PROTOCOL;
use crate::error::{ErrorKind, RpcError};
use crate::event::EventName;

/// Parameters of `hello`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct HelloRequest {
    /// The protocol version of the client.
    pub protocol: u32,
    /// `name/version` of the client, for the log.
    pub client: String,
    /// The workspace of the client; later requests do not use it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub workspace: Option<String>,
    /// Name of the agent that uses the client.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent: Option<String>,
}

impl Validate for HelloRequest {
    fn validate(&self) -> Result<(), RpcError> {
        if self.protocol == PROTOCOL {
            return refuse_empty("workspace", self.workspace.as_deref());
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
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct HelloResponse {
    /// The protocol version of the daemon.
    pub protocol: u32,
    /// The version of the daemon.
    pub daemon: String,
    /// The process id of the daemon.
    pub pid: u32,
    /// Optional features of this daemon, for example `onnx`.
    pub features: Vec<String>,
}

/// Parameters of `subscribe`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct SubscribeRequest {
    /// Only events of this workspace, and events without one; default: all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub workspace: Option<String>,
    /// Only these events; default: all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub events: Option<Vec<EventName>>,
}

impl Validate for SubscribeRequest {
    fn validate(&self) -> Result<(), RpcError> {
        refuse_empty("workspace", self.workspace.as_deref())
    }
}

/// Answer to `subscribe`; events follow it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SubscribeResponse {
    /// The subscribed events.
    pub events: Vec<EventName>,
}

/// Parameters of `shutdown`: none.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct ShutdownRequest {}

impl Validate for ShutdownRequest {}

/// Answer to `shutdown`, sent before the daemon stops.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ShutdownResponse {
    /// The process id of the daemon, which has ended when the connection closes.
    pub pid: u32,
}
