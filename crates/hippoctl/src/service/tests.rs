//! Tests of the texts of service files, and detection of edits.

use std::collections::BTreeMap;

use super::*;

fn facts(
    manager: Manager,
    program: &str,
    paths: &Paths,
    set: &[(&str, &str)],
) -> Result<UnitValues, Failure> {
    let set: BTreeMap<&str, &str> = set.iter().copied().collect();
    UnitValues::new(manager, program.into(), paths, &|name| {
        set.get(name).map(OsString::from)
    })
}

fn usual() -> UnitValues {
    let mut paths = Paths::below(Path::new("/home/u/state"));
    paths.socket = "/run/user/7/hippod/hippod.sock".into();
    facts(
        Manager::Systemd,
        "/home/u/bin/hippod",
        &paths,
        &[("XDG_RUNTIME_DIR", "/run/user/7")],
    )
    .unwrap()
}

fn text(manager: Manager, facts: &UnitValues, at: usize) -> String {
    units(manager, Path::new("/f"), facts).unwrap()[at].text.clone()
}

#[test]
fn unit_files_match_the_project_files_except_for_paths() {
    let facts = usual();
    let socket = text(Manager::Systemd, &facts, 0);
    assert!(socket.starts_with(include_str!("../../../../systemd/hippod.socket")));
    let service = text(Manager::Systemd, &facts, 1);
    let project = include_str!("../../../../systemd/hippod.service");
    let lines = project.replace("%h/.cargo/bin/hippod", "\"/home/u/bin/hippod\"");
    assert!(service.starts_with(&lines) && lines != project);
}

#[test]
fn a_service_without_a_sandbox_lacks_only_its_lines() {
    let unit = units(Manager::Systemd, Path::new("/f"), &usual())
        .unwrap()
        .remove(1);
    let (with, without) = (unit.text, unit.unconfined);
    let gone: Vec<&str> = with
        .lines()
        .filter(|line| !without.lines().any(|other| other == *line))
        .filter(|line| !line.starts_with('#'))
        .collect();
    assert!(
        gone.contains(&"PrivateUsers=yes") && gone.contains(&"CapabilityBoundingSet="),
        "{gone:?}"
    );
    assert!(without.contains("NoNewPrivileges=yes") && without.contains("\n[Install]\nWantedBy="));
}

#[test]
fn configured_paths_are_written_into_the_unit_files() {
    let home = Path::new("/data/50% & more/h");
    let set = [
        ("HIPPOD_HOME", "/data/50% & more/h"),
        ("XDG_RUNTIME_DIR", "/run/user/7"),
    ];
    let program = "/opt/my tools/hippod";
    let facts = facts(Manager::Systemd, program, &Paths::below(home), &set).unwrap();
    let service = text(Manager::Systemd, &facts, 1);
    assert!(service.contains(
        "ExecStart=\"/opt/my tools/hippod\" run\nEnvironment=\"HIPPOD_HOME=/data/50%% & more/h\"\n"
    ));
    assert!(service.contains("HIPPOD_SOCKET=/data/50%% & more/h/hippod.sock"));
    let socket = text(Manager::Systemd, &facts, 0);
    assert!(socket.contains("ListenStream=/data/50%% & more/h/hippod.sock\n"));

    let agent = text(Manager::Launchd, &facts, 0);
    let read = plist::Value::from_reader(std::io::Cursor::new(&agent)).unwrap();
    let keys = read.as_dictionary().unwrap();
    let string = |key: &str| keys.get(key).and_then(plist::Value::as_string);
    assert_eq!(string("Label"), Some("io.github.hippod"));
    assert_eq!(
        string("StandardErrorPath"),
        Some("/data/50% & more/h/state/hippod.log")
    );
    let arguments = keys["ProgramArguments"].as_array().unwrap();
    let arguments: Vec<_> = arguments.iter().filter_map(plist::Value::as_string).collect();
    let log = "/data/50% & more/h/state/hippod.log";
    // hippod limits the size of its own log file. A file that launchd writes would grow without limit.
    assert_eq!(arguments, ["/opt/my tools/hippod", "run", "--log-file", log]);
    let environment = keys["EnvironmentVariables"].as_dictionary().unwrap();
    assert_eq!(environment["HIPPOD_HOME"].as_string(), home.to_str());
}

#[test]
fn the_launchd_agent_is_a_valid_property_list() {
    let agent = text(Manager::Launchd, &usual(), 0);
    let read = plist::Value::from_reader(std::io::Cursor::new(&agent)).unwrap();
    let keys = read.as_dictionary().unwrap();
    assert_eq!(keys["RunAtLoad"].as_boolean(), Some(true));
    let restart = keys["KeepAlive"].as_dictionary().unwrap();
    assert_eq!(
        restart["SuccessfulExit"].as_boolean(),
        Some(false),
        "launchd restarts only a failed daemon"
    );
    assert_eq!(keys["Umask"].as_unsigned_integer(), Some(0o077));
    let limits = keys["HardResourceLimits"].as_dictionary().unwrap();
    assert_eq!(limits["Core"].as_unsigned_integer(), Some(0));
    let known = [
        "Label",
        "ProgramArguments",
        "RunAtLoad",
        "KeepAlive",
        "ThrottleInterval",
        "ExitTimeOut",
        "StandardErrorPath",
        "Umask",
        "HardResourceLimits",
        "ProcessType",
        "LowPriorityIO",
    ];
    let unknown: Vec<_> = keys.keys().filter(|key| !known.contains(&key.as_str())).collect();
    assert!(unknown.is_empty(), "{unknown:?}");
}

#[test]
fn a_path_that_a_unit_cannot_name_is_refused() {
    let (below, hippod) = (|home: &str| Paths::below(Path::new(home)), "/bin/hippod");
    for (odd, by_launchd) in [
        ("/a/\"b\"/hippod", false),
        ("/a/it's/hippod", false),
        ("/a\\b", false),
        ("/a\nExecStart=/bin/sh/hippod", true),
    ] {
        let failure = facts(Manager::Systemd, odd, &below("/h"), &[]).unwrap_err();
        assert_eq!(failure.exit, Exit::Usage, "{odd}");
        let refused = facts(Manager::Launchd, odd, &below("/h"), &[]).is_err();
        assert_eq!(refused, by_launchd, "{odd}");
    }
    let mut paths = below("/h");
    assert!(facts(Manager::Systemd, hippod, &paths, &[("HIPPOD_CACHE", "/c\td")]).is_err());
    for odd in ["/h/s\\", "/h/s "] {
        paths.socket = odd.into();
        assert!(facts(Manager::Systemd, hippod, &paths, &[]).is_err(), "{odd}");
    }
}

#[test]
fn special_characters_of_a_path_survive_a_round_trip() {
    let home = "/d/a \"b\" 'c' \\d $HOME ${X} 50% <e> & f";
    let set = [("HIPPOD_HOME", home), ("XDG_RUNTIME_DIR", "/run/user/7")];
    let program = "/opt/$my <tools> 5%/hippod";
    let systemd = facts(Manager::Systemd, program, &Paths::below(Path::new(home)), &set).unwrap();
    let service = text(Manager::Systemd, &systemd, 1);
    // In the value of a variable and in the path of a program, a dollar sign has no special meaning.
    let written = r#"/d/a \"b\" 'c' \\d $HOME ${X} 50%% <e> & f"#;
    let line =
        format!("ExecStart=\"/opt/$my <tools> 5%%/hippod\" run\nEnvironment=\"HIPPOD_HOME={written}\"\n");
    assert!(service.contains(&line), "{service}");
    // In the value of `ListenStream=`, only the percent sign has a special meaning.
    let line = format!("ListenStream={}/hippod.sock\n", home.replace('%', "%%"));
    assert!(text(Manager::Systemd, &systemd, 0).contains(&line));

    let program = "/opt/\"my\" <tools> & it's/hippod";
    let launchd = facts(Manager::Launchd, program, &Paths::below(Path::new(home)), &set).unwrap();
    let agent = text(Manager::Launchd, &launchd, 0);
    let read = plist::Value::from_reader(std::io::Cursor::new(&agent)).unwrap();
    let keys = read.as_dictionary().unwrap();
    assert_eq!(
        keys["ProgramArguments"].as_array().unwrap()[0].as_string(),
        Some(program)
    );
    let environment = keys["EnvironmentVariables"].as_dictionary().unwrap();
    assert_eq!(environment["HIPPOD_HOME"].as_string(), Some(home));
}

#[test]
fn installed_files_are_recognised_unless_edited() {
    let folder = tempfile::tempdir().unwrap();
    for manager in [Manager::Systemd, Manager::Launchd] {
        let last = |facts: &UnitValues| units(manager, folder.path(), facts).unwrap().pop().unwrap();
        let file = last(&usual());
        assert_eq!(file.state, UnitFileState::Absent);
        let other = last(&UnitValues {
            program: "/other/hippod".into(),
            ..usual()
        });
        let state = |text: &str| {
            std::fs::write(&file.path, text).unwrap();
            last(&usual()).state
        };
        for current in [&file.text, &file.unconfined] {
            assert_eq!(state(current), UnitFileState::Current);
        }
        let version = env!("CARGO_PKG_VERSION").to_owned();
        assert_eq!(state(&other.text), UnitFileState::Outdated { version });
        for changed in [
            other.text.replace("/other", "/another"),
            file.text.clone() + "\n[Service]\n",
            file.text.lines().next().unwrap().to_owned(),
            String::new(),
        ] {
            assert_eq!(state(&changed), UnitFileState::Changed, "{changed}");
        }
    }
}
