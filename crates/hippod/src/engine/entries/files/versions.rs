//! Earlier versions of the index file.
//!
//! The header of the file shows the version from which the content of the file was made. If an editor saves an edit of
//! an older version, entries that were added since that version are kept. If a person restores an older version from a
//! backup or from version control, the restored version replaces the current content.

use std::collections::BTreeSet;

use hippo_map::index_file::IndexFile as Parsed;
use hippo_map::index_file::IndexFileOptions;
use hippo_types::time::Timestamp;

use super::kept::{KeptBytes, KeptValue};

/// Maximum number of stored versions.
const MOST: usize = 160;
/// Maximum total size in bytes of all versions except the newest.
const MOST_BYTES: usize = 8 << 20;
/// Key prefix of versions in the store. The number of the version follows the prefix.
const KEY: &str = "HIPPOCAMPUS.md.version-";
/// Key for the time of writing of the latest version that another machine wrote.
const RECEIVED: &str = "HIPPOCAMPUS.md.received";
/// Time in milliseconds after the replacement of a version. If the file contains the old version again within this
/// time, hippod assumes that an editor saved its buffer. After this time, hippod assumes that a person restored the
/// version.
const SOON: u64 = 120_000;
/// Number of differing entries up to which a file with the header of an older version counts as an edit of that
/// version. If more entries differ, and if they are most of the entries, the file counts as restored by a person.
const FEW: usize = 4;

/// The version from which the current content of the file was made.
#[derive(Debug, PartialEq, Eq)]
pub enum VersionOrigin {
    /// The version that the file contained last.
    Current,
    /// An older version with this content, which an editor had open and saved.
    Buffer(Vec<u8>),
    /// An older version that a person restored. It was written at this time.
    PutBack(Timestamp),
}

/// Records a new version: the content that the file has had since a given time. Drops the oldest versions above the
/// limits.
pub fn note(kept: &mut KeptBytes, bytes: &[u8], since: Timestamp) {
    let number = last(kept).map_or(0, |last| last + 1);
    if number > 0 && self::bytes(kept, number - 1) == Some(bytes) {
        return;
    }
    kept.put(format!("{KEY}{number:010}"), bytes, since);
    let (mut count, mut size) = (0, 0);
    let all = kept.of(KEY).rev();
    let old = all.filter_map(|(number, version)| {
        count += 1;
        size += version.bytes.len();
        (count > MOST || (count > 1 && size > MOST_BYTES)).then(|| format!("{KEY}{number}"))
    });
    for key in old.collect::<Vec<_>>() {
        kept.remove(&key);
    }
}

/// Returns the number of the newest version.
pub fn last(kept: &KeptBytes) -> Option<u64> {
    kept.of(KEY).next_back()?.0.parse().ok()
}

/// Returns the content of a version.
pub fn bytes(kept: &KeptBytes, number: u64) -> Option<&[u8]> {
    kept.bytes(&format!("{KEY}{number:010}"))
}

/// Returns the latest time in the headers of all versions.
pub fn stamped(kept: &KeptBytes) -> Timestamp {
    let stamps = kept.of(KEY).filter_map(|(_, version)| written_at(&version.bytes));
    stamps.max().unwrap_or_default()
}

/// Returns the version from which an editor made `bytes`, the content of a replaced copy. The header of `bytes`
/// identifies the version. Returns `Current` if the version is `base` or unknown.
pub fn version_of(kept: &KeptBytes, base: &[u8], bytes: &[u8]) -> VersionOrigin {
    let all: Vec<&KeptValue> = kept.of(KEY).map(|(_, version)| version).collect();
    match closest_version(&all, bytes) {
        Some(at) if !same_header(base, bytes) => VersionOrigin::Buffer(all[at].bytes.clone()),
        _ => VersionOrigin::Current,
    }
}

/// Returns the index of the version that is most similar to `bytes` and has the same header. Several versions can have
/// the same header, because people edit the text below the header. The most similar version has the fewest lines that
/// `bytes` lacks. If several versions are equally similar, returns the newest.
fn closest_version(all: &[&KeptValue], bytes: &[u8]) -> Option<usize> {
    let stamp = stamp(bytes)?;
    let lines = |bytes: &'_ [u8]| -> BTreeSet<Vec<u8>> {
        let lines = bytes.split(|byte| *byte == b'\n').map(<[u8]>::trim_ascii);
        lines.map(<[u8]>::to_vec).collect()
    };
    let there = lines(bytes);
    let same = all.iter().enumerate().rev();
    let same = same.filter(|(_, version)| self::stamp(&version.bytes) == Some(stamp));
    let nearest = same.min_by_key(|(_, version)| lines(&version.bytes).difference(&there).count());
    nearest.map(|(at, _)| at)
}

/// Returns the version from which the new content `bytes` of the file was made. `base` is the previous content.
pub fn origin(
    kept: &KeptBytes,
    base: &[u8],
    bytes: &[u8],
    now: Timestamp,
    settings: IndexFileOptions,
) -> VersionOrigin {
    if stamp(base).is_some() && same_header(base, bytes) {
        return VersionOrigin::Current;
    }
    let all: Vec<&KeptValue> = kept.of(KEY).map(|(_, version)| version).collect();
    let Some(at) = closest_version(&all, bytes) else {
        return match (written_at(base), written_at(bytes)) {
            (Some(last), Some(this)) if this < last => VersionOrigin::PutBack(this),
            _ => VersionOrigin::Current,
        };
    };
    let version = &all[at].bytes;
    if *version == base {
        return VersionOrigin::Current;
    }
    let soon = all.get(at + 1).is_none_or(|next| now.since(next.at) < SOON);
    let known = || all.iter().any(|version| version.bytes == bytes);
    match written_at(bytes) {
        Some(this) if !soon && (known() || differs(version, bytes, settings)) => VersionOrigin::PutBack(this),
        _ => VersionOrigin::Buffer(version.clone()),
    }
}

/// Returns the latest version from which both the content of the file and a conflict copy derive, by their headers; an
/// empty text if it is unknown.
pub fn common<'k>(kept: &'k KeptBytes, current: &[u8], copy: &[u8]) -> &'k [u8] {
    let all: Vec<&KeptValue> = kept.of(KEY).map(|(_, version)| version).collect();
    let written = |time: Timestamp| all.iter().position(|it| written_at(&it.bytes) == Some(time));
    let is_foreign = received(kept).is_some_and(|time| written_at(current) == Some(time));
    // The number of the latest version of another machine that the file contains.
    let from_others = match is_foreign {
        true => closest_version(&all, current).or(Some(all.len())),
        false => received_by(current).and_then(written),
    };
    let known = closest_version(&all, copy);
    if let Some(known) = known.filter(|known| from_others.is_none_or(|from| from <= *known)) {
        return &all[known].bytes;
    }
    // A copy that this machine wrote is not part of the version that another machine wrote later. Of the versions that
    // each machine received from the other, the latest one is common to both.
    let foreign = known.and(from_others).and_then(|from| all.get(from));
    let foreign = foreign.map_or(current, |version| &version.bytes);
    let exchanged = [foreign, copy]
        .into_iter()
        .filter_map(received_by)
        .filter_map(written);
    exchanged.max().map_or(b"", |at| &all[at].bytes)
}

/// Records the time of writing of the new content of the file, if another machine wrote it.
pub fn note_received(kept: &mut KeptBytes, bytes: &[u8], now: Timestamp) {
    let Some(written) = written_at(bytes) else { return };
    let is_known = kept
        .of(KEY)
        .any(|(_, version)| written_at(&version.bytes) == Some(written));
    if !is_known {
        kept.put(RECEIVED.to_owned(), &written.0.to_be_bytes(), now);
    }
}

/// Returns the time of writing of the latest version that another machine wrote.
pub fn received(kept: &KeptBytes) -> Option<Timestamp> {
    let bytes = kept.bytes(RECEIVED)?.try_into().ok()?;
    Some(Timestamp(i64::from_be_bytes(bytes)))
}

/// Returns whether two contents have the same header, and therefore derive from the same write of the daemon.
pub fn same_header(one: &[u8], other: &[u8]) -> bool {
    stamp(one) == stamp(other)
}

/// Returns the raw header. Each write of the daemon has a different header.
fn stamp(bytes: &[u8]) -> Option<&[u8]> {
    let find = |bytes: &[u8], what: &[u8]| bytes.windows(what.len()).position(|part| part == what);
    let header = &bytes[find(bytes, b"<!-- hippocampus.md")?..];
    Some(&header[..find(header, b"-->")?])
}

/// Returns the time in the header, at which the daemon wrote the file.
fn written_at(bytes: &[u8]) -> Option<Timestamp> {
    header(bytes)?.written_at()
}

/// Returns the time in the header at which another machine wrote the version from which the file was made.
fn received_by(bytes: &[u8]) -> Option<Timestamp> {
    header(bytes)?.received()
}

fn header(bytes: &[u8]) -> Option<Parsed> {
    let header = [stamp(bytes)?, b"-->"].concat();
    Some(Parsed::parse(&header, IndexFileOptions::default()))
}

/// Returns whether most entries of a version differ from the entries in `bytes`.
fn differs(version: &[u8], bytes: &[u8], settings: IndexFileOptions) -> bool {
    let (before, after) = (
        Parsed::parse(version, settings).to_entries(),
        Parsed::parse(bytes, settings).to_entries(),
    );
    let same = before.iter().filter(|entry| after.contains(entry)).count();
    let others = before.len().max(after.len()) - same;
    others > FEW && others > same
}

#[cfg(test)]
mod tests {
    use hippo_store::db::Store;

    use super::*;

    fn version(minute: u32, words: &str) -> Vec<u8> {
        let entry = |name: &str| format!("## {name}\n{words}\n→ {name}.md\n<!-- hx: id={name} -->\n\n");
        let entries: String = ["a", "b", "c", "d", "e", "f"].map(entry).concat();
        let header =
            format!("<!-- hippocampus.md v1.0 | entries: 6 | reindexed: 2026-02-01T00:{minute:02}:00Z -->");
        format!("# HIPPOCAMPUS.md\n{header}\n\n{entries}").into_bytes()
    }

    #[test]
    fn a_restored_old_version_is_distinguished_from_a_stale_buffer() {
        let minute = |minute: i64| Timestamp(minute * 60_000);
        let mut kept = KeptBytes::default();
        let [one, two, three] =
            [(0, "One."), (1, "Two."), (2, "Three.")].map(|(at, words)| version(at, words));
        for (at, bytes) in [&one, &two, &three].into_iter().enumerate() {
            note(&mut kept, bytes, minute(i64::try_from(at).unwrap()));
        }
        let origin = |bytes: &[u8], at| origin(&kept, &three, bytes, minute(at), IndexFileOptions::default());
        let edited = |bytes: &[u8], times: usize, from: &str| {
            let text = String::from_utf8(bytes.to_vec()).unwrap();
            text.replacen(from, "Somebody's own words.", times).into_bytes()
        };
        let written = |minute: i64| written_at(&version(u32::try_from(minute).unwrap(), "")).unwrap();
        assert_eq!(written(1).since(written(0)), 60_000);
        for at in [2, 600] {
            assert_eq!(origin(&three, at), VersionOrigin::Current);
            assert_eq!(origin(&edited(&three, 6, "Three."), at), VersionOrigin::Current);
            assert_eq!(origin(b"no header", at), VersionOrigin::Current);
            assert_eq!(
                origin(&version(3, "Of another machine."), at),
                VersionOrigin::Current
            );
            assert_eq!(
                origin(&edited(&one, 2, "One."), at),
                VersionOrigin::Buffer(one.clone()),
                "{at}"
            );
        }
        assert_eq!(origin(&one, 2), VersionOrigin::Buffer(one.clone()));
        assert_eq!(
            origin(&edited(&one, 6, "One."), 2),
            VersionOrigin::Buffer(one.clone())
        );
        assert_eq!(origin(&one, 600), VersionOrigin::PutBack(written(0)));
        assert_eq!(origin(&two, 600), VersionOrigin::PutBack(written(1)));
        assert_eq!(
            origin(&edited(&one, 6, "One."), 600),
            VersionOrigin::PutBack(written(0))
        );

        // The store does not contain this older version.
        let unknown = String::from_utf8(version(0, "Zero."))
            .unwrap()
            .replace("00:00:00Z", "00:00:30Z");
        assert!(matches!(origin(unknown.as_bytes(), 2), VersionOrigin::PutBack(_)));
    }

    #[test]
    fn the_common_version_of_a_file_and_a_copy_is_found_by_their_headers() {
        let received = |minute: u32, from: u32| {
            let text = String::from_utf8(version(minute, "Of another machine.")).unwrap();
            let end = format!(" | received: 2026-02-01T00:{from:02}:00Z -->");
            text.replacen(" -->", &end, 1).into_bytes()
        };
        let mut kept = KeptBytes::default();
        let own = [0, 2, 4].map(|minute| version(minute, "Of this machine."));
        for bytes in &own {
            note(&mut kept, bytes, Timestamp(1));
        }
        let edited = [&own[1][..], b"A line of a person.\n"].concat();
        assert_eq!(common(&kept, &own[2], &edited), own[1]);
        assert_eq!(common(&kept, &own[2], &received(5, 2)), own[1]);
        assert_eq!(common(&kept, &own[2], &version(5, "Made alone.")), b"");
        assert_eq!(common(&kept, &own[2], b"no header"), b"");
        // The file of another machine, which has received the first version, replaces the file.
        let theirs = received(5, 0);
        note_received(&mut kept, &theirs, Timestamp(2));
        assert_eq!(common(&kept, &theirs, &own[2]), own[0]);
        note(&mut kept, &theirs, Timestamp(2));
        assert_eq!(common(&kept, &theirs, &own[2]), own[0]);
        let merged = received(6, 5);
        note(&mut kept, &merged, Timestamp(3));
        assert_eq!(common(&kept, &merged, &own[2]), own[0]);
        assert_eq!(common(&kept, &merged, &received(7, 4)), theirs);
        assert_eq!(
            common(&kept, &merged, &[&merged[..], b"A line.\n"].concat()),
            merged
        );
    }

    #[test]
    fn the_store_keeps_the_newest_versions_in_order() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("store.db");
        let mut store = Store::open(&file, "/w").unwrap();
        let mut kept = KeptBytes::default();
        for number in 0..200_i64 {
            note(
                &mut kept,
                format!("version {number}").as_bytes(),
                Timestamp(number),
            );
            if number % 3 == 0 {
                kept.save(&mut store).unwrap();
            }
        }
        kept.save(&mut store).unwrap();
        drop(store);
        let again = KeptBytes::load(&Store::open(&file, "/w").unwrap()).unwrap();
        let texts = |kept: &KeptBytes| -> Vec<(String, KeptValue)> {
            let all = kept.of(KEY);
            all.map(|(number, version)| (number.to_owned(), version.clone()))
                .collect()
        };
        assert_eq!(texts(&again), texts(&kept));
        assert_eq!(texts(&again).len(), MOST);
    }
}
