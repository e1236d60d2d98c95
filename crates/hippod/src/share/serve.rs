//! Methods `share.*`.

use std::fmt::Write as _;
use std::path::PathBuf;
use std::sync::Arc;

use hippo_proto::{
    ErrorKind, RpcError, ShareInitRequest, ShareInitResponse, SharePublishRequest, SharePublishResponse,
    ShareStatusRequest, ShareStatusResponse, SharedWorkspace,
};
use hippo_share::schema::{TeamPlan, init as init_tables};
use hippo_share::{PasswordSource, ServerSettings, ShareError};

use super::{TeamShare, is_same};
use crate::views::Views;

/// Handles `share.init`.
///
/// # Errors
/// Fails if the server cannot be reached, or if the login may not create roles and tables.
pub async fn init(share: &TeamShare, request: ShareInitRequest) -> Result<ShareInitResponse, RpcError> {
    let mut server = share.server.clone();
    if let Some(url) = request.url {
        server = Some(ServerSettings {
            url,
            password: PasswordSource::Absent,
            ca_file: share.settings.ca_file(),
        });
    }
    let mut server = server.ok_or_else(|| no_team("no server is configured"))?;
    if let Some(path) = request.password_file {
        server.password = PasswordSource::File(PathBuf::from(path));
    }
    let plan = TeamPlan {
        team: request.team.unwrap_or_else(|| share.settings.team.clone()),
        writers: request.writers,
        readers: request.readers,
    };
    let done = init_tables(&server, &plan)
        .await
        .map_err(|error| refusal(&error))?;
    Ok(ShareInitResponse {
        team: plan.team,
        from: done.from.unsigned_abs(),
        to: done.to.unsigned_abs(),
        team_created: done.team_created,
    })
}

/// Handles `share.publish`.
///
/// # Errors
/// Returns `bad-request` if the workspace does not share, or the error of the server.
pub async fn publish(
    share: &TeamShare,
    views: &Views,
    request: SharePublishRequest,
) -> Result<SharePublishResponse, RpcError> {
    let view = views.get(&request.workspace).await?;
    if share.server.is_none() {
        return Err(no_team("no team is configured"));
    }
    // A dry run shows what would leave the machine before the workspace is chosen.
    if !request.dry_run && !share.includes(&view.root) {
        let what = format!(
            "this workspace does not share with the team: {}",
            view.root.display()
        );
        return Err(RpcError::bad_request(what).hint(
            "add the folder to share.postgres.workspaces in config.toml; `--dry-run` shows what would leave the machine",
        ));
    }
    if !request.dry_run && !share.settings.publish {
        return Err(
            RpcError::bad_request("share.postgres.publish is false").hint("set it to true in config.toml")
        );
    }
    let published = share.publish_workspace(&view, request.dry_run).await;
    published.map_err(|error| refusal(&error))
}

/// Handles `share.status`.
///
/// # Errors
/// Fails if the key of the device cannot be read.
pub async fn status(share: &Arc<TeamShare>, _: ShareStatusRequest) -> Result<ShareStatusResponse, RpcError> {
    let key = share.key().await.map_err(|error| refusal(&error))?;
    let mut device = String::new();
    for byte in key.public() {
        // Writing to a string cannot fail.
        let _ = write!(device, "{byte:02x}");
    }
    let mut response = ShareStatusResponse {
        team: share.settings.team.clone(),
        device,
        ..ShareStatusResponse::default()
    };
    let Some(server) = &share.server else {
        response.why =
            Some("no team is configured: set share.postgres.url and share.postgres.team".to_owned());
        return Ok(response);
    };
    response.url = Some(server.url.clone());
    let asked = async {
        let connection = share.link.take(server).await?;
        let facts = connection.team_facts(&response.team).await?;
        share.link.keep(connection);
        Ok::<_, ShareError>(facts)
    };
    match asked.await {
        Ok(facts) => {
            response.reachable = true;
            response.may_publish = facts.may_publish;
            response.passages = facts.passages;
        }
        Err(error) => response.why = Some(format!("{error}; {}", error.hint())),
    }
    let states = share.states.lock();
    response.workspaces = (share.views().iter())
        .map(|view| {
            let state = states.iter().find(|(root, _)| is_same(root, &view.root));
            let state = state.map(|(_, state)| state.clone()).unwrap_or_default();
            SharedWorkspace {
                root: view.root.display().to_string(),
                waiting: state.waiting,
                error: state.error,
            }
        })
        .collect();
    Ok(response)
}

fn no_team(what: &'static str) -> RpcError {
    RpcError::bad_request(what)
        .hint("set share.postgres.url and share.postgres.team in config.toml; see docs/team.md")
}

fn refusal(error: &ShareError) -> RpcError {
    let kind = match error {
        ShareError::Setting { .. } => ErrorKind::BadRequest,
        ShareError::Rights(_) | ShareError::Login(_) | ShareError::Exposed(_) => ErrorKind::ReadOnly,
        ShareError::Unreachable(_) | ShareError::Late(_) => ErrorKind::Warming,
        _ => ErrorKind::Degraded,
    };
    RpcError::new(kind, error.to_string()).hint(error.hint())
}
