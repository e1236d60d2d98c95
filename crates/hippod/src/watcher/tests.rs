//! Tests of the watcher on a real file system.

use super::*;
use std::fs;
use std::sync::mpsc::{Receiver, channel};

/// Time after which a test fails. It is far above the expected duration of any wait.
const PATIENCE: Duration = Duration::from_secs(20);

struct Bed {
    folder: tempfile::TempDir,
    root: PathBuf,
    watcher: Watcher,
    events: Receiver<WatchEvent>,
}

fn bed(poll: PollMode) -> Bed {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().canonicalize().unwrap().join("w");
    fs::create_dir_all(root.join("memory")).unwrap();
    let (sender, events) = channel();
    let spec = WatchSpec {
        root: root.clone(),
        poll,
        poll_every: Duration::from_millis(20),
        quiet: Duration::from_millis(20),
        max_wait: Duration::from_millis(200),
    };
    let watcher = Watcher::start_as(spec, Box::new(move |event| drop(sender.send(event)))).unwrap();
    Bed {
        folder,
        root,
        watcher,
        events,
    }
}

impl Bed {
    /// Waits for a matching event and skips all other events.
    fn wait(&self, what: &str, mut wanted: impl FnMut(&WatchEvent) -> bool) {
        let deadline = Instant::now() + PATIENCE;
        loop {
            let left = deadline.saturating_duration_since(Instant::now());
            match self.events.recv_timeout(left) {
                Ok(event) if wanted(&event) => return,
                Ok(_) => {}
                Err(error) => panic!("waiting for {what}: {error}"),
            }
        }
    }

    fn wait_dirty(&self, path: &Path) {
        let what = path.display().to_string();
        self.wait(
            &what,
            |event| matches!(event, WatchEvent::Dirty(paths) if paths.contains(path)),
        );
    }

    fn wait_rescan(&self, wanted: &str) {
        let what = format!("{wanted:?}");
        self.wait(
            &what,
            |event| matches!(event, WatchEvent::Rescan(reason) if *reason == wanted),
        );
    }

    /// Sets the watched folders, and waits until the watcher watches them. The watcher reports the canary only after
    /// that.
    fn set_dirs(&self, dirs: &[&str]) {
        let dirs = dirs.iter().map(|dir| self.root.join(dir)).collect();
        self.watcher.set_dirs(dirs);
        self.canary();
    }

    fn canary(&self) {
        self.watcher.write_canary().unwrap();
        self.wait("the canary", |event| matches!(event, WatchEvent::CanarySeen));
    }
}

fn sees_files_come_change_and_go(poll: PollMode) {
    let bed = bed(poll);
    bed.set_dirs(&["memory"]);
    let file = bed.root.join("memory/a.md");
    fs::write(&file, "one").unwrap();
    bed.wait_dirty(&file);
    fs::write(&file, "two!").unwrap();
    bed.wait_dirty(&file);
    let renamed = bed.root.join("memory/b.md");
    fs::rename(&file, &renamed).unwrap();
    bed.wait_dirty(&renamed);
    fs::remove_file(&renamed).unwrap();
    bed.wait_dirty(&renamed);
    let top = bed.root.join("MEMORY.md");
    fs::write(&top, "one").unwrap();
    bed.wait_dirty(&top);
    assert!(bed.watcher.state().last_event.is_some());
}

#[test]
fn system_events_report_file_changes() {
    sees_files_come_change_and_go(PollMode::Auto);
}

#[test]
fn polling_reports_file_changes() {
    sees_files_come_change_and_go(PollMode::Always);
}

fn sees_new_and_renewed_folders(poll: PollMode) {
    let bed = bed(poll);
    let folder = bed.root.join("memory/2026");
    // After each event, set the watched folders to those that exist, as the daemon does.
    let wait = |path: &Path| {
        let what = path.display().to_string();
        bed.wait(&what, |event| {
            let dirs = [bed.root.join("memory"), folder.clone()];
            bed.watcher
                .set_dirs(dirs.into_iter().filter(|dir| dir.is_dir()).collect());
            matches!(event, WatchEvent::Dirty(paths) if paths.contains(path))
        });
    };
    bed.set_dirs(&["memory"]);
    for round in 0..5 {
        fs::create_dir(&folder).unwrap();
        // This file is written before the folder is watched. It must be reported anyway.
        let early = folder.join(format!("early-{round}.md"));
        fs::write(&early, "x").unwrap();
        wait(&early);
        let late = folder.join(format!("late-{round}.md"));
        fs::write(&late, "x").unwrap();
        wait(&late);
        fs::remove_dir_all(&folder).unwrap();
        wait(&folder);
    }
}

#[test]
fn new_folders_are_reported_by_system_events_and_watched() {
    sees_new_and_renewed_folders(PollMode::Auto);
}

#[test]
fn new_folders_are_found_by_polling() {
    sees_new_and_renewed_folders(PollMode::Always);
}

#[test]
fn an_unwatched_folder_causes_no_events() {
    let bed = bed(PollMode::Auto);
    bed.set_dirs(&["memory"]);
    assert_eq!(bed.watcher.state().folders, 2);
    bed.set_dirs(&[]);
    assert_eq!(bed.watcher.state().folders, 2, "the root and the canary's folder");
    fs::write(bed.root.join("memory/a.md"), "x").unwrap();
    let top = bed.root.join("MEMORY.md");
    fs::write(&top, "x").unwrap();
    bed.wait("the file at the top", |event| match event {
        WatchEvent::Dirty(paths) => {
            assert!(paths.iter().all(|path| !path.ends_with("a.md")), "{paths:?}");
            paths.contains(&top)
        }
        _ => false,
    });
}

fn the_root_can_disappear_and_return(poll: PollMode) {
    let bed = bed(poll);
    bed.set_dirs(&["memory"]);
    let away = bed.folder.path().join("away");
    fs::rename(&bed.root, &away).unwrap();
    bed.wait_rescan("the root disappeared");
    assert!(bed.watcher.write_canary().is_err());
    assert!(!bed.root.exists(), "the canary does not create the root");
    fs::rename(&away, &bed.root).unwrap();
    bed.wait_rescan("the root reappeared");
    let file = bed.root.join("memory/after.md");
    fs::write(&file, "x").unwrap();
    bed.wait_dirty(&file);
}

#[test]
fn the_root_can_disappear_and_return_with_system_events() {
    the_root_can_disappear_and_return(PollMode::Auto);
}

#[test]
fn the_root_can_disappear_and_return_with_polling() {
    the_root_can_disappear_and_return(PollMode::Always);
}

#[test]
fn a_constantly_written_file_is_still_reported() {
    let bed = bed(PollMode::Auto);
    let file = bed.root.join("MEMORY.md");
    let deadline = Instant::now() + PATIENCE;
    let mut number = 0u64;
    // The pauses between writes are always shorter than the quiet period.
    let dirty = loop {
        number += 1;
        fs::write(&file, number.to_string()).unwrap();
        match bed.events.try_recv() {
            Ok(WatchEvent::Dirty(paths)) => break paths,
            _ => assert!(
                Instant::now() < deadline,
                "nothing was handed on after {number} changes"
            ),
        }
    };
    assert!(dirty.contains(&file));
}

#[test]
fn an_unwritable_canary_is_reported() {
    let bed = bed(PollMode::Auto);
    fs::write(bed.root.join(OWN_FOLDER), "a file in the folder's place").unwrap();
    let error = bed.watcher.write_canary().unwrap_err();
    assert!(!error.to_string().is_empty());
}

#[test]
fn the_own_folder_causes_events_only_for_its_configuration() {
    let bed = bed(PollMode::Auto);
    bed.canary();
    fs::write(bed.root.join(".hippocampus/meta.json"), "{}").unwrap();
    let config = bed.root.join(".hippocampus/config.toml");
    fs::write(&config, "").unwrap();
    bed.wait("the configuration", |event| match event {
        WatchEvent::Dirty(paths) => {
            assert!(paths.iter().all(|path| !path.ends_with("meta.json")), "{paths:?}");
            paths.contains(&config)
        }
        _ => false,
    });
}

#[test]
fn an_overflow_and_a_watch_limit_are_reported() {
    let bed = bed(PollMode::Auto);
    bed.canary();
    let overflow = notify::Event::new(notify::EventKind::Other).set_flag(notify::event::Flag::Rescan);
    bed.watcher.shared.heard(Ok(overflow));
    bed.wait_rescan("the system dropped events");
    assert_eq!(bed.watcher.state().mode, WatcherMode::Notify);

    bed.watcher
        .shared
        .heard(Err(notify::Error::new(notify::ErrorKind::MaxFilesWatch)));
    bed.wait_rescan("the limit on watches is reached");
    let state = bed.watcher.state();
    assert_eq!(state.mode, WatcherMode::Poll);
    assert_eq!(
        state.reason.unwrap(),
        "the limit fs.inotify.max_user_watches is reached"
    );
    bed.set_dirs(&["memory"]);
    let file = bed.root.join("memory/a.md");
    fs::write(&file, "found by polling").unwrap();
    bed.wait_dirty(&file);
}

#[test]
fn reading_a_file_causes_no_event() {
    let bed = bed(PollMode::Auto);
    let quiet = bed.root.join("memory/quiet.md");
    // Call this before the write, because it waits for the canary and skips all other events.
    bed.set_dirs(&["memory"]);
    fs::write(&quiet, "x").unwrap();
    bed.wait_dirty(&quiet);
    fs::read(&quiet).unwrap();
    let loud = bed.root.join("memory/loud.md");
    fs::write(&loud, "x").unwrap();
    bed.wait("the written file", |event| match event {
        WatchEvent::Dirty(paths) => {
            assert!(!paths.contains(&quiet), "{paths:?}");
            paths.contains(&loud)
        }
        _ => false,
    });
}

#[test]
fn the_watcher_thread_ends_with_its_handle() {
    let bed = bed(PollMode::Auto);
    let Bed {
        watcher,
        events,
        folder: _folder,
        ..
    } = bed;
    drop(watcher);
    // The watcher's thread owns the sender, so the channel is closed when the thread ends. The thread must not send a
    // `Dead` event.
    let deadline = Instant::now() + PATIENCE;
    loop {
        match events.recv_timeout(deadline.saturating_duration_since(Instant::now())) {
            Err(error) => break assert_eq!(error, std::sync::mpsc::RecvTimeoutError::Disconnected),
            Ok(event) => assert!(!matches!(event, WatchEvent::Dead(_))),
        }
    }
}
