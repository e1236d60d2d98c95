//! Connection to the daemon, and selection of the workspace.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::time::Duration;

use hippo_proto::{AgentId, Client, ClientError, Method, Notification, Paths, Request, WorkspaceListRequest};
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::failure::{Exit, Failure};
use crate::launch;
use crate::output::{Output, Style};
use crate::render::one_line;
use hippoctl::args::Global;

/// Maximum time that [`DaemonSession::call`] waits for a response.
pub const PATIENCE: Duration = Duration::from_secs(60);
/// Maximum time for connecting to an existing socket.
const CONNECT: Duration = Duration::from_secs(5);

/// The global options, the paths of the daemon, and the open connection to the daemon, if any.
pub struct DaemonSession {
    global: Global,
    /// The paths of the socket, the state folder and the log.
    pub paths: Paths,
    /// The agent for which requests are made.
    pub agent: Option<AgentId>,
    /// Name under which the recall log records searches of an agent.
    pub asks_as: String,
    client: Option<Client>,
}

impl DaemonSession {
    /// Creates a session without a connection.
    ///
    /// # Errors
    /// Fails if the paths of the daemon cannot be derived from the environment.
    pub fn new(global: Global) -> Result<Self, Failure> {
        let mut paths = Paths::resolve(|name| std::env::var_os(name))
            .map_err(|error| Failure::new(Exit::Usage, error.to_string()))?;
        if let Some(socket) = &global.socket {
            paths.socket = absolute(socket)?;
        }
        let agent = match (&global.agent, std::env::var("HIPPOD_AGENT")) {
            (Some(agent), _) => Some(agent.clone()),
            (None, Ok(agent)) if !agent.is_empty() => Some(agent.parse().map_err(|error| {
                Failure::new(
                    Exit::Usage,
                    format!("could not use the environment variable HIPPOD_AGENT: {error}"),
                )
            })?),
            _ => None,
        };
        Ok(Self {
            global,
            paths,
            agent,
            asks_as: "mcp".to_owned(),
            client: None,
        })
    }

    /// Returns a second session with the same options and paths, but without a connection.
    pub fn another(&self) -> Self {
        Self {
            global: self.global.clone(),
            paths: self.paths.clone(),
            agent: self.agent.clone(),
            asks_as: self.asks_as.clone(),
            client: None,
        }
    }

    /// Connects to a running daemon without starting one.
    ///
    /// # Errors
    /// Returns [`ClientError::Connect`] if no daemon answers.
    pub fn connect_only(&self) -> Result<Client, ClientError> {
        let mut client = Client::connect(&self.paths.socket, Some(CONNECT))?;
        client.set_agent(self.agent.clone());
        Ok(client)
    }

    /// Returns a connection to the daemon. If no daemon answers, starts one, unless the user gave `--no-start`.
    ///
    /// # Errors
    /// Fails if no daemon answers and no daemon could be started.
    pub fn client(&mut self) -> Result<&mut Client, Failure> {
        let client = match self.client.take() {
            Some(client) => client,
            None => match self.connect_only() {
                Ok(client) => client,
                Err(error @ ClientError::Connect { .. }) if self.global.no_start => return Err(error.into()),
                Err(ClientError::Connect { .. }) => launch::launch(&self.paths)?.1,
                Err(error) => return Err(error.into()),
            },
        };
        let client = self.client.insert(client);
        client.set_agent(self.agent.clone());
        Ok(client)
    }

    /// Sends a request and waits for the response, for at most one minute.
    ///
    /// # Errors
    /// Fails if no daemon can be reached, if the daemon refuses the request, or if no response arrives in time.
    pub fn call<M: Method>(&mut self, request: M) -> Result<M::Answer, Failure> {
        Ok(self.ask(Some(PATIENCE), request, |_| {})??)
    }

    /// Sends a request and waits for the response without a time limit.
    ///
    /// # Errors
    /// Fails if no daemon can be reached, if the daemon refuses the request, or if the connection breaks.
    pub fn call_patiently<M: Method>(&mut self, request: M) -> Result<M::Answer, Failure> {
        Ok(self.ask(None, request, |_| {})??)
    }

    /// Sends a request, waits for at most one minute, and prints the response.
    ///
    /// # Errors
    /// Fails as [`DaemonSession::call`] does, or if standard output is closed or full.
    pub fn show<M: Method>(
        &mut self,
        request: M,
        out: &mut Output,
        render: impl FnOnce(&M::Answer, Style) -> String,
    ) -> Result<(), Failure> {
        out.answer(&self.call(request)?, render)
    }

    /// Sends a request and returns the response. If the daemon exits before it responds, for example because it was
    /// killed, sends the request once more, to a new daemon if necessary. Does not repeat a request that could take
    /// effect twice.
    ///
    /// # Errors
    /// The outer error means that no daemon could be reached; the inner error is the failure of the call.
    pub fn ask<M: Method>(
        &mut self,
        timeout: Option<Duration>,
        request: M,
        on_notification: impl FnMut(Notification),
    ) -> Result<Result<M::Answer, ClientError>, Failure> {
        self.exchange(timeout, &request.into(), on_notification)
    }

    /// Sends a request and returns the response as JSON, as [`DaemonSession::call`] does.
    ///
    /// # Errors
    /// See [`DaemonSession::call`].
    pub fn send(&mut self, request: &Request) -> Result<Value, Failure> {
        Ok(self.exchange(Some(PATIENCE), request, |_| {})??)
    }

    fn exchange<R: DeserializeOwned>(
        &mut self,
        timeout: Option<Duration>,
        request: &Request,
        mut on_notification: impl FnMut(Notification),
    ) -> Result<Result<R, ClientError>, Failure> {
        let mut heard = false;
        let mut hear = |notification| {
            heard = true;
            on_notification(notification);
        };
        let client = self.client()?;
        client.set_timeout(timeout);
        let first = client.call_with(request, &mut hear);
        if !matches!(&first, Err(error) if error.may_ask_again(request)) || heard {
            return Ok(first);
        }
        self.client = None;
        let client = self.client()?;
        client.set_timeout(timeout);
        Ok(client.call_with(request, on_notification))
    }

    /// Returns the absolute path of the folder that was given with `--workspace`.
    ///
    /// # Errors
    /// Fails if several folders were given, or if the current folder no longer exists.
    pub fn given_workspace(&self) -> Result<Option<PathBuf>, Failure> {
        let mut given = self.given_workspaces()?;
        if given.len() > 1 {
            let what = "only `search` accepts several workspaces: give --workspace once";
            return Err(Failure::new(Exit::Usage, what));
        }
        Ok(given.pop())
    }

    /// Returns the absolute paths of the folders that were given with `--workspace`, each once.
    ///
    /// # Errors
    /// Fails if the current folder no longer exists.
    pub fn given_workspaces(&self) -> Result<Vec<PathBuf>, Failure> {
        let given = self.global.workspace.iter().map(|dir| absolute(dir));
        Ok(given.collect::<Result<BTreeSet<_>, _>>()?.into_iter().collect())
    }

    /// Returns the workspace for this request: the folder given with `--workspace`, otherwise the nearest registered
    /// folder at or above the current folder.
    ///
    /// # Errors
    /// Fails if no registered folder contains the current folder.
    pub fn workspace(&mut self) -> Result<String, Failure> {
        match self.given_workspace()? {
            Some(given) => text(&given),
            None => self.root(),
        }
    }

    /// Returns the nearest registered folder at or above the folder given with `--workspace`, or at or above the
    /// current folder if none was given.
    ///
    /// # Errors
    /// Fails if no registered folder contains that folder.
    pub fn root(&mut self) -> Result<String, Failure> {
        let place = match self.given_workspace()? {
            Some(given) => given,
            None => current_dir()?,
        };
        let list = self.call(WorkspaceListRequest {})?;
        let roots = list.workspaces.iter().map(|workspace| workspace.root.as_str());
        nearest_above(&place, roots).map(str::to_owned).ok_or_else(|| {
            let what = format!("no registered workspace at or above {}", place.display());
            let roots = list.workspaces.iter().map(|workspace| one_line(&workspace.root));
            let roots: String = roots.map(|root| format!("\n  {root}")).collect();
            let choose = match roots.is_empty() {
                true => String::new(),
                false => format!(", or choose a workspace with --workspace DIR:{roots}"),
            };
            Failure::new(Exit::NotFound, what)
                .hint(format!("register the folder: hippoctl workspace add DIR{choose}"))
        })
    }

    /// Returns the nearest registered folder at or above an absolute path, and the path relative to that folder. Returns
    /// `None` if no registered folder contains the path.
    ///
    /// # Errors
    /// Fails if the daemon does not list the registered folders.
    pub fn locate(&mut self, path: &Path) -> Result<Option<(String, String)>, Failure> {
        let list = self.call(WorkspaceListRequest {})?;
        let roots = list.workspaces.iter().map(|workspace| workspace.root.as_str());
        // The roots are canonical. The file itself can be a link within the workspace.
        let real = match (path.parent(), path.file_name()) {
            (Some(folder), Some(name)) => absolute(folder)?.join(name),
            _ => path.to_path_buf(),
        };
        let below = |path: &Path, root| Some((text(root).ok()?, text(path.strip_prefix(root).ok()?).ok()?));
        let paths = [real.as_path(), path];
        let found = paths.into_iter().find_map(|path| {
            let root = nearest_above(path, roots.clone())?;
            below(path, Path::new(root))
        });
        Ok(found)
    }
}

/// Returns the root that is `here` itself or the nearest parent folder of `here`.
pub fn nearest_above<'a>(here: &Path, roots: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    roots
        .filter(|root| here.starts_with(root))
        .max_by_key(|root| Path::new(root).components().count())
}

/// Returns the canonical path, or the absolute path if the path does not exist.
///
/// # Errors
/// Fails if the current folder no longer exists.
#[expect(clippy::disallowed_methods, reason = "the user chose this folder")]
pub fn absolute(path: &Path) -> Result<PathBuf, Failure> {
    std::fs::canonicalize(path)
        .or_else(|_| std::path::absolute(path))
        .map_err(|error| Failure::file("find the folder", path, error))
}

/// Returns the canonical path of the current folder.
///
/// # Errors
/// Fails if the folder no longer exists.
pub fn current_dir() -> Result<PathBuf, Failure> {
    absolute(Path::new("."))
}

/// Returns a path as a string, the form that the protocol uses.
///
/// # Errors
/// Fails if the path is not valid Unicode.
pub fn text(path: &Path) -> Result<String, Failure> {
    path.to_str().map(str::to_owned).ok_or_else(|| {
        let what = format!(
            "could not use a path that is not valid Unicode: {}",
            path.display()
        );
        Failure::new(Exit::Usage, what)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nearest_parent_root_is_found_by_path_components() {
        let roots = ["/a", "/a/b", "/a/bc", "/x"];
        let near = |here: &str| nearest_above(Path::new(here), roots.into_iter());
        assert_eq!(near("/a/b/c"), Some("/a/b"));
        assert_eq!(near("/a/b"), Some("/a/b"));
        assert_eq!(near("/a/bcd"), Some("/a"));
        assert_eq!(near("/y"), None);
        assert_eq!(near("/"), None);
    }
}
