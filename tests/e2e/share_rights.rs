//! Rights, signatures, secrets and passwords when sharing with a team.

use std::os::unix::fs::PermissionsExt;
use std::process::Command;

use hippo_proto::{RecallRequest, RecallResponse};
use hippod_tests::{Daemon, Postgres, client_program, postgres};

use crate::share_team::{Member, call, configure, team};

#[test]
fn a_role_without_rights_and_another_team_read_nothing() {
    let Some(server) = team() else { return };
    let mut ada = Member::new(&server, "ada", "core");
    ada.scratch
        .write("MEMORY.md", "# Memory\n\n- The relay of the dam has port 8443.\n");
    ada.index();
    ada.publish(false);
    let tables = ["teams", "devices", "documents", "passages"];
    let search = "SELECT count(*) FROM hippod.search('core', ARRAY['relay'], NULL, NULL, 0, 10)";
    for login in ["rita", "ben"] {
        assert_eq!(server.query(login, search).unwrap(), "1");
    }
    for table in tables {
        for sql in [
            format!("SELECT * FROM hippod.{table}"),
            format!("DELETE FROM hippod.{table}"),
        ] {
            let refused = server.query("mallory", &sql).unwrap_err();
            assert!(refused.contains("permission denied"), "{refused}");
        }
        if table != "teams" {
            assert_eq!(
                server
                    .query("eve", &format!("SELECT * FROM hippod.{table}"))
                    .unwrap(),
                "",
                "{table}"
            );
        }
    }
    assert_eq!(
        server.query("eve", "SELECT name FROM hippod.teams").unwrap(),
        "other"
    );
    for login in ["mallory", "eve"] {
        let refused = server.query(login, search).unwrap_err();
        assert!(refused.contains("permission denied"), "{refused}");
        let refused = server
            .query(login, "SELECT * FROM hippod.passages_core")
            .unwrap_err();
        assert!(refused.contains("permission denied"), "{refused}");
        let mut member = Member::new(&server, login, "core");
        member
            .scratch
            .write("MEMORY.md", "# Memory\n\n- The pump is blue.\n");
        member.index();
        assert!(
            member
                .search("relay of the dam port")
                .results
                .iter()
                .all(|hit| hit.origin.is_none())
        );
        assert!(member.try_publish(false).is_err());
        assert!(!member.status().may_publish);
    }
    // A reader cannot write, and a writer cannot change or imitate another writer.
    let refused = server.query("rita", "DELETE FROM hippod.passages").unwrap_err();
    assert!(refused.contains("permission denied"), "{refused}");
    server
        .query(
            "ben",
            "UPDATE hippod.passages SET text = 'x'; DELETE FROM hippod.documents",
        )
        .unwrap();
    let insert =
        "INSERT INTO hippod.devices (team, key, name, author) VALUES ('core', sha256('x'), 'x', 'ada')";
    let refused = server.query("ben", insert).unwrap_err();
    assert!(refused.contains("row-level security"), "{refused}");
    let insert = "INSERT INTO hippod.devices (team, key, name) VALUES ('other', sha256('x'), 'x')";
    assert!(
        server
            .query("ben", insert)
            .unwrap_err()
            .contains("row-level security")
    );
    assert!(
        server
            .query("ben", "SELECT text FROM hippod.passages")
            .unwrap()
            .contains("port 8443")
    );
    let mut rita = Member::new(&server, "rita", "core");
    rita.scratch
        .write("MEMORY.md", "# Memory\n\n- The pump is blue.\n");
    rita.index();
    assert!(rita.search("relay of the dam port").results[0].origin.is_some());
    assert!(rita.try_publish(false).is_err());
}

#[test]
fn a_text_that_was_changed_on_the_server_is_shown_as_not_verified() {
    let Some(server) = team() else { return };
    let mut ada = Member::new(&server, "ada", "core");
    ada.scratch
        .write("MEMORY.md", "# Memory\n\n- The relay of the dam has port 8443.\n");
    ada.index();
    ada.publish(false);
    let mut ben = Member::new(&server, "ben", "core");
    ben.scratch
        .write("MEMORY.md", "# Memory\n\n- The pump is blue.\n");
    ben.index();
    let verified = |member: &mut Member| {
        let found = member.search("relay of the dam port");
        found.results[0].origin.clone().unwrap().verified
    };
    assert!(verified(&mut ben));
    let change = "UPDATE hippod.passages SET text = replace(text, '8443', '6666')";
    server.query("postgres", change).unwrap();
    assert!(!verified(&mut ben));
    let output = Command::new(client_program())
        .args(["search", "relay of the dam port", "--workspace"])
        .arg(ben.scratch.workspace())
        .env("HIPPOD_HOME", ben.scratch.home())
        .output()
        .unwrap();
    let shown = String::from_utf8_lossy(&output.stdout);
    assert!(
        shown.contains("6666") && shown.contains("NOT VERIFIED"),
        "{shown}"
    );
    let request = RecallRequest {
        workspace: ben.scratch.workspace().display().to_string(),
        prompt: "relay of the dam port".to_owned(),
        ..RecallRequest::default()
    };
    let recalled: RecallResponse = call(&mut ben.client, request).unwrap();
    assert!(!recalled.text.contains("6666"), "{recalled:?}");
}

#[test]
fn secrets_stay_here_and_a_dry_run_shows_exactly_what_leaves() {
    let Some(server) = team() else { return };
    let mut ada = Member::new(&server, "ada", "core");
    let key = "ghp_16C7e42F292c6912E7710c838347Ae178B4a";
    ada.scratch.write(
        "memory/2026-03-02.md",
        format!("# 2026-03-02\n\n## Deploy\n\n- Port 8443.\n- The token is {key}.\n\n## Token {key}\n\n- It's `a\\b` and \"c\".\n"),
    );
    ada.scratch
        .write("agents/scribe/memory/2026-03-02.md", "# Own\n\n- private text\n");
    ada.index();
    // The daemon publishes by itself as well, so the dry run of a fresh member of the same files is compared.
    let mut ben = Member::with(&server, "ben", "core", "publish = false");
    let copied = Command::new("cp")
        .arg("-R")
        .arg(ada.scratch.workspace().join("memory"))
        .arg(ben.scratch.workspace())
        .status();
    assert!(copied.unwrap().success());
    ben.index();
    let shown = ben.publish(true);
    ada.publish(false);
    let shown: Vec<String> = (shown.outgoing.iter())
        .flat_map(|document| document.passages.iter().map(move |passage| (document, passage)))
        .map(|(document, passage)| {
            let heading = passage.heading.join("/");
            let has_vector = if passage.model.is_some() { "t" } else { "f" };
            format!(
                "{}|{}|{heading}|{}|{has_vector}",
                document.path, passage.line, passage.text
            )
        })
        .collect();
    let sql = "SELECT d.path, p.first_line, array_to_string(p.heading, '/'), p.text, p.vector IS NOT NULL
               FROM hippod.passages AS p JOIN hippod.documents AS d ON d.id = p.document ORDER BY 1, 2";
    assert_eq!(server.query("postgres", sql).unwrap(), shown.join("\n"));
    let everything =
        "SELECT d::text FROM hippod.documents AS d UNION ALL SELECT p::text FROM hippod.passages AS p";
    let everything = server.query("postgres", everything).unwrap();
    assert!(
        everything.contains("Port 8443") && everything.contains("[redacted]"),
        "{everything}"
    );
    for secret in [
        &key[4..],
        "private text",
        "home",
        &ada.scratch.workspace().display().to_string(),
    ] {
        assert!(!everything.contains(secret), "{secret}: {everything}");
    }
    // The same holds for the words of a question.
    ben.search(&format!("what is {key}"));
    assert!(!server.log().contains(&key[4..]));
}

#[test]
fn a_password_appears_in_no_log_argument_or_error() {
    let Some(server) = team() else { return };
    let mut member = Member::new(&server, "ada", "core");
    drop(member.client);
    member.daemon.terminate();
    let home = member.scratch.home();
    let daemon = Daemon::start(&home, &[("HIPPOD_LOG_LEVEL", "trace")]);
    member.client = daemon.client();
    member
        .scratch
        .write("MEMORY.md", "# Memory\n\n- The pump is blue.\n");
    member.client.index(&member.scratch.workspace());
    member.client.search(&member.scratch.workspace(), "pump");
    let password_file = home.join("password");
    let run = |words: &[&str]| {
        let output = Command::new(client_program())
            .args(words)
            .arg("--workspace")
            .arg(member.scratch.workspace())
            .env("HIPPOD_HOME", &home)
            .output()
            .unwrap();
        format!("{output:?}")
    };
    let init = [
        "share",
        "init-db",
        "--password-file",
        password_file.to_str().unwrap(),
    ];
    let mut seen = vec![run(&["share", "status"]), run(&["share", "publish"]), run(&init)];
    assert!(seen[0].contains("may publish"), "{seen:#?}");
    // A wrong password, and a file that others can read.
    std::fs::write(&password_file, format!("wrong{}", postgres::PASSWORD)).unwrap();
    server
        .query(
            "postgres",
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = 'ada'",
        )
        .unwrap();
    seen.push(run(&["share", "status"]));
    std::fs::set_permissions(&password_file, PermissionsExt::from_mode(0o644)).unwrap();
    seen.push(run(&["share", "status"]));
    assert!(
        seen[3].contains("refused the login") && seen[4].contains("chmod 600"),
        "{seen:#?}"
    );
    let arguments = std::fs::read(format!("/proc/{}/cmdline", daemon.pid())).unwrap_or_default();
    seen.push(String::from_utf8_lossy(&arguments).into_owned());
    seen.push(daemon.log());
    drop(member.client);
    daemon.terminate();
    let url = format!(
        "postgres://ada:{}@127.0.0.1:{}/hippod",
        Postgres::password("ada"),
        server.port()
    );
    configure(&member.scratch, &url, "ada", "core", "");
    let refused = member.scratch.refused_daemon();
    let refused = String::from_utf8_lossy(&refused.stderr).into_owned();
    assert!(
        refused.contains("share.postgres.url") && refused.contains("password_file"),
        "{refused}"
    );
    seen.push(refused);
    for text in seen {
        assert!(!text.contains(postgres::PASSWORD), "{text}");
    }
}
