//! Which packages of Debian does a program need, told from the program itself?

use std::cmp::Ordering;
use std::collections::{BTreeMap, BTreeSet};

use anyhow::{Context, Result, bail};
use object::Endianness;
use object::elf::{DT_NEEDED, FileHeader64};
use object::read::elf::{Dyn, FileHeader};

/// The libraries of a program or library, each with the versions of symbols that it asks of it.
type Needs = BTreeMap<String, BTreeSet<String>>;

/// Packages by their libraries, and how the version of a package follows from the symbols' versions.
const PACKAGES: [(&str, &str, &[&str]); 3] = [
    (
        "libc6",
        "GLIBC_",
        &[
            "libc.so.6",
            "libm.so.6",
            "libdl.so.2",
            "libpthread.so.0",
            "librt.so.1",
            "ld-linux-x86-64.so.2",
            "ld-linux-aarch64.so.1",
        ],
    ),
    ("libgcc-s1", "GCC_", &["libgcc_s.so.1"]),
    ("libstdc++6", "GLIBCXX_", &["libstdc++.so.6"]),
];

/// The release of GCC that brought a version of the symbols of libstdc++, from its ABI history.
const LIBSTDCXX: [(&str, &str); 16] = [
    ("3.4.19", "4.8.3"),
    ("3.4.20", "4.9"),
    ("3.4.21", "5.1"),
    ("3.4.22", "6.1"),
    ("3.4.23", "7.1"),
    ("3.4.24", "7.2"),
    ("3.4.25", "8.1"),
    ("3.4.26", "9.1"),
    ("3.4.27", "9.2"),
    ("3.4.28", "9.3"),
    ("3.4.29", "11.1"),
    ("3.4.30", "12.1"),
    ("3.4.31", "13.1"),
    ("3.4.32", "13.2"),
    ("3.4.33", "14.1"),
    ("3.4.34", "15.1"),
];

/// The field `Depends` for these programs and libraries.
///
/// # Errors
/// One cannot be read, or needs a library or a version that nothing here knows.
pub fn depends<'b>(programs: impl IntoIterator<Item = &'b [u8]>) -> Result<String> {
    let mut needs = Needs::new();
    for program in programs {
        for (library, versions) in read(program).context("could not read a program")? {
            needs.entry(library).or_default().extend(versions);
        }
    }
    describe(&needs)
}

fn describe(needs: &Needs) -> Result<String> {
    let mut found: BTreeMap<&str, Option<String>> = BTreeMap::new();
    for (library, versions) in needs {
        let known = PACKAGES
            .iter()
            .find(|(_, _, libraries)| libraries.contains(&library.as_str()));
        let (package, prefix, _) =
            known.with_context(|| format!("no package is known that brings {library}"))?;
        let newest = found.entry(package).or_default();
        let asked = versions.iter().filter_map(|version| version.strip_prefix(prefix));
        for version in asked.filter(|version| version.starts_with(|first: char| first.is_ascii_digit())) {
            let version = match *package {
                "libstdc++6" => release(version)?,
                _ => version,
            };
            if newest
                .as_deref()
                .is_none_or(|newest| compare(newest, version).is_lt())
            {
                *newest = Some(version.to_owned());
            }
        }
    }
    let packages = found.into_iter().map(|(package, newest)| match newest {
        Some(version) => format!("{package} (>= {version})"),
        None => package.to_owned(),
    });
    Ok(packages.collect::<Vec<_>>().join(", "))
}

/// The oldest release of GCC whose libstdc++ has symbols of this version.
fn release(version: &str) -> Result<&'static str> {
    let found = LIBSTDCXX
        .iter()
        .find(|(known, _)| compare(known, version).is_ge());
    match found {
        Some((_, release)) => Ok(release),
        None => bail!("no release of GCC is known that brings GLIBCXX_{version}"),
    }
}

fn compare(one: &str, other: &str) -> Ordering {
    let numbers =
        |version: &str| -> Vec<u32> { version.split('.').map_while(|part| part.parse().ok()).collect() };
    numbers(one).cmp(&numbers(other))
}

fn read(program: &[u8]) -> Result<Needs> {
    let header = FileHeader64::<Endianness>::parse(program)?;
    let endian = header.endian()?;
    let sections = header.sections(endian, program)?;
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let mut needs = Needs::new();
    if let Some((entries, link)) = sections.dynamic(endian, program)? {
        let strings = sections.strings(endian, program, link)?;
        for entry in entries.iter().filter(|entry| entry.tag(endian) == DT_NEEDED) {
            needs.entry(text(entry.string(endian, strings)?)).or_default();
        }
    }
    if let Some((libraries, link)) = sections.gnu_verneed(endian, program)? {
        let strings = sections.strings(endian, program, link)?;
        for library in libraries {
            let (library, versions) = library?;
            let known = needs.entry(text(library.file(endian, strings)?)).or_default();
            for version in versions {
                known.insert(text(version?.name(endian, strings)?));
            }
        }
    }
    Ok(needs)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn needs(table: &[(&str, &[&str])]) -> Needs {
        let owned = |versions: &&[&str]| versions.iter().map(|&version| version.to_owned()).collect();
        table
            .iter()
            .map(|(library, versions)| ((*library).to_owned(), owned(versions)))
            .collect()
    }

    #[test]
    fn the_newest_symbol_decides_and_numbers_are_no_text() {
        let found = describe(&needs(&[
            (
                "libc.so.6",
                &["GLIBC_2.9", "GLIBC_2.34", "GLIBC_PRIVATE", "GLIBC_2.2.5"],
            ),
            ("libm.so.6", &["GLIBC_2.29"]),
            ("ld-linux-x86-64.so.2", &[]),
            ("libgcc_s.so.1", &["GCC_3.0", "GCC_4.2.0"]),
            (
                "libstdc++.so.6",
                &["CXXABI_1.3.9", "GLIBCXX_3.4.9", "GLIBCXX_3.4.22"],
            ),
        ]));
        assert_eq!(
            found.unwrap(),
            "libc6 (>= 2.34), libgcc-s1 (>= 4.2.0), libstdc++6 (>= 6.1)"
        );
        assert_eq!(describe(&needs(&[("libgcc_s.so.1", &[])])).unwrap(), "libgcc-s1");
    }

    #[test]
    fn what_is_not_known_is_not_guessed() {
        let error = |table: &[(&str, &[&str])]| describe(&needs(table)).unwrap_err().to_string();
        assert!(error(&[("libssl.so.3", &[])]).contains("libssl.so.3"));
        assert!(error(&[("libstdc++.so.6", &["GLIBCXX_3.4.99"])]).contains("3.4.99"));
        assert!(depends([&b"no program"[..]]).is_err());
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn a_program_of_this_machine_needs_its_libc() {
        let program = std::fs::read(std::env::current_exe().unwrap()).unwrap();
        let found = depends([&program[..]]).unwrap();
        assert!(found.contains("libc6 (>= 2."), "{found}");
    }
}
