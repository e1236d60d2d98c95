//! How does a verb reach the daemon and the workspace that it means?

use std::path::{Path, PathBuf};
use std::time::Duration;

use hippo_proto::{
    Client, ClientError, Notification, Paths, Request, WorkspaceListRequest, WorkspaceListResponse,
};
use serde::de::DeserializeOwned;

use crate::failure::{Exit, Failure};
use crate::launch;
use hippoctl::args::Global;

/// How long an ordinary request may take.
pub const PATIENCE: Duration = Duration::from_secs(60);
/// How long connecting may take once a socket is there.
const CONNECT: Duration = Duration::from_secs(5);

/// The options of every verb, the places, and the connection once there is one.
pub struct Session {
    global: Global,
    /// Where things live.
    pub paths: Paths,
    client: Option<Client>,
}

impl Session {
    /// Nothing is connected yet.
    ///
    /// # Errors
    /// The places cannot be found from the environment.
    pub fn new(global: Global) -> Result<Self, Failure> {
        let mut paths = Paths::resolve(|name| std::env::var_os(name))
            .map_err(|error| Failure::new(Exit::Usage, error.to_string()))?;
        if let Some(socket) = &global.socket {
            paths.socket = absolute(socket)?;
        }
        Ok(Self {
            global,
            paths,
            client: None,
        })
    }

    /// One more with the same options and places, not connected yet.
    pub fn another(&self) -> Self {
        Self {
            global: self.global.clone(),
            paths: self.paths.clone(),
            client: None,
        }
    }

    /// A connection to a daemon that runs already.
    ///
    /// # Errors
    /// [`ClientError::Connect`] when none answers.
    pub fn connect_only(&self) -> Result<Client, ClientError> {
        Client::connect(&self.paths.socket, Some(CONNECT))
    }

    /// The connection; starts the daemon where none answers and that is not forbidden.
    ///
    /// # Errors
    /// No daemon answers and none could be started.
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
        Ok(self.client.insert(client))
    }

    /// Asks, and waits for the answer for a minute.
    ///
    /// # Errors
    /// No daemon, a refusal, or no answer.
    pub fn call<R: DeserializeOwned>(&mut self, request: impl Into<Request>) -> Result<R, Failure> {
        self.call_within(Some(PATIENCE), request, |_| {})
    }

    /// Asks, and waits for the answer as long as it takes.
    ///
    /// # Errors
    /// No daemon, a refusal, or a broken connection.
    pub fn call_patiently<R: DeserializeOwned>(
        &mut self,
        request: impl Into<Request>,
        on_notification: impl FnMut(Notification),
    ) -> Result<R, Failure> {
        self.call_within(None, request, on_notification)
    }

    fn call_within<R: DeserializeOwned>(
        &mut self,
        timeout: Option<Duration>,
        request: impl Into<Request>,
        on_notification: impl FnMut(Notification),
    ) -> Result<R, Failure> {
        Ok(self.ask(timeout, &request.into(), on_notification)??)
    }

    /// Asks. A daemon that goes before it says anything, one that is being killed for instance, is asked once more, and another is
    /// started in its place where none is left: unless that could do something twice.
    ///
    /// # Errors
    /// No daemon; within, how the call failed.
    pub fn ask<R: DeserializeOwned>(
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

    /// The folder given with `--workspace`, made absolute.
    ///
    /// # Errors
    /// The current folder is gone.
    pub fn given_workspace(&self) -> Result<Option<PathBuf>, Failure> {
        self.global.workspace.as_deref().map(absolute).transpose()
    }

    /// The workspace of this request: as given, else the nearest registered folder above the current one.
    ///
    /// # Errors
    /// No registered folder lies at or above the current one.
    pub fn workspace(&mut self) -> Result<String, Failure> {
        match self.given_workspace()? {
            Some(given) => text(&given),
            None => self.root(),
        }
    }

    /// The nearest registered folder above the given one, else above the current one.
    ///
    /// # Errors
    /// No registered folder lies at or above it.
    pub fn root(&mut self) -> Result<String, Failure> {
        let place = match self.given_workspace()? {
            Some(given) => given,
            None => current_dir()?,
        };
        let list: WorkspaceListResponse = self.call(WorkspaceListRequest {})?;
        let roots = list.workspaces.iter().map(|workspace| workspace.root.as_str());
        nearest_above(&place, roots).map(str::to_owned).ok_or_else(|| {
            let place = place.display();
            Failure::new(
                Exit::NotFound,
                format!("no registered workspace at or above {place}"),
            )
            .hint("register the folder with: hippoctl workspace add DIR, or name one with --workspace DIR; hippoctl workspace list shows the registered ones")
        })
    }
}

/// The longest root that is `here` or a folder above it.
fn nearest_above<'a>(here: &Path, roots: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    roots
        .filter(|root| here.starts_with(root))
        .max_by_key(|root| Path::new(root).components().count())
}

/// The canonical path, or, where nothing is there, the absolute one.
///
/// # Errors
/// The current folder is gone.
#[expect(clippy::disallowed_methods, reason = "a folder that the user names")]
pub fn absolute(path: &Path) -> Result<PathBuf, Failure> {
    std::fs::canonicalize(path)
        .or_else(|_| std::path::absolute(path))
        .map_err(|error| Failure::file("find the folder", path, error))
}

/// The canonical path of the current folder.
///
/// # Errors
/// It is gone.
pub fn current_dir() -> Result<PathBuf, Failure> {
    absolute(Path::new("."))
}

/// A path as the protocol carries it.
///
/// # Errors
/// It is not Unicode.
pub fn text(path: &Path) -> Result<String, Failure> {
    let text = path.to_str().map(str::to_owned);
    text.ok_or_else(|| {
        Failure::new(
            Exit::Usage,
            format!("could not use a path that is not unicode: {}", path.display()),
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nearest_root_above_is_found_by_whole_names() {
        let roots = ["/a", "/a/b", "/a/bc", "/x"];
        let near = |here: &str| nearest_above(Path::new(here), roots.into_iter());
        assert_eq!(near("/a/b/c"), Some("/a/b"));
        assert_eq!(near("/a/b"), Some("/a/b"));
        assert_eq!(near("/a/bcd"), Some("/a"));
        assert_eq!(near("/y"), None);
        assert_eq!(near("/"), None);
    }
}
