//! Sharing with a team through a real PostgreSQL server.

use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::time::Instant;

use hippo_proto::{
    ClientError, Method, RpcError, SearchRequest, SearchResponse, ShareInitRequest, SharePublishRequest,
    SharePublishResponse, ShareStatusRequest, ShareStatusResponse,
};
use hippod_tests::{Caller, Daemon, PATIENCE, Postgres, Scratch};

/// Name of the workspace folder of every [`Member`].
const WORKSPACE: &str = "workspace";

/// A server with the team `core`, of which ada and ben are writers and rita is a reader, with the team `other` of eve, and
/// with mallory, who has no right.
pub fn team() -> Option<Postgres> {
    let server = Postgres::start()?;
    server.add_logins(&["ada", "ben", "rita", "eve", "mallory"]);
    let admin = Member::new(&server, "postgres", "core");
    let mut client = admin.daemon.client();
    for (team, writers, readers) in [
        ("core", &["ada", "ben"][..], &["rita"][..]),
        ("other", &["eve"], &[]),
    ] {
        let request = ShareInitRequest {
            team: Some(team.to_owned()),
            writers: writers.iter().map(ToString::to_string).collect(),
            readers: readers.iter().map(ToString::to_string).collect(),
            ..ShareInitRequest::default()
        };
        let done = call(&mut client, request).unwrap();
        assert!(done.team_created && done.to > 0);
    }
    Some(server)
}

/// A daemon that shares its only workspace.
pub struct Member {
    pub scratch: Scratch,
    pub daemon: Daemon,
    pub client: Caller,
}

impl Member {
    /// Starts a daemon whose configuration has a login for a team.
    pub fn new(server: &Postgres, login: &str, team: &str) -> Self {
        Self::with(server, login, team, "")
    }

    pub fn with(server: &Postgres, login: &str, team: &str, more: &str) -> Self {
        let scratch = Scratch::new();
        configure(&scratch, &server.url(login), login, team, more);
        let daemon = scratch.daemon();
        let client = daemon.client();
        Self {
            scratch,
            daemon,
            client,
        }
    }

    /// Starts the daemon again after a kill.
    pub fn restart(self) -> Self {
        let Self {
            scratch,
            daemon,
            client,
        } = self;
        drop(client);
        daemon.kill();
        let daemon = scratch.daemon();
        let client = daemon.client();
        Self {
            scratch,
            daemon,
            client,
        }
    }

    pub fn index(&mut self) {
        self.client.index(&self.scratch.workspace());
    }

    pub fn publish(&mut self, dry_run: bool) -> SharePublishResponse {
        self.try_publish(dry_run).unwrap()
    }

    pub fn try_publish(&mut self, dry_run: bool) -> Result<SharePublishResponse, RpcError> {
        let workspace = self.scratch.workspace().display().to_string();
        call(&mut self.client, SharePublishRequest { workspace, dry_run })
    }

    pub fn status(&mut self) -> ShareStatusResponse {
        call(&mut self.client, ShareStatusRequest {}).unwrap()
    }

    pub fn search(&mut self, query: &str) -> SearchResponse {
        self.client.warm(&SearchRequest::new(
            self.scratch.workspace().display().to_string(),
            query,
        ))
    }

    /// Searches until `wanted` accepts the answer.
    pub fn search_until(&mut self, query: &str, wanted: impl Fn(&SearchResponse) -> bool) -> SearchResponse {
        let deadline = Instant::now() + PATIENCE;
        loop {
            let found = self.search(query);
            if wanted(&found) {
                return found;
            }
            assert!(Instant::now() < deadline, "{found:#?}");
        }
    }
}

/// Writes the configuration and the password file of a member.
pub fn configure(scratch: &Scratch, url: &str, login: &str, team: &str, more: &str) -> PathBuf {
    let home = scratch.home();
    std::fs::create_dir_all(&home).unwrap();
    let password = home.join("password");
    std::fs::write(&password, Postgres::password(login) + "\n").unwrap();
    std::fs::set_permissions(&password, PermissionsExt::from_mode(0o600)).unwrap();
    let text = format!(
        "[share.postgres]\nurl = \"{url}\"\nteam = \"{team}\"\nworkspaces = [{:?}]\npassword_file = {password:?}\n\
         budget_ms = 5000\n{more}\n",
        scratch.workspace()
    );
    std::fs::write(home.join("config.toml"), text).unwrap();
    password
}

pub fn call<M: Method>(client: &mut Caller, request: M) -> Result<M::Answer, RpcError> {
    match client.raw().call(&request.into()) {
        Ok(answer) => Ok(answer),
        Err(ClientError::Refused(error)) => Err(error),
        Err(other) => panic!("{other}"),
    }
}

#[test]
fn text_of_one_member_is_found_by_another_with_its_origin() {
    let Some(server) = team() else { return };
    let mut ada = Member::new(&server, "ada", "core");
    let text = "# 2026-03-02\n\n## Deploy\n\n- The staging relay moved to port 8443.\n- Lunch was late.\n";
    ada.scratch.write("memory/2026-03-02.md", text);
    ada.scratch.write(
        "agents/scribe/memory/2026-03-02.md",
        "# Own\n\n- The private relay is at port 9.\n",
    );
    ada.index();
    ada.publish(false);
    let mut ben = Member::new(&server, "ben", "core");
    ben.scratch
        .write("MEMORY.md", "# Memory\n\n- The relay of hall 3 is blue.\n");
    ben.index();

    let found = ben.search("which port has the staging relay");
    let hit = &found.results[0];
    assert_eq!(hit.path, format!("@core/{WORKSPACE}/memory/2026-03-02.md"));
    assert_eq!(
        (hit.start_line, hit.text.as_str()),
        (5, "- The staging relay moved to port 8443.")
    );
    assert_eq!(hit.date.as_deref(), Some("2026-03-02"));
    let origin = hit.origin.clone().unwrap();
    assert_eq!(
        (
            origin.team.as_str(),
            origin.workspace.as_str(),
            origin.author.as_str()
        ),
        ("core", WORKSPACE, "ada")
    );
    assert!(origin.verified);
    assert!(found.results.iter().any(|hit| hit.origin.is_none()), "{found:#?}");
    assert!(found.results.iter().all(|hit| !hit.text.contains("private")));

    // A changed file replaces its text, and a removed file disappears, without a request.
    ada.scratch.write(
        "memory/2026-03-02.md",
        "# 2026-03-02\n\n## Deploy\n\n- The staging relay moved to port 9001.\n",
    );
    ben.search_until("which port has the staging relay", |found| {
        found.results[0].text.contains("9001") && found.results.iter().all(|hit| !hit.text.contains("8443"))
    });
    std::fs::remove_file(ada.scratch.workspace().join("memory/2026-03-02.md")).unwrap();
    ada.client.accept_deletions(&ada.scratch.workspace());
    ben.search_until("which port has the staging relay", |found| {
        found.results.iter().all(|hit| hit.origin.is_none())
    });
    let kept = server.sql(
        "postgres",
        "hippod",
        "SELECT path, removed FROM hippod.documents WHERE author = 'ada'",
    );
    assert_eq!(kept, "memory/2026-03-02.md|t");
}
