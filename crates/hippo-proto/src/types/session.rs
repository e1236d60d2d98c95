//! How does a connection begin, listen and end: `hello`, `subscribe`, `shutdown`?

use serde::{Deserialize, Serialize};

use super::{Validate, no_empty};
use crate::PROTOCOL;
use crate::error::{ErrorKind, RpcError};
use crate::event::EventName;

/// Parameters of `hello`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct HelloRequest {
    /// The version of the protocol that the client speaks.
    pub protocol: u32,
    /// `name/version` of the client, for the log.
    pub client: String,
    /// The workspace that the client works in; not remembered for later requests.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub workspace: Option<String>,
    /// The agent that speaks.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent: Option<String>,
}

impl Validate for HelloRequest {
    fn validate(&self) -> Result<(), RpcError> {
        if self.protocol == PROTOCOL {
            return no_empty("workspace", self.workspace.as_deref());
        }
        let message = format!("protocol {} is not spoken here", self.protocol);
        Err(
            RpcError::new(ErrorKind::UnsupportedProtocol, message).hint(format!(
                "this daemon speaks protocol {PROTOCOL}; install client and daemon of one version"
            )),
        )
    }
}

/// Answer to `hello`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct HelloResponse {
    /// The version of the protocol that the daemon speaks.
    pub protocol: u32,
    /// The daemon's version.
    pub daemon: String,
    /// The daemon's process id.
    pub pid: u32,
    /// What this daemon can do beyond the methods of the protocol version, for example `onnx`.
    pub features: Vec<String>,
}

/// Parameters of `subscribe`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct SubscribeRequest {
    /// Only events of this workspace (and those that concern none); all when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub workspace: Option<String>,
    /// Only these events; all when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub events: Option<Vec<EventName>>,
}

impl Validate for SubscribeRequest {
    fn validate(&self) -> Result<(), RpcError> {
        no_empty("workspace", self.workspace.as_deref())
    }
}

/// Answer to `subscribe`; events follow it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SubscribeResponse {
    /// The events that will come.
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
    /// The process that stops; it is gone when the connection closes.
    pub pid: u32,
}
