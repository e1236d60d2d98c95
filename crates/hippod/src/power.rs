//! Detection of battery power and load, for postponing background work.

use std::fs;
use std::path::Path;

/// Directory with information on power supplies (Linux).
const SUPPLIES: &str = "/sys/class/power_supply";
/// File with the number of runnable tasks (Linux).
const LOAD: &str = "/proc/loadavg";
/// Number of runnable tasks per processor above which the machine is busy.
const BUSY: f64 = 2.0;

/// Returns the reason why background work has to be postponed, as far as the operating system reports it. `own` is the
/// number of hippod's own running threads.
#[expect(clippy::disallowed_methods, reason = "a system file")]
pub fn reason_to_wait(own: usize) -> Option<&'static str> {
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    if on_battery(Path::new(SUPPLIES)) {
        return Some("the machine runs on battery");
    }
    let load = fs::read_to_string(LOAD).ok()?;
    is_busy(&load, own, cores).then_some("the machine is busy")
}

/// Returns whether a battery is discharging.
#[expect(clippy::disallowed_methods, reason = "a system file")]
fn on_battery(supplies: &Path) -> bool {
    let Ok(entries) = fs::read_dir(supplies) else {
        return false;
    };
    let says = |folder: &Path, name: &str, word: &str| {
        fs::read_to_string(folder.join(name)).is_ok_and(|text| text.trim() == word)
    };
    entries.flatten().map(|entry| entry.path()).any(|supply| {
        // Batteries of mice and headsets report the scope "Device".
        says(&supply, "type", "Battery")
            && says(&supply, "status", "Discharging")
            && !says(&supply, "scope", "Device")
    })
}

/// Returns whether the machine is busy, by the load average of the last minute.
fn is_busy(loadavg: &str, own: usize, cores: usize) -> bool {
    let load = loadavg
        .split_whitespace()
        .next()
        .and_then(|load| load.parse::<f64>().ok());
    load.is_some_and(|load| load - own as f64 > BUSY * cores as f64)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn supply(folder: &Path, name: &str, files: &[(&str, &str)]) {
        let folder = folder.join(name);
        fs::create_dir_all(&folder).unwrap();
        for (file, text) in files {
            fs::write(folder.join(file), format!("{text}\n")).unwrap();
        }
    }

    #[test]
    fn only_a_discharging_system_battery_counts() {
        let folder = tempfile::tempdir().unwrap();
        let at = folder.path();
        assert!(!on_battery(&at.join("not there")) && !on_battery(at));
        supply(at, "AC", &[("type", "Mains"), ("online", "0")]);
        supply(
            at,
            "mouse",
            &[
                ("type", "Battery"),
                ("status", "Discharging"),
                ("scope", "Device"),
            ],
        );
        supply(at, "BAT0", &[("type", "Battery"), ("status", "Charging")]);
        assert!(!on_battery(at));
        supply(at, "BAT1", &[("type", "Battery"), ("status", "Discharging")]);
        assert!(on_battery(at));
    }

    #[test]
    fn only_load_by_other_processes_makes_the_machine_busy() {
        let table = [
            ("0.10 0.2 0.3 1/99 1", 0, false),
            ("4.50 0.2 0.3 1/99 1", 0, true),
            ("4.50 0.2 0.3 1/99 1", 2, false),
            ("junk", 0, false),
            ("", 0, false),
        ];
        for (text, own, busy) in table {
            assert_eq!(is_busy(text, own, 2), busy, "{text}");
        }
    }
}
