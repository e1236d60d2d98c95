//! Which methods does the socket know, and what does each take?

use serde::de::{DeserializeOwned, Error as _};
use serde::{Deserialize, Deserializer};
use serde_json::{Map, Value};

use crate::error::RpcError;
use crate::id::Id;
use crate::reply::line;
use crate::suggest::nearest;
use crate::types::*;

macro_rules! methods {
    ($($(#[doc = $doc:literal])* $name:literal => $variant:ident($params:ty) -> $answer:ty,)*) => {
        /// One request: the method and its parameters.
        #[derive(Debug, Clone, PartialEq)]
        pub enum Request {
            $($(#[doc = $doc])* $variant($params),)*
        }

        /// The names of all methods, as on the wire.
        pub const METHODS: &[&str] = &[$($name),*];

        impl Request {
            /// The method's name on the wire.
            pub fn method(&self) -> &'static str {
                match self {
                    $(Request::$variant(_) => $name,)*
                }
            }

            /// Reads the parameters of a method; `None` where the method is unknown.
            pub(crate) fn decode(method: &str, params: Map<String, Value>) -> Option<Result<Self, RpcError>> {
                match method {
                    $($name => Some(decode::<$params>($name, params).map(Request::$variant)),)*
                    _ => None,
                }
            }

            /// The request as one line, with its line feed.
            pub fn to_line(&self, id: &Id) -> Result<Vec<u8>, serde_json::Error> {
                match self {
                    $(Request::$variant(params) => encode($name, id, params),)*
                }
            }
        }

        /// Of each method what it is for, its parameters and its answer.
        #[cfg(feature = "schema")]
        pub(crate) fn describe(
            params: &mut schemars::SchemaGenerator,
            answers: &mut schemars::SchemaGenerator,
        ) -> Vec<(&'static str, &'static str, [schemars::Schema; 2])> {
            vec![$((
                $name,
                concat!($($doc),*),
                [params.subschema_for::<$params>(), answers.subschema_for::<$answer>()],
            )),*]
        }

        $(impl From<$params> for Request {
            fn from(params: $params) -> Self {
                Request::$variant(params)
            }
        })*
    };
}

methods! {
    /// Optional greeting; checks the protocol version.
    "hello" => Hello(HelloRequest) -> HelloResponse,
    /// How the daemon and its workspaces are; answered before any model is loaded.
    "status" => Status(StatusRequest) -> StatusResponse,
    /// What is counted and measured, for Prometheus.
    "metrics" => Metrics(MetricsRequest) -> MetricsResponse,
    /// Names problems with their fixes; can rebuild what is derived from the files.
    "doctor" => Doctor(DoctorRequest) -> DoctorResponse,
    /// How sound what a workspace remembers is, in numbers.
    "audit" => Audit(AuditRequest) -> AuditResponse,
    /// Stops the daemon.
    "shutdown" => Shutdown(ShutdownRequest) -> ShutdownResponse,
    /// Streams events to this connection from now on.
    "subscribe" => Subscribe(SubscribeRequest) -> SubscribeResponse,
    /// Registers a folder.
    "workspace.add" => WorkspaceAdd(WorkspaceAddRequest) -> WorkspaceAddResponse,
    /// The registered folders.
    "workspace.list" => WorkspaceList(WorkspaceListRequest) -> WorkspaceListResponse,
    /// Forgets a folder and what was derived from it; its files stay.
    "workspace.remove" => WorkspaceRemove(WorkspaceRemoveRequest) -> WorkspaceRemoveResponse,
    /// Reconciles the index with the disk.
    "workspace.sync" => WorkspaceSync(WorkspaceSyncRequest) -> WorkspaceSyncResponse,
    /// Shows what the settings that a workspace brings would change, and trusts them as they are now.
    "workspace.trust" => WorkspaceTrust(WorkspaceTrustRequest) -> WorkspaceTrustResponse,
    /// Retrieval.
    "search" => Search(SearchRequest) -> SearchResponse,
    /// Reads what a pointer points to.
    "get" => Get(GetRequest) -> GetResponse,
    /// Appends to the log of today, and enters it into the index file.
    "remember" => Remember(RememberRequest) -> RememberResponse,
    /// The entries of the index file, with their strengths.
    "index.list" => IndexList(IndexListRequest) -> IndexListResponse,
    /// One entry, and why it is as strong as it is.
    "index.show" => IndexShow(IndexShowRequest) -> IndexShowResponse,
    /// Changes what an entry says, or its priority.
    "index.edit" => IndexEdit(IndexEditRequest) -> IndexEditResponse,
    /// Takes an entry out of the index file; what it points at stays.
    "index.forget" => IndexForget(IndexForgetRequest) -> IndexForgetResponse,
    /// Brings an entry back that was forgotten or archived.
    "index.restore" => IndexRestore(IndexRestoreRequest) -> IndexRestoreResponse,
    /// Runs a consolidation cycle, or says what it would do.
    "cycle.run" => CycleRun(CycleRunRequest) -> CycleReport,
    /// The runs so far.
    "cycle.history" => CycleHistory(CycleHistoryRequest) -> CycleHistoryResponse,
    /// Takes a run back.
    "cycle.undo" => CycleUndo(CycleUndoRequest) -> CycleUndoResponse,
    /// Opens a session, or goes on with one.
    "context.open" => ContextOpen(ContextOpenRequest) -> ContextOpenResponse,
    /// Gives content to a session; answers the sparse entry that stands for it.
    "context.put" => ContextPut(ContextPutRequest) -> ContextPutResponse,
    /// Says that a turn is complete: entries fade, some leave the context.
    "context.turn" => ContextTurn(ContextTurnRequest) -> ContextTurnResponse,
    /// The active entries of a session, as text for a prompt.
    "context.render" => ContextRender(ContextRenderRequest) -> ContextRenderResponse,
    /// Content again, by the id of its entry or its own.
    "context.fetch" => ContextFetch(ContextFetchRequest) -> ContextFetchResponse,
    /// Accesses an entry: it is strong again.
    "context.touch" => ContextTouch(ContextTouchRequest) -> ContextTouchResponse,
    /// The sessions, or the entries of one.
    "context.list" => ContextList(ContextListRequest) -> ContextListResponse,
    /// Ends a session: what is to last goes into long-term memory.
    "context.close" => ContextClose(ContextCloseRequest) -> ContextCloseResponse,
    /// A short summary of a transcript, whose messages can be fetched.
    "session.compact" => SessionCompact(SessionCompactRequest) -> SessionCompactResponse,
    /// What is new in a transcript goes into the daily log.
    "session.flush" => SessionFlush(SessionFlushRequest) -> SessionFlushResponse,
    /// Runs what is due; answers what waits for the agent.
    "heartbeat" => Heartbeat(HeartbeatRequest) -> HeartbeatResponse,
    /// Brings the compaction tree up to date.
    "tree.compact" => TreeCompact(TreeCompactRequest) -> TreeCompactResponse,
    /// Nodes whose body somebody should write.
    "tree.pending" => TreePending(TreePendingRequest) -> TreePendingResponse,
    /// Gives a node a body.
    "tree.submit" => TreeSubmit(TreeSubmitRequest) -> TreeSubmitResponse,
    /// One node, and how it stands.
    "tree.show" => TreeShow(TreeShowRequest) -> TreeShowResponse,
    /// The embedding models that are known.
    "model.list" => ModelList(ModelListRequest) -> ModelListResponse,
    /// Obtains a model and the runtime; streams progress.
    "model.pull" => ModelPull(ModelPullRequest) -> ModelPullResponse,
    /// Checks the installed files against their checksums.
    "model.verify" => ModelVerify(ModelVerifyRequest) -> ModelVerifyResponse,
    /// Installs a model and the runtime from files on this machine.
    "model.import" => ModelImport(ModelImportRequest) -> ModelPullResponse,
    /// Removes a model that was imported.
    "model.remove" => ModelRemove(ModelRemoveRequest) -> ModelRemoveResponse,
    /// Puts workspaces with all that is known of them into one file, while they are used.
    "backup" => Backup(BackupRequest) -> BackupResponse,
    /// Checks a backup against its checksums.
    "backup.verify" => BackupVerify(BackupVerifyRequest) -> BackupResponse,
    /// Makes workspaces again from a backup.
    "restore" => Restore(RestoreRequest) -> RestoreResponse,
}

impl Request {
    /// Whether it changes nothing that is told of later, so that to make it twice is as good as once. What a search counts as an
    /// access it counts after its answer.
    pub fn only_reads(&self) -> bool {
        match self {
            Request::Hello(_)
            | Request::Status(_)
            | Request::Metrics(_)
            | Request::WorkspaceList(_)
            | Request::Search(_)
            | Request::Get(_)
            | Request::IndexList(_)
            | Request::IndexShow(_)
            | Request::CycleHistory(_)
            | Request::ContextRender(_)
            | Request::ContextList(_)
            | Request::TreePending(_)
            | Request::TreeShow(_)
            | Request::ModelList(_)
            | Request::ModelVerify(_)
            | Request::BackupVerify(_) => true,
            Request::Doctor(doctor) => !doctor.rebuild && (!doctor.fix || doctor.dry_run),
            Request::CycleRun(run) => run.dry_run,
            Request::WorkspaceTrust(trust) => trust.dry_run,
            Request::Audit(_)
            | Request::Shutdown(_)
            | Request::Subscribe(_)
            | Request::WorkspaceAdd(_)
            | Request::WorkspaceRemove(_)
            | Request::WorkspaceSync(_)
            | Request::Remember(_)
            | Request::IndexEdit(_)
            | Request::IndexForget(_)
            | Request::IndexRestore(_)
            | Request::CycleUndo(_)
            | Request::ContextOpen(_)
            | Request::ContextPut(_)
            | Request::ContextTurn(_)
            | Request::ContextFetch(_)
            | Request::ContextTouch(_)
            | Request::ContextClose(_)
            | Request::SessionCompact(_)
            | Request::SessionFlush(_)
            | Request::Heartbeat(_)
            | Request::TreeCompact(_)
            | Request::TreeSubmit(_)
            | Request::ModelPull(_)
            | Request::ModelImport(_)
            | Request::ModelRemove(_)
            | Request::Backup(_)
            | Request::Restore(_) => false,
        }
    }
}

fn encode<T: serde::Serialize>(method: &str, id: &Id, params: &T) -> Result<Vec<u8>, serde_json::Error> {
    #[derive(serde::Serialize)]
    struct Line<'a, T> {
        jsonrpc: &'static str,
        id: &'a Id,
        method: &'a str,
        params: &'a T,
    }
    line(&Line {
        jsonrpc: "2.0",
        id,
        method,
        params,
    })
}

fn decode<T: DeserializeOwned + Validate>(method: &str, params: Map<String, Value>) -> Result<T, RpcError> {
    let known = fields::<T>();
    if let Some(unknown) = params.keys().find(|key| !known.contains(&key.as_str())) {
        let error = RpcError::bad_request(format!("unknown field \"{}\" of {method}", shorten(unknown)));
        return Err(error.hint(match nearest(unknown, known.iter().copied()) {
            Some(near) => format!("did you mean \"{near}\"?"),
            None if known.is_empty() => format!("{method} takes no parameters"),
            None => format!("{method} takes {}", known.join(", ")),
        }));
    }
    check_paths(&params)?;
    T::check_raw(&params)?;
    let request: T = serde_path_to_error::deserialize(Value::Object(params)).map_err(|error| {
        // Names within content are the caller's, and not echoed at any length.
        let field = match error.path().iter().next() {
            Some(_) => format!(" field \"{}\":", shorten(&error.path().to_string())),
            None => String::new(),
        };
        let error = excerpt(&error.inner().to_string());
        RpcError::bad_request(format!("wrong parameters of {method}:{field} {error}"))
            .hint("docs/protocol.md lists each field with its type")
    })?;
    request.validate()?;
    Ok(request)
}

/// No system has a NUL character in a path.
fn check_paths(params: &Map<String, Value>) -> Result<(), RpcError> {
    const PATHS: [&str; 5] = ["workspace", "path", "from", "to", "into"];
    let has_nul = |field: &&str| {
        let text = params.get(*field).and_then(Value::as_str);
        text.is_some_and(|text| text.contains('\0'))
    };
    match PATHS.iter().find(|field| has_nul(field)) {
        Some(field) => {
            let what = format!("the field \"{field}\" contains a NUL character");
            Err(RpcError::bad_request(what).hint("no path contains one"))
        }
        None => Ok(()),
    }
}

/// At most the first 64 characters: what a caller sent is not echoed at any length.
pub fn shorten(text: &str) -> String {
    let mut chars = text.chars();
    let mut short: String = chars.by_ref().take(64).collect();
    if chars.next().is_some() {
        short.push('…');
    }
    short
}

/// At most 200 bytes of a message that may hold a value of the caller: its beginning, and its end, which names what was
/// expected.
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

/// The names of a struct's fields on the wire, as its own `Deserialize` tells them.
fn fields<'de, T: Deserialize<'de>>() -> &'static [&'static str] {
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
    // The probe always fails; what it was told is what counts.
    let _ = T::deserialize(Probe(&mut fields));
    fields
}
