//! Special characters in the paths of a service, and location of its log.

use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::Command;

use hippod_tests::{client_program, program};

use super::service_files::Bed;

/// Script that imitates `journalctl` by printing its arguments.
const JOURNAL: &str = "#!/bin/sh\necho \"$@\"\n";

fn put_program(path: &Path, text: &str) {
    std::fs::write(path, text).unwrap();
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o755)).unwrap();
}

#[test]
fn paths_of_programs_and_homes_may_contain_any_character() {
    let bed = Bed::new(true);
    let bin = bed.scratch.beside("my $tools, 50% ${off}");
    std::fs::create_dir_all(&bin).unwrap();
    for binary in [program(), client_program()] {
        std::fs::copy(binary, bin.join(binary.file_name().unwrap())).unwrap();
    }
    let home = bed.scratch.beside("a \"b\" 'c' $d 5%u \\e").display().to_string();
    let workspace = bed.scratch.workspace().display().to_string();
    let set = [("HIPPOD_HOME", home.as_str()), ("HIPPOD_EMBED_MODEL", "hash")];
    let run = |words: &[&str]| {
        let output = bed.run_as(&bin.join("hippoctl"), words, &set);
        let said = String::from_utf8([output.stdout, output.stderr].concat()).unwrap();
        assert!(output.status.success(), "{words:?}: {said}");
        said
    };
    std::fs::create_dir_all(&workspace).unwrap();
    run(&["workspace", "add", &workspace]);
    run(&["--workspace", &workspace, "remember", "the gate opens at seven"]);
    let found = run(&["--workspace", &workspace, "search", "--mode", "lexical", "gate"]);
    assert!(found.contains("opens at seven"), "{found}");
    run(&["service", "stop"]);
    run(&["service", "install"]);
    for name in ["hippod.service", "hippod.socket"] {
        let verify = Command::new("systemd-analyze")
            .args(["verify", "--user", "--man=no", "--recursive-errors=no"])
            .arg(bed.unit(name))
            .env("XDG_RUNTIME_DIR", bed.scratch.beside("run"))
            .output();
        // If `systemd-analyze` is missing, another test reports this.
        let Ok(output) = verify else { continue };
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        let newer = ["RestartSteps", "RestartMaxDelaySec"];
        let mut other = said.lines().filter(|line| line.contains("hippod"));
        let other = other.find(|line| !newer.iter().any(|known| line.contains(known)));
        assert_eq!(other, None);
    }
}

#[test]
fn logs_are_read_from_the_journal_or_reported_as_missing() {
    let bed = Bed::new(true);
    put_program(&bed.scratch.beside("bin/journalctl"), JOURNAL);
    let home = bed.scratch.home();
    let set = [("HIPPOD_HOME", home.to_str().unwrap())];
    let logs = |words: &[&str]| {
        let output = bed.run(&[&["service", "logs"], words].concat(), &set);
        let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
        (output.status.code(), text(output.stdout), text(output.stderr))
    };
    let place = home.join("state/hippod.log");
    let (code, _, said) = logs(&[]);
    let none = format!("there is no log yet; its path will be {}", place.display());
    assert!(
        code == Some(4) && said.contains(&none) && said.contains("hint: "),
        "{said}"
    );

    let service = bed.scratch.beside("service");
    std::fs::write(
        service,
        "ActiveState=inactive\nMainPID=0\nUnitFileState=enabled\n",
    )
    .unwrap();
    let (code, told, said) = logs(&[]);
    assert!(code == Some(0) && said.contains("the journal"), "{said}");
    assert_eq!(told, "--user --no-pager -u hippod.service -n 50\n");
    assert_eq!(logs(&["-n", "7"]).1, "--user --no-pager -u hippod.service -n 7\n");

    std::fs::create_dir_all(place.parent().unwrap()).unwrap();
    std::fs::write(&place, "first\nsecond\nthird\n").unwrap();
    let (_, told, said) = logs(&["-n", "2"]);
    assert!(said.contains(place.to_str().unwrap()), "{said}");
    assert_eq!(told, "second\nthird\n");
}
