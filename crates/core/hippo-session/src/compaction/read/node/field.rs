//! Field names of transcript objects.

use std::fmt;

use serde::de::{Deserialize, Deserializer, Error, Visitor};

/// Known field, or any other.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NodeField {
    Other,
    Type,
    Role,
    Name,
    Text,
    Id,
    CallId,
    Content,
    Message,
    Input,
    IsError,
    At,
    Kind,
    Dir,
    ToolName,
    Tool,
    Summary,
    Uuid,
    ParentUuid,
    ParentId,
    FirstKept,
    Stdout,
    Stderr,
    AggregatedOutput,
    Output,
    ToolCalls,
    Items,
    Payload,
    Msg,
    Item,
    Function,
    Invocation,
    Result,
    Ok,
    Err,
    Failure,
    Arguments,
    Command,
    Action,
    Changes,
    IsSidechain,
    IsMeta,
    IsCompactSummary,
    Success,
    ExitCode,
    ForkedFrom,
}

impl NodeField {
    fn from_name(name: &str) -> Self {
        match name {
            "type" => Self::Type,
            "role" => Self::Role,
            "name" => Self::Name,
            "text" => Self::Text,
            "id" => Self::Id,
            "call_id" | "tool_use_id" | "toolCallId" | "tool_call_id" => Self::CallId,
            "content" => Self::Content,
            "message" => Self::Message,
            "input" => Self::Input,
            "isError" | "is_error" => Self::IsError,
            "timestamp" | "ts" | "created_at" => Self::At,
            "kind" => Self::Kind,
            "dir" => Self::Dir,
            "toolName" => Self::ToolName,
            "tool" => Self::Tool,
            "summary" => Self::Summary,
            "uuid" => Self::Uuid,
            "parentUuid" => Self::ParentUuid,
            "parentId" => Self::ParentId,
            "firstKeptEntryId" => Self::FirstKept,
            "stdout" => Self::Stdout,
            "stderr" => Self::Stderr,
            "aggregated_output" => Self::AggregatedOutput,
            "output" => Self::Output,
            "tool_calls" | "toolCalls" => Self::ToolCalls,
            "items" => Self::Items,
            "payload" => Self::Payload,
            "msg" => Self::Msg,
            "item" => Self::Item,
            "function" => Self::Function,
            "invocation" => Self::Invocation,
            "result" => Self::Result,
            "Ok" => Self::Ok,
            "Err" => Self::Err,
            "error" => Self::Failure,
            "arguments" => Self::Arguments,
            "command" => Self::Command,
            "action" => Self::Action,
            "changes" => Self::Changes,
            "isSidechain" => Self::IsSidechain,
            "isMeta" => Self::IsMeta,
            "isCompactSummary" => Self::IsCompactSummary,
            "success" => Self::Success,
            "exit_code" | "exitCode" => Self::ExitCode,
            "forked_from_id" => Self::ForkedFrom,
            _ => Self::Other,
        }
    }
}

/// Key of an object.
pub struct NodeKey(pub NodeField);

impl<'de> Deserialize<'de> for NodeKey {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        struct KeyVisitor;
        impl Visitor<'_> for KeyVisitor {
            type Value = NodeKey;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a key")
            }
            fn visit_str<E: Error>(self, name: &str) -> Result<NodeKey, E> {
                Ok(NodeKey(NodeField::from_name(name)))
            }
        }
        from.deserialize_identifier(KeyVisitor)
    }
}
