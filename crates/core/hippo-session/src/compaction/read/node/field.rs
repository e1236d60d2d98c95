//! Field names of transcript objects.

use serde::Deserialize;

/// Known field, or any other.
#[rustfmt::skip] // keep the list compact
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(field_identifier, rename_all = "camelCase")]
pub enum NodeField {
    Type, Role, Name, Text, Id,
    #[serde(rename = "call_id", alias = "tool_use_id", alias = "toolCallId", alias = "tool_call_id")]
    CallId,
    Content, Message, Input,
    #[serde(alias = "is_error")]
    IsError,
    #[serde(rename = "timestamp", alias = "ts", alias = "created_at")]
    At,
    Kind, Dir, ToolName, Tool, Summary, Uuid, ParentUuid, ParentId,
    #[serde(rename = "firstKeptEntryId")]
    FirstKept,
    Stdout, Stderr,
    #[serde(rename = "aggregated_output")]
    AggregatedOutput,
    Output,
    #[serde(alias = "tool_calls")]
    ToolCalls,
    Items, Payload, Msg, Item, Function, Invocation, Result,
    #[serde(rename = "Ok")]
    Ok,
    #[serde(rename = "Err")]
    Err,
    #[serde(rename = "error")]
    Failure,
    Arguments, Command, Action, Changes, IsSidechain, IsMeta, IsCompactSummary, Success,
    #[serde(alias = "exit_code")]
    ExitCode,
    #[serde(rename = "forked_from_id")]
    ForkedFrom,
    #[serde(other)]
    Other,
}
