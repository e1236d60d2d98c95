//! Problems of a service that `doctor` reports.

use std::path::Path;

use hippod_tests::Daemon;
use serde_json::Value;

use super::service_files::Bed;

#[test]
fn doctor_reports_problems_of_the_service() {
    let bed = Bed::new(true);
    let home = bed.scratch.home().display().to_string();
    let set = [("HIPPOD_HOME", home.as_str())];
    let doctor = || {
        let output = bed.run(&["doctor", "--json", "--no-start"], &set);
        let answer: Value = serde_json::from_slice(&output.stdout).unwrap();
        let problems = answer["problems"].as_array().unwrap().clone();
        let of_service = |problem: &Value| {
            let id = problem["id"].as_str()?;
            assert!(!problem["fix"].as_str()?.is_empty());
            id.starts_with("service").then(|| id.to_owned())
        };
        let ids: Vec<String> = problems.iter().filter_map(of_service).collect();
        let checks = answer["checks"].as_array().unwrap().clone();
        let check = checks.into_iter().find(|check| check["id"] == "service");
        (ids, check)
    };
    let running = Daemon::start(Path::new(&home), &[]);
    assert_eq!(doctor(), (vec![], None), "there is none");
    let pid = running.client().status().pid;
    let service = |text: String| std::fs::write(bed.scratch.beside("service"), text).unwrap();
    service(format!(
        "ActiveState=active\nMainPID={pid}\nUnitFileState=enabled\n"
    ));
    bed.run(&["service", "install"], &set);
    let (ids, check) = doctor();
    assert_eq!((ids, check.unwrap()["ok"].as_bool()), (vec![], Some(true)));

    service("ActiveState=inactive\nMainPID=0\nUnitFileState=disabled\n".to_owned());
    assert_eq!(doctor().0, ["service-off", "service-bypassed"]);
    service("ActiveState=failed\nMainPID=0\nUnitFileState=enabled\n".to_owned());
    assert_eq!(doctor().0, ["service-failed", "service-bypassed"]);
    service(format!(
        "ActiveState=active\nMainPID={pid}\nUnitFileState=enabled\n"
    ));

    let edited = bed.text("hippod.service") + "\n[Service]\n";
    std::fs::write(bed.unit("hippod.service"), edited).unwrap();
    assert_eq!(doctor().0, ["service-unit"]);
    std::fs::remove_file(bed.unit("hippod.service")).unwrap();
    assert_eq!(doctor().0, ["service-unit"]);

    // The installed service is for another socket, so this daemon ignores it.
    let other = bed.scratch.beside("other").display().to_string();
    bed.run(&["service", "install"], &[("HIPPOD_HOME", &other)]);
    assert_eq!(doctor(), (vec![], None));
}
