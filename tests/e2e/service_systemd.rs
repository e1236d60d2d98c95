//! The service of `hippoctl service install` under a real `systemd --user`.

use std::io::Write;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::Command;

use hippod_tests::{Scratch, client_program, program};

const SYSTEMD: [&str; 2] = ["/usr/lib/systemd/systemd", "/lib/systemd/systemd"];
const DAY: &str = include_str!("service_systemd.sh");

/// Reports on standard error that this machine cannot run a test.
pub fn cannot(what: &str) {
    let _ = writeln!(std::io::stderr(), "not tested here: {what}");
}

fn part<'a>(text: &'a str, name: &str) -> &'a str {
    let begin = format!("== {name}\n");
    let from = text
        .find(&begin)
        .unwrap_or_else(|| panic!("no part {name}: {text}"))
        + begin.len();
    let to = text[from..].find("== ").map_or(text.len(), |at| from + at);
    &text[from..to]
}

#[test]
fn the_service_works_under_a_real_systemd() {
    let Some(systemd) = SYSTEMD.iter().find(|path| Path::new(path).exists()) else {
        return cannot("there is no systemd");
    };
    if !rustix::process::geteuid().is_root() {
        return cannot("only root can start a systemd --user beside that of the session");
    }
    let scratch = Scratch::new();
    let folder = scratch.beside(".");
    let open =
        |path: &Path, mode| std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).unwrap();
    open(&folder, 0o755);
    for name in ["home/agent/memory", "home/.config/hippod", "run", "bin"] {
        std::fs::create_dir_all(scratch.beside(name)).unwrap();
    }
    open(&scratch.beside("run"), 0o700);
    std::fs::write(
        scratch.beside("home/.config/hippod/config.toml"),
        "[embed]\nmodel = \"hash\"\n",
    )
    .unwrap();
    for binary in [program(), client_program()] {
        std::fs::copy(binary, scratch.beside("bin").join(binary.file_name().unwrap())).unwrap();
    }
    let script = scratch.beside("day.sh");
    std::fs::write(&script, DAY).unwrap();
    let output = Command::new("unshare")
        .args(["--mount", "--cgroup", "--", "sh"])
        .arg(&script)
        .env_clear()
        .env("PATH", "/usr/sbin:/usr/bin:/sbin:/bin")
        .env("SCRATCH", scratch.beside("").components().as_path())
        .env("SYSTEMD", systemd)
        .output()
        .unwrap();
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let errors = String::from_utf8_lossy(&output.stderr).into_owned();
    if output.status.code() == Some(77) || errors.contains("unshare failed") {
        return cannot(&format!("no systemd --user can be started: {text}{errors}"));
    }
    assert!(output.status.success(), "{text}{errors}");

    let install = part(&text, "install");
    assert!(
        install.contains("run: systemctl --user enable --now hippod.socket hippod.service"),
        "{install}"
    );
    for line in ["Type=notify", "ActiveState=active", "NRestarts=0"] {
        assert!(install.lines().any(|known| known == line), "{line}: {install}");
    }
    let confined = part(&text, "confined");
    assert!(
        confined.contains("NoNewPrivs:\t1") && confined.contains("Seccomp:\t2"),
        "{confined}"
    );
    if !install.contains("note: ") {
        assert!(confined.contains("CapBnd:\t0000000000000000"), "{confined}");
        assert!(confined.contains("/usr ro,"), "{confined}");
    }
    assert!(
        part(&text, "use").contains("the harbour pump is blue"),
        "{text}{errors}"
    );
    let killed = part(&text, "killed");
    assert!(
        killed.contains("the harbour pump is blue") && killed.contains("NRestarts=1"),
        "{killed}{errors}"
    );
    let stopped = part(&text, "stopped");
    assert!(
        stopped.contains("hippod stopped") && stopped.lines().count() > 1,
        "{stopped}{errors}"
    );
    assert_eq!(part(&text, "again").matches("unchanged: ").count(), 2, "{text}");
    let told = part(&text, "told");
    assert!(
        told.contains("enabled, active") && told.contains("no problems"),
        "{told}{errors}"
    );
    assert!(told.contains("ok   service: installed, active"), "{told}");
    let gone = part(&text, "uninstall");
    assert_eq!(gone.matches("removed: ").count(), 2, "{gone}");
    assert!(
        !gone.contains("the socket is still there") && !gone.contains("hippod.service ->"),
        "{gone}"
    );
    assert!(errors.contains("hint: "), "no daemon answers any more: {errors}");
}

#[test]
fn the_unit_files_are_valid_for_systemd() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    let keys = |name: &str| {
        let text = std::fs::read_to_string(root.join("systemd").join(name)).unwrap();
        let lines = text
            .lines()
            .filter(|line| !line.starts_with('#') && !line.is_empty());
        let keys = lines.filter(|line| !line.starts_with('['));
        keys.map(|line| line.split_once('=').unwrap_or_else(|| panic!("{line}")))
            .map(|(key, value)| (key.to_owned(), value.to_owned()))
            .collect::<Vec<_>>()
    };
    let (service, socket) = (keys("hippod.service"), keys("hippod.socket"));
    let has = |keys: &[(String, String)], key: &str, value: &str| {
        assert!(keys.iter().any(|(k, v)| k == key && v == value), "{key}={value}");
    };
    has(&service, "Type", "notify");
    has(&service, "Restart", "on-failure");
    has(&service, "UMask", "0077");
    has(&service, "LimitCORE", "0");
    has(&service, "Requires", "hippod.socket");
    has(&socket, "SocketMode", "0600");
    has(&socket, "DirectoryMode", "0700");
    has(&socket, "ListenStream", "%t/hippod/hippod.sock");
    let verify = |name: &str| {
        Command::new("systemd-analyze")
            .args(["verify", "--user", "--man=no", "--recursive-errors=no"])
            .arg(root.join("systemd").join(name))
            .env("XDG_RUNTIME_DIR", std::env::temp_dir())
            .output()
    };
    for name in ["hippod.service", "hippod.socket"] {
        let Ok(output) = verify(name) else {
            return cannot("there is no systemd-analyze");
        };
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        // Expected warnings: the path of a program that a user installed, and settings that older versions of systemd
        // do not have.
        let known = [
            "/.cargo/bin/hippod is not executable",
            "RestartSteps",
            "RestartMaxDelaySec",
        ];
        let ours = said.lines().filter(|line| line.contains("hippod"));
        let other: Vec<&str> = ours
            .filter(|line| !known.iter().any(|known| line.contains(known)))
            .collect();
        assert!(other.is_empty(), "{other:?}");
    }
}

#[test]
fn the_documented_security_score_matches_the_unit() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    let output = Command::new("systemd-analyze")
        .args(["security", "--no-pager", "--offline=true"])
        .arg(root.join("systemd/hippod.service"))
        .output();
    let Ok(output) = output else {
        return cannot("there is no systemd-analyze");
    };
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let Some(line) = text.lines().find(|line| line.contains("Overall exposure level")) else {
        return cannot("this systemd-analyze does not look at files");
    };
    let score = line
        .split_whitespace()
        .find(|word| word.parse::<f32>().is_ok())
        .unwrap();
    let docs = std::fs::read_to_string(root.join("docs/services.md")).unwrap();
    let docs = docs.split_whitespace().collect::<Vec<_>>().join(" ");
    let word = |after: &str| {
        docs.split_once(after)
            .unwrap()
            .1
            .split([' ', ','])
            .next()
            .unwrap()
    };
    let (stated, by) = (word("exposure level "), word("With systemd "));
    let version = Command::new("systemd-analyze").arg("--version").output().unwrap();
    let version = String::from_utf8_lossy(&version.stdout).into_owned();
    if version.split_whitespace().nth(1) != Some(by) {
        return cannot(&format!(
            "the score is stated for systemd {by}, and each version looks at other things"
        ));
    }
    assert_eq!(score, stated, "{line}");
}
