//! Units from a package: enabling, status and disabling.

use std::path::Path;

use hippod_tests::program;
use serde_json::Value;

use super::service_files::{Bed, names};

/// Installs the units of a package, and returns the folder that systemd searches.
fn package(bed: &Bed, program: &Path) -> String {
    let folder = bed.scratch.beside("share/systemd/user");
    std::fs::create_dir_all(&folder).unwrap();
    let service = format!("[Service]\nExecStart={} run\n", program.display());
    std::fs::write(folder.join("hippod.service"), service).unwrap();
    let socket = "[Socket]\nListenStream=%t/hippod/hippod.sock\n";
    std::fs::write(folder.join("hippod.socket"), socket).unwrap();
    bed.scratch.beside("share").display().to_string()
}

fn say(bed: &Bed, text: &str) {
    std::fs::write(bed.scratch.beside("service"), text).unwrap();
}

#[test]
fn packaged_units_are_enabled_and_disabled_without_writing_files() {
    let bed = Bed::new(true);
    let share = package(&bed, program());
    let told = |words: &[&str]| {
        let output = bed.run(words, &[("XDG_DATA_DIRS", &share)]);
        let said = String::from_utf8([output.stdout, output.stderr].concat()).unwrap();
        assert!(output.status.success(), "{words:?}: {said}");
        said
    };
    let unit = format!("{share}/systemd/user/hippod.service");
    let status = told(&["service", "status"]);
    let line = format!("in use: {unit}, from a package; enable it with: hippoctl service install\n");
    assert!(
        status.contains(&line) && status.contains("no problems"),
        "{status}"
    );

    let installed = told(&["service", "install"]);
    assert!(
        installed.contains(&format!("using the units of a package: {unit}\n")),
        "{installed}"
    );
    let enable = "enable --now hippod.socket hippod.service";
    assert_eq!(bed.calls(), ["daemon-reload", enable]);
    assert_eq!(names(&bed.unit("")), Vec::<String>::new());

    say(
        &bed,
        &format!("ActiveState=active\nMainPID=7\nUnitFileState=enabled\nFragmentPath={unit}\n"),
    );
    let status = told(&["service", "status"]);
    let line = format!("in use: {unit}, from a package\nenabled, active\n");
    assert!(status.contains(&line), "{status}");
    let json: Value = serde_json::from_str(&told(&["service", "status", "--json"])).unwrap();
    assert_eq!(
        (&json["unit"], &json["package"]),
        (&Value::from(unit.as_str()), &Value::from(unit.as_str()))
    );

    let removed = told(&["service", "uninstall"]);
    assert!(removed.contains("the units of the package stay"), "{removed}");
    assert_eq!(
        bed.calls(),
        ["disable --now hippod.socket hippod.service", "daemon-reload"]
    );
    assert!(Path::new(&unit).exists());
    say(&bed, "ActiveState=inactive\nMainPID=0\nUnitFileState=disabled\n");
    assert!(told(&["service", "uninstall"]).contains("not installed"));
    assert!(bed.calls().is_empty());
}

#[test]
fn a_service_with_custom_paths_overrides_the_packaged_units() {
    let bed = Bed::new(true);
    let share = package(&bed, program());
    let unit = format!("{share}/systemd/user/hippod.service");
    let home = bed.scratch.home().display().to_string();
    let run = |words: &[&str]| {
        let output = bed.run(words, &[("XDG_DATA_DIRS", &share), ("HIPPOD_HOME", &home)]);
        String::from_utf8([output.stdout, output.stderr].concat()).unwrap()
    };
    let told = run(&["service", "install"]);
    assert!(
        told.contains(&format!("replace the files of a package ({unit})")),
        "{told}"
    );
    let own = bed.unit("hippod.service").display().to_string();
    let status = run(&["service", "status"]);
    let line = format!("in use: {own}, instead of the unit of a package ({unit})\n");
    assert!(status.contains(&line), "{status}");
    run(&["service", "uninstall"]);
    assert_eq!(names(&bed.unit("")), Vec::<String>::new());
    assert!(Path::new(&unit).exists());
}

#[test]
fn doctor_checks_packaged_units_once_they_are_enabled() {
    let bed = Bed::new(true);
    let share = package(&bed, program());
    let set = [("XDG_DATA_DIRS", share.as_str()), ("HIPPOD_EMBED_MODEL", "hash")];
    let doctor = || {
        let output = bed.run(&["doctor", "--json"], &set);
        let answer: Value = serde_json::from_slice(&output.stdout).unwrap();
        let ids = answer["problems"].as_array().unwrap().iter();
        let ids = ids
            .filter_map(|problem| problem["id"].as_str())
            .map(str::to_owned);
        let ids: Vec<String> = ids.filter(|id| id.starts_with("service")).collect();
        let mut checks = answer["checks"].as_array().unwrap().iter();
        let check = checks.find(|check| check["id"] == "service").unwrap();
        (ids, check["detail"].as_str().unwrap().to_owned())
    };
    let (ids, detail) = doctor();
    assert!(
        ids.is_empty() && detail.contains("but they are not enabled"),
        "{ids:?} {detail}"
    );
    say(&bed, "ActiveState=failed\nMainPID=0\nUnitFileState=enabled\n");
    let (ids, detail) = doctor();
    assert_eq!(ids, ["service-failed", "service-bypassed"]);
    assert_eq!(detail, "units from a package, failed");
    package(&bed, Path::new("/gone/hippod"));
    assert_eq!(
        doctor().0,
        ["service-program", "service-failed", "service-bypassed"]
    );
    assert!(bed.run(&["service", "stop"], &set).status.success());
}
