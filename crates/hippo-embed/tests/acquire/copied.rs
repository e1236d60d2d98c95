//! Tests of copied installations, whose modification times are new.

use std::fs;
use std::path::Path;

use hippo_embed::acquire::{AcquireError, Layout, check_copied, locate};

use crate::fixture::{Fixture, NO_PYTHON};

/// Copies a folder as `cp -r` does: with new modification times.
fn copy_without_times(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let (from, to) = {
            let entry = entry.unwrap();
            (entry.path(), to.join(entry.file_name()))
        };
        if from.is_dir() {
            copy_without_times(&from, &to);
        } else {
            fs::write(&to, fs::read(&from).unwrap()).unwrap();
            let later = std::time::SystemTime::now() + std::time::Duration::from_secs(60);
            let file = fs::File::options().write(true).open(&to).unwrap();
            file.set_modified(later).unwrap();
        }
    }
}

#[test]
fn a_copy_without_times_counts_as_installed_after_it_was_read_once() {
    let original = Fixture::with_cache();
    original.pull(NO_PYTHON).unwrap();
    for way in ["check", "verify"] {
        let mut copy = Fixture::new();
        copy.layout = Layout::in_home(&copy.folder.path().join("copied"), copy.layout.cache.clone());
        copy_without_times(&original.layout.models, &copy.layout.models);
        copy_without_times(&original.layout.runtime, &copy.layout.runtime);
        let error = locate(&copy.layout, &copy.manifest).unwrap_err();
        assert!(matches!(error, AcquireError::Unchecked(_)), "{error}");
        if way == "check" {
            check_copied(&copy.layout, &copy.manifest);
        } else {
            assert!(copy.states().into_iter().all(|ok| ok));
        }
        locate(&copy.layout, &copy.manifest).unwrap();
        // The installation record now contains the modification times of the copy.
        for folder in ["models/small", "runtime/p-runtime-1.0"] {
            let record = copy
                .folder
                .path()
                .join("copied")
                .join(folder)
                .join("installed.json");
            let there = fs::read_to_string(record).unwrap();
            let before = fs::read_to_string(
                original
                    .folder
                    .path()
                    .join("home")
                    .join(folder)
                    .join("installed.json"),
            );
            assert_ne!(there, before.unwrap(), "{way}: {folder}");
        }
        // Later checks read no file: they do not notice a change that keeps the size and the time.
        let weights = copy.layout.models.join("small/model.safetensors");
        let (bytes, time) = (
            fs::read(&weights).unwrap(),
            fs::metadata(&weights).unwrap().modified(),
        );
        let write = |bytes: &[u8]| {
            fs::write(&weights, bytes).unwrap();
            let file = fs::File::options().write(true).open(&weights).unwrap();
            file.set_modified(*time.as_ref().unwrap()).unwrap();
        };
        write(&vec![b'x'; bytes.len()]);
        check_copied(&copy.layout, &copy.manifest);
        locate(&copy.layout, &copy.manifest).unwrap();
        write(&bytes);
        copy.assert_complete();
    }
}

#[test]
fn a_copy_with_other_bytes_of_the_same_size_is_refused_and_named() {
    let fixture = Fixture::with_cache();
    fixture.pull(NO_PYTHON).unwrap();
    for (file, damage) in [
        ("models/small/tokenizer.json", 7),
        ("runtime/p-runtime-1.0/libruntime.so", 299_999),
    ] {
        let path = fixture.folder.path().join("home").join(file);
        let mut bytes = fs::read(&path).unwrap();
        bytes[damage] ^= 1;
        fs::write(&path, &bytes).unwrap();
        let later = std::time::SystemTime::now() + std::time::Duration::from_secs(60);
        let opened = fs::File::options().write(true).open(&path).unwrap();
        opened.set_modified(later).unwrap();
        check_copied(&fixture.layout, &fixture.manifest);
        match locate(&fixture.layout, &fixture.manifest) {
            Err(AcquireError::Damaged(named)) => assert_eq!(named, path),
            other => panic!("{other:?}"),
        }
        fixture.pull(NO_PYTHON).unwrap();
        fixture.assert_complete();
    }
}
