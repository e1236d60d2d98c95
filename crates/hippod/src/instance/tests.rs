//! Tests of the single-instance lock and of the socket.

use super::*;
use std::os::unix::net::UnixListener;

fn mode(path: &Path) -> u32 {
    path.metadata().map_or(0, |metadata| system::mode(&metadata)) & 0o777
}

#[tokio::test]
async fn folders_and_socket_are_private() {
    let home = tempfile::tempdir().unwrap();
    let paths = Paths::below(&home.path().join("deep/home"));
    let instance = Instance::claim(&paths).unwrap();
    let early = UnixListener::bind(&paths.socket).unwrap();
    assert_eq!(mode(&paths.socket) & 0o077, 0, "private from the first moment");
    drop(early);
    std::fs::remove_file(&paths.socket).unwrap();
    let listener = instance.listen().unwrap();
    assert_eq!(mode(&paths.socket), 0o600);
    assert_eq!(mode(&paths.state), 0o700);
    assert_eq!(mode(paths.socket.parent().unwrap()), 0o700);
    assert_eq!(mode(&paths.state.join(LOCK_FILE)), 0o600);
    drop((instance, listener));
    assert!(!paths.socket.exists());
    assert!(
        paths.state.join(LOCK_FILE).exists(),
        "removing a lock file opens a race"
    );
}

#[test]
fn own_folders_with_wide_permissions_are_made_private() {
    let home = tempfile::tempdir().unwrap();
    let paths = Paths::below(home.path());
    std::fs::create_dir(&paths.state).unwrap();
    system::set_mode(&paths.state, 0o755).unwrap();
    let _instance = Instance::claim(&paths).unwrap();
    assert_eq!(mode(&paths.state), 0o700);
}

#[test]
fn only_one_instance_runs_at_a_time() {
    let home = tempfile::tempdir().unwrap();
    let paths = Paths::below(home.path());
    let first = Instance::claim(&paths).unwrap();
    let error = Instance::claim(&paths).unwrap_err();
    let pid = std::process::id();
    assert!(error.to_string().starts_with(&format!(
        "another hippod (process {pid}) uses the state folder: /"
    )));
    drop(first);
    Instance::claim(&paths).unwrap();
}

#[tokio::test]
async fn a_stale_socket_is_replaced_and_a_live_socket_is_not() {
    let home = tempfile::tempdir().unwrap();
    let paths = Paths::below(home.path());
    let listener = UnixListener::bind(&paths.socket).unwrap();
    let error = Instance::claim(&paths).unwrap_err();
    let expected = format!("another hippod answers at: {}\n", paths.socket.display());
    assert!(error.to_string().starts_with(&expected), "{error}");
    drop(listener);
    assert!(paths.socket.exists(), "a killed daemon leaves its socket");
    let instance = Instance::claim(&paths).unwrap();
    assert!(!paths.socket.exists());

    let _mine = instance.listen().unwrap();
    std::fs::remove_file(&paths.socket).unwrap();
    let _other = UnixListener::bind(&paths.socket).unwrap();
    drop(instance);
    assert!(paths.socket.exists(), "the socket of another is left alone");
}

#[test]
fn a_file_at_the_socket_path_is_kept() {
    let home = tempfile::tempdir().unwrap();
    let paths = Paths::below(home.path());
    std::fs::write(&paths.socket, "precious").unwrap();
    let error = Instance::claim(&paths).unwrap_err();
    assert!(
        error.to_string().contains("because it is not a socket"),
        "{error}"
    );
    assert_eq!(std::fs::read_to_string(&paths.socket).unwrap(), "precious");
}

#[test]
fn a_socket_path_that_is_too_long_is_refused_with_a_hint() {
    let home = tempfile::tempdir().unwrap();
    let paths = Paths {
        socket: home.path().join("x".repeat(120)),
        ..Paths::below(home.path())
    };
    let error = Instance::claim(&paths).unwrap_err();
    assert!(error.to_string().contains("the maximum is 107"), "{error}");
    assert!(error.to_string().contains("hint: set HIPPOD_SOCKET"), "{error}");
}

#[test]
fn a_custom_socket_folder_keeps_its_mode_and_must_be_safe() {
    let home = tempfile::tempdir().unwrap();
    let elsewhere = tempfile::tempdir().unwrap();
    let paths = Paths {
        socket: elsewhere.path().join("s"),
        ..Paths::below(home.path())
    };
    system::set_mode(elsewhere.path(), 0o777).unwrap();
    let error = Instance::claim(&paths).unwrap_err();
    assert!(
        error.to_string().contains("other users may write to it"),
        "{error}"
    );
    for safe in [0o755, 0o1777] {
        system::set_mode(elsewhere.path(), safe).unwrap();
        drop(Instance::claim(&paths).unwrap());
        assert_eq!(mode(elsewhere.path()), safe & 0o777);
    }
}
