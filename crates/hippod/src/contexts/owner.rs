//! Agents to which sessions belong.

use hippo_proto::{RpcError, Viewer};
use hippo_store::contexts::SessionRow;

use super::Contexts;

/// Returns the agent to which a session belongs. A session with another name than an id of an agent belongs to none.
pub(super) fn owner(session: &SessionRow) -> Viewer {
    Viewer(session.agent.as_deref().and_then(|agent| agent.parse().ok()))
}

/// Fails if a session belongs to another agent than the one that asks, as if the session did not exist. A request without
/// an agent may use each session whose id it knows.
///
/// # Errors
/// Returns `not-found`.
pub fn check_reader(contexts: &Contexts, viewer: &Viewer, session: Option<&str>) -> Result<(), RpcError> {
    let (Some(_), Some(id)) = (&viewer.0, session) else {
        return Ok(());
    };
    match contexts.home(id) {
        Ok(found) if !viewer.sees(&owner(&found.session).own_scope()) => Err(no_such_session(id)),
        // The method itself reports other errors.
        _ => Ok(()),
    }
}

/// Returns the error for a session that does not exist.
pub(super) fn no_such_session(id: &str) -> RpcError {
    RpcError::not_found(format!("no such session: {id}")).hint(
        "to list the sessions: hippoctl context list; if the session's workspace was removed, add the \
         workspace again",
    )
}
