//! Methods of the protocol with their parameters and answers.

use serde::de::{DeserializeOwned, Error as _};
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::{Map, Value};

use crate::error::RpcError;
use crate::id::Id;
use crate::reply::encode_line;
use crate::suggest::nearest;
use crate::types::check::check_fields;
use crate::types::*;
use hippo_types::scope::AgentId;

/// Parameters of a method, with the type of its answer.
pub trait Method: Into<Request> {
    /// The answer of the method.
    type Answer: DeserializeOwned + Serialize;
}

macro_rules! methods {
    ($($(#[doc = $doc:literal])* $name:literal => $variant:ident($params:ty) -> $answer:ty,)*) => {
        /// A request: the method and its parameters.
        #[derive(Debug, Clone, PartialEq)]
        pub enum Request {
            $($(#[doc = $doc])* $variant($params),)*
        }

        /// The wire names of all methods.
        pub const METHODS: &[&str] = &[$($name),*];

        impl Request {
            /// Returns the wire name of the method.
            pub fn method(&self) -> &'static str {
                match self {
                    $(Request::$variant(_) => $name,)*
                }
            }

            /// Parses the parameters of a method; `None` if the method is unknown.
            pub(crate) fn decode(method: &str, params: Map<String, Value>) -> Option<Result<Self, RpcError>> {
                match method {
                    $($name => Some(decode_params::<$params>($name, params).map(Request::$variant)),)*
                    _ => None,
                }
            }

            /// Encodes the request as one line with a line feed.
            pub fn to_line(&self, id: &Id) -> Result<Vec<u8>, serde_json::Error> {
                self.to_line_of(id, None)
            }

            /// Encodes the request of an agent as one line with a line feed.
            pub fn to_line_of(&self, id: &Id, agent: Option<&AgentId>) -> Result<Vec<u8>, serde_json::Error> {
                match self {
                    $(Request::$variant(params) => encode_request($name, id, agent, params),)*
                }
            }
        }

        /// Returns the description, parameter schema and answer schema of each method.
        pub fn describe(
            params: &mut schemars::SchemaGenerator,
            answers: &mut schemars::SchemaGenerator,
        ) -> Vec<(&'static str, &'static str, [schemars::Schema; 2])> {
            vec![$((
                $name,
                concat!($($doc),*),
                [params.subschema_for::<$params>(), answers.subschema_for::<$answer>()],
            )),*]
        }

        $(impl Method for $params {
            type Answer = $answer;
        }

        impl From<$params> for Request {
            fn from(params: $params) -> Self {
                Request::$variant(params)
            }
        })*
    };
}

methods! {
    /// Optional greeting; checks the protocol version.
    "hello" => Hello(HelloRequest) -> HelloResponse,
    /// Returns the status of the daemon and its workspaces; does not wait for the model.
    "status" => Status(StatusRequest) -> StatusResponse,
    /// Returns counters and measurements for Prometheus.
    "metrics" => Metrics(MetricsRequest) -> MetricsResponse,
    /// Reports problems with their fixes; can rebuild data derived from the files.
    "doctor" => Doctor(DoctorRequest) -> DoctorResponse,
    /// Measures the quality of a workspace's memory.
    "audit" => Audit(AuditRequest) -> AuditResponse,
    /// Stops the daemon.
    "shutdown" => Shutdown(ShutdownRequest) -> ShutdownResponse,
    /// Streams events to this connection.
    "subscribe" => Subscribe(SubscribeRequest) -> SubscribeResponse,
    /// Registers a folder.
    "workspace.add" => WorkspaceAdd(WorkspaceAddRequest) -> WorkspaceAddResponse,
    /// Lists the registered folders.
    "workspace.list" => WorkspaceList(WorkspaceListRequest) -> WorkspaceListResponse,
    /// Unregisters a folder and deletes its derived data; the files stay.
    "workspace.remove" => WorkspaceRemove(WorkspaceRemoveRequest) -> WorkspaceRemoveResponse,
    /// Synchronises the index with the disk.
    "workspace.sync" => WorkspaceSync(WorkspaceSyncRequest) -> WorkspaceSyncResponse,
    /// Lists the settings of a workspace that need trust, and trusts the files that contain them.
    "workspace.trust" => WorkspaceTrust(WorkspaceTrustRequest) -> WorkspaceTrustResponse,
    /// Searches the memory of a workspace.
    "search" => Search(SearchRequest) -> SearchResponse,
    /// Reads a file, section or line range.
    "get" => Get(GetRequest) -> GetResponse,
    /// Returns passages that concern a prompt of the user, or none.
    "recall" => Recall(RecallRequest) -> RecallResponse,
    /// Lists the last questions of a workspace with their answers.
    "recall.log" => RecallLog(RecallLogRequest) -> RecallLogResponse,
    /// Explains why a question finds passages, or does not find one.
    "recall.why" => RecallWhy(RecallWhyRequest) -> RecallWhyResponse,
    /// Appends an entry to today's log and adds the entry to the index file.
    "remember" => Remember(RememberRequest) -> RememberResponse,
    /// Lists the entries of the index file with their strengths.
    "index.list" => IndexList(IndexListRequest) -> IndexListResponse,
    /// Returns one entry and the factors of its strength.
    "index.show" => IndexShow(IndexShowRequest) -> IndexShowResponse,
    /// Edits the text or the priority of an entry.
    "index.edit" => IndexEdit(IndexEditRequest) -> IndexEditResponse,
    /// Removes an entry from the index file; its sources stay.
    "index.forget" => IndexForget(IndexForgetRequest) -> IndexForgetResponse,
    /// Restores a forgotten or archived entry.
    "index.restore" => IndexRestore(IndexRestoreRequest) -> IndexRestoreResponse,
    /// Runs a consolidation cycle, or returns its plan.
    "cycle.run" => CycleRun(CycleRunRequest) -> CycleReport,
    /// Lists past runs.
    "cycle.history" => CycleHistory(CycleHistoryRequest) -> CycleHistoryResponse,
    /// Undoes a run.
    "cycle.undo" => CycleUndo(CycleUndoRequest) -> CycleUndoResponse,
    /// Opens or resumes a session.
    "context.open" => ContextOpen(ContextOpenRequest) -> ContextOpenResponse,
    /// Adds content to a session, and returns the short entry that replaces the content in a prompt.
    "context.put" => ContextPut(ContextPutRequest) -> ContextPutResponse,
    /// Completes a turn: the strength of entries falls, and weak entries leave the context.
    "context.turn" => ContextTurn(ContextTurnRequest) -> ContextTurnResponse,
    /// Renders the active entries of a session for a prompt.
    "context.render" => ContextRender(ContextRenderRequest) -> ContextRenderResponse,
    /// Returns content, given the id of the content or of its entry.
    "context.fetch" => ContextFetch(ContextFetchRequest) -> ContextFetchResponse,
    /// Records an access to an entry, which restores its strength.
    "context.touch" => ContextTouch(ContextTouchRequest) -> ContextTouchResponse,
    /// Lists the sessions, or the entries of one.
    "context.list" => ContextList(ContextListRequest) -> ContextListResponse,
    /// Closes a session, and writes its persistent entries to long-term memory.
    "context.close" => ContextClose(ContextCloseRequest) -> ContextCloseResponse,
    /// Summarises a transcript; the full messages can still be fetched.
    "session.compact" => SessionCompact(SessionCompactRequest) -> SessionCompactResponse,
    /// Appends the new part of a transcript to the daily log.
    "session.flush" => SessionFlush(SessionFlushRequest) -> SessionFlushResponse,
    /// Runs the due cycles, and returns the tasks for the agent or the user.
    "heartbeat" => Heartbeat(HeartbeatRequest) -> HeartbeatResponse,
    /// Updates the compaction tree.
    "tree.compact" => TreeCompact(TreeCompactRequest) -> TreeCompactResponse,
    /// Lists the nodes that need a summary.
    "tree.pending" => TreePending(TreePendingRequest) -> TreePendingResponse,
    /// Sets the text of a node.
    "tree.submit" => TreeSubmit(TreeSubmitRequest) -> TreeSubmitResponse,
    /// Returns one node and its state.
    "tree.show" => TreeShow(TreeShowRequest) -> TreeShowResponse,
    /// Lets another workspace of the machine read chosen entries, or returns what it would read.
    "share.add" => ShareAdd(ShareAddRequest) -> ShareAddResponse,
    /// Lists the shares between workspaces of the machine.
    "share.list" => ShareList(ShareListRequest) -> ShareListResponse,
    /// Withdraws a share between workspaces of the machine.
    "share.remove" => ShareRemove(ShareRemoveRequest) -> ShareRemoveResponse,
    /// Prepares the database of a team.
    "share.init" => ShareInit(ShareInitRequest) -> ShareInitResponse,
    /// Publishes the changed text of a workspace to the team, or returns what would leave the machine.
    "share.publish" => SharePublish(SharePublishRequest) -> SharePublishResponse,
    /// Returns the state of the sharing with the team.
    "share.status" => ShareStatus(ShareStatusRequest) -> ShareStatusResponse,
    /// Lists the known embedding models.
    "model.list" => ModelList(ModelListRequest) -> ModelListResponse,
    /// Downloads a model and the runtime; streams progress.
    "model.pull" => ModelPull(ModelPullRequest) -> ModelPullResponse,
    /// Verifies the checksums of the installed files.
    "model.verify" => ModelVerify(ModelVerifyRequest) -> ModelVerifyResponse,
    /// Installs a model and the runtime from local files.
    "model.import" => ModelImport(ModelImportRequest) -> ModelPullResponse,
    /// Removes an imported model.
    "model.remove" => ModelRemove(ModelRemoveRequest) -> ModelRemoveResponse,
    /// Writes workspaces with all their data into one file, while they are in use.
    "backup" => Backup(BackupRequest) -> BackupResponse,
    /// Verifies the checksums of a backup.
    "backup.verify" => BackupVerify(BackupVerifyRequest) -> BackupResponse,
    /// Restores workspaces from a backup.
    "restore" => Restore(RestoreRequest) -> RestoreResponse,
}

impl Request {
    /// Checks the rules for values that the types cannot express.
    pub(crate) fn validate(&self) -> Result<(), RpcError> {
        match self {
            Request::Hello(hello) => hello.validate(),
            Request::Doctor(doctor) => doctor.validate(),
            Request::Audit(audit) => audit.validate(),
            Request::Search(search) => search.validate(),
            Request::Get(get) => get.validate(),
            Request::Recall(recall) => recall.validate(),
            Request::RecallLog(log) => log.validate(),
            Request::RecallWhy(why) => why.validate(),
            Request::Remember(remember) => remember.validate(),
            Request::IndexList(list) => list.validate(),
            Request::IndexEdit(edit) => edit.validate(),
            Request::CycleHistory(history) => history.validate(),
            Request::ContextPut(put) => put.validate(),
            Request::ContextTurn(turn) => turn.validate(),
            Request::ContextRender(render) => render.validate(),
            Request::ContextList(list) => list.validate(),
            Request::SessionCompact(compact) => compact.validate(),
            Request::SessionFlush(flush) => flush.validate(),
            Request::TreePending(pending) => pending.validate(),
            Request::TreeSubmit(submit) => submit.validate(),
            Request::ShareAdd(share) => share.validate(),
            Request::ModelImport(import) => import.validate(),
            _ => Ok(()),
        }
    }

    /// Returns whether repeating the request leaves later answers unchanged. A search counts its accesses only after
    /// its answer was sent.
    pub fn only_reads(&self) -> bool {
        match self {
            Request::Hello(_)
            | Request::Status(_)
            | Request::Metrics(_)
            | Request::WorkspaceList(_)
            | Request::Search(_)
            | Request::Get(_)
            | Request::RecallLog(_)
            | Request::RecallWhy(_)
            | Request::IndexList(_)
            | Request::IndexShow(_)
            | Request::CycleHistory(_)
            | Request::ContextRender(_)
            | Request::ContextList(_)
            | Request::TreePending(_)
            | Request::TreeShow(_)
            | Request::ShareList(_)
            | Request::ModelList(_)
            | Request::ModelVerify(_)
            | Request::BackupVerify(_) => true,
            Request::Doctor(doctor) => !doctor.rebuild && (!doctor.fix || doctor.dry_run),
            Request::CycleRun(run) => run.dry_run,
            Request::WorkspaceTrust(trust) => trust.dry_run,
            Request::ShareAdd(share) => share.dry_run,
            _ => false,
        }
    }
}

fn encode_request<T: Serialize>(
    method: &str,
    id: &Id,
    agent: Option<&AgentId>,
    params: &T,
) -> Result<Vec<u8>, serde_json::Error> {
    #[derive(Serialize)]
    struct RequestLine<'a, T> {
        jsonrpc: &'static str,
        id: &'a Id,
        method: &'a str,
        params: &'a T,
    }
    let jsonrpc = "2.0";
    let Some(agent) = agent else {
        return encode_line(&RequestLine {
            jsonrpc,
            id,
            method,
            params,
        });
    };
    let mut params = serde_json::to_value(params)?;
    if params["agent"].is_null() {
        params["agent"] = agent.as_str().into();
    }
    encode_line(&RequestLine {
        jsonrpc,
        id,
        method,
        params: &params,
    })
}

fn decode_params<T: DeserializeOwned>(method: &str, params: Map<String, Value>) -> Result<T, RpcError> {
    let known = field_names::<T>();
    if let Some(unknown) = params.keys().find(|key| !known.contains(&key.as_str())) {
        let error = RpcError::bad_request(format!("unknown field \"{}\" of {method}", shorten(unknown)));
        return Err(error.hint(match nearest(unknown, known.iter().copied()) {
            Some(near) => format!("did you mean \"{near}\"?"),
            None if known.is_empty() => format!("{method} takes no parameters"),
            None => format!("{method} takes {}", known.join(", ")),
        }));
    }
    check_fields(method, &params)?;
    serde_path_to_error::deserialize(Value::Object(params)).map_err(|error| {
        // The caller chooses the field names inside content, so they may be long; the error shortens them.
        let field = match error.path().iter().next() {
            Some(_) => format!(" field \"{}\":", shorten(&error.path().to_string())),
            None => String::new(),
        };
        let error = error.inner().to_string();
        RpcError::bad_request(format!(
            "invalid parameters of {method}:{field} {}",
            excerpt(&error)
        ))
        .hint(match known_name(&error) {
            Some(near) => format!("did you mean \"{near}\"?"),
            None => "docs/protocol.md lists each field with its type".to_owned(),
        })
    })
}

/// Returns the known name that is most similar to the unknown one. `error` is a message of serde, such as "unknown
/// variant `hihg`, expected one of `low`, `high`".
fn known_name(error: &str) -> Option<&str> {
    let mut names = error.strip_prefix("unknown ")?.split('`').skip(1).step_by(2);
    nearest(names.next()?, names)
}

/// Returns the first 64 characters, so that errors do not repeat long input.
pub fn shorten(text: &str) -> String {
    let mut chars = text.chars();
    let mut short: String = chars.by_ref().take(64).collect();
    if chars.next().is_some() {
        short.push('…');
    }
    short
}

/// Returns at most 200 bytes of an error message that may contain user input. The excerpt keeps the start and the end,
/// which states the expected value.
fn excerpt(message: &str) -> String {
    const BEGINNING: usize = 100;
    const END: usize = 90;
    if message.len() <= 200 {
        return message.to_owned();
    }
    let boundary = |at: &usize| message.is_char_boundary(*at);
    let head = (0..=BEGINNING).rev().find(boundary).unwrap_or(0);
    let tail = (message.len() - END..=message.len()).find(boundary);
    let tail = tail.unwrap_or(message.len());
    format!("{} … {}", &message[..head], &message[tail..])
}

/// Returns the wire names of a struct's fields, from its `Deserialize` implementation.
fn field_names<'de, T: Deserialize<'de>>() -> &'static [&'static str] {
    struct Probe<'a>(&'a mut &'static [&'static str]);

    impl<'de> Deserializer<'de> for Probe<'_> {
        type Error = serde_json::Error;

        fn deserialize_any<V: serde::de::Visitor<'de>>(self, _: V) -> Result<V::Value, Self::Error> {
            Err(Self::Error::custom("not a struct"))
        }

        fn deserialize_struct<V: serde::de::Visitor<'de>>(
            self,
            _: &'static str,
            fields: &'static [&'static str],
            _: V,
        ) -> Result<V::Value, Self::Error> {
            *self.0 = fields;
            Err(Self::Error::custom("only probed"))
        }

        serde::forward_to_deserialize_any! {
            bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf option unit
            unit_struct newtype_struct seq tuple tuple_struct map enum identifier ignored_any
        }
    }

    let mut fields: &'static [&'static str] = &[];
    // The probe always fails, but only after it has recorded the field names.
    let _ = T::deserialize(Probe(&mut fields));
    fields
}
