//! Flags of qmd that `search` and `get` accept, and hints for the others
//!
//! docs/qmd.md contains the full table; a test compares it with this file.

use std::ffi::OsString;

use clap::{Args, ValueEnum};

/// Output format of the results.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum OutputFormat {
    /// Text for people
    Cli,
    /// The daemon's answer in one line
    Json,
    /// A header and one row per result
    Csv,
    /// One section per result
    Md,
    /// One element per result
    Xml,
    /// Id, score and path of each result
    Files,
}

/// Flags of `search` that qmd also has.
#[derive(Debug, Clone, Default, Args)]
#[command(next_help_heading = "Options that qmd also has")]
pub struct QmdSearch {
    /// Return as many results as possible
    #[arg(long, conflicts_with = "limit")]
    pub all: bool,
    /// Search only files below this folder of the workspace; can be repeated
    #[arg(short, long = "collection", value_name = "FOLDER", conflicts_with = "path")]
    pub collections: Vec<String>,
    /// Print each file in full, once, instead of the matching passage
    #[arg(long)]
    pub full: bool,
    /// Format of the results
    #[arg(long, value_enum, value_name = "KIND")]
    pub format: Option<OutputFormat>,
    /// The same as --format csv
    #[arg(long, conflicts_with_all = ["format", "md", "xml", "files"])]
    pub csv: bool,
    /// The same as --format md
    #[arg(long, conflicts_with_all = ["format", "xml", "files"])]
    pub md: bool,
    /// The same as --format xml
    #[arg(long, conflicts_with_all = ["format", "files"])]
    pub xml: bool,
    /// The same as --format files
    #[arg(long, conflicts_with = "format")]
    pub files: bool,
    /// Print line numbers
    #[arg(long)]
    pub line_numbers: bool,
    /// Print absolute paths
    #[arg(long)]
    pub full_path: bool,
    /// Has no effect: hippod has no model that reranks results
    #[arg(long, hide = true)]
    pub no_rerank: bool,
    /// Has no effect: the model runs on the CPU
    #[arg(long, hide = true)]
    pub no_gpu: bool,
}

impl QmdSearch {
    /// Returns the requested format, whichever flag requested it.
    pub fn wanted(&self) -> OutputFormat {
        let short = [
            (self.csv, OutputFormat::Csv),
            (self.md, OutputFormat::Md),
            (self.xml, OutputFormat::Xml),
            (self.files, OutputFormat::Files),
        ];
        let short = short
            .into_iter()
            .find_map(|(given, format)| given.then_some(format));
        self.format.or(short).unwrap_or(OutputFormat::Cli)
    }

    /// Returns the folders as paths relative to the workspace.
    pub fn folders(&self) -> impl Iterator<Item = &str> {
        let names = self.collections.iter();
        names.map(|name| name.trim_start_matches("qmd://").trim_end_matches('/'))
    }

    /// Returns the folders as one path glob.
    pub fn glob(&self) -> Option<String> {
        let names: Vec<&str> = self.folders().collect();
        match names.as_slice() {
            [] => None,
            [one] => Some(format!("{one}/**")),
            many => Some(format!("{{{}}}/**", many.join(","))),
        }
    }
}

/// Arguments of `get`.
#[derive(Debug, Clone, Args)]
pub struct GetArgs {
    /// PATH, PATH#Section, PATH:FROM, PATH:FROM:COUNT, or the id of a search result
    pub target: String,
    /// Number of the first line, counted from 1
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub from: Option<u32>,
    /// Maximum number of lines
    #[arg(short = 'l', long = "lines", value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub lines: Option<u32>,
    /// Print line numbers
    #[arg(long)]
    pub line_numbers: bool,
    /// Print no line numbers, which is the default
    #[arg(long, hide = true, conflicts_with = "line_numbers")]
    pub no_line_numbers: bool,
}

/// Verbs of qmd that hippoctl lacks, and the replacement for each.
#[rustfmt::skip] // keep the list compact
const VERBS: [(&str, &str); 10] = [
    ("bench", "in a checkout of hippod: cargo lab questions FILE"),
    ("query", "hippoctl search QUERY searches by keyword and by meaning at once"),
    ("vsearch", "hippoctl search --mode vector QUERY"),
    ("multi-get", "hippoctl get PATH for each file, or hippoctl search --path GLOB --full QUERY"),
    ("ls", "hippoctl status shows the number of files; to list them: ls"),
    ("collection", "hippoctl workspace add, list and remove"),
    ("update", "hippoctl sync; the daemon notices edits by itself"),
    ("embed", "hippoctl sync --wait; the daemon embeds by itself"),
    ("pull", "hippoctl model pull"),
    ("cleanup", "hippoctl doctor; the daemon cleans up by itself"),
];

/// Flags of qmd that these verbs lack, and the replacement for each.
#[rustfmt::skip] // keep the list compact
const FLAGS: [(&[&str], &[&str], &str); 6] = [
    (&["search", "get"], &["--index"], "--workspace DIR selects the workspace"),
    (&["search"], &["--candidate-limit", "-C"], "-n N; hippod has no model that reranks candidates"),
    (&["search"], &["--intent"], "put the intent into the query"),
    (&["search"], &["--chunk-strategy"], "omit the flag: hippod always splits files at their headings"),
    (&["get"], &["--full-path"], "--json prints the path relative to the workspace"),
    (&["get"], &["--max-bytes"], "-l N"),
];

/// A rejected verb or flag of qmd, with its replacement.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct QmdRefusal {
    /// What hippoctl lacks.
    pub what: String,
    /// The replacement.
    pub instead: &'static str,
}

/// Returns the message for a command line with a verb or flag of qmd that hippoctl lacks.
pub fn refusal(words: &[OsString]) -> Option<QmdRefusal> {
    let mut words = words.iter().skip(1).filter_map(|word| word.to_str());
    let verb = loop {
        match words.next()? {
            "--workspace" | "--socket" => {
                words.next();
            }
            option if option.starts_with('-') => {}
            verb => break verb,
        }
    };
    if let Some((_, instead)) = VERBS.iter().find(|(name, _)| *name == verb) {
        let what = format!("hippoctl has no verb `{verb}`");
        return Some(QmdRefusal { what, instead });
    }
    let flags = FLAGS.iter().filter(|(verbs, ..)| verbs.contains(&verb));
    let known: Vec<(&str, &'static str)> = flags
        .flat_map(|(_, names, instead)| names.iter().map(|name| (*name, *instead)))
        .collect();
    let given = words.take_while(|word| *word != "--").find_map(|word| {
        let name = word.split_once('=').map_or(word, |(name, _)| name);
        known.iter().find(|(known, _)| *known == name)
    });
    let (flag, instead) = given?;
    let what = format!("`{verb}` has no {flag}");
    Some(QmdRefusal { what, instead })
}

#[cfg(test)]
mod tests {
    use clap::{CommandFactory, Parser};

    use super::*;
    use crate::args::{Cli, Verb, in_their_places};

    /// Returns the rows of the table: a command line, its effect, and the message for it.
    fn rows() -> Vec<(Vec<OsString>, &'static str, &'static str)> {
        let document = include_str!("../../../../docs/qmd.md");
        let rows = document
            .lines()
            .filter_map(|line| line.strip_prefix("| `hippoctl "));
        let cells = rows.map(|row| {
            let (command, rest) = row.split_once("` | ").unwrap();
            let (verdict, said) = rest.trim_end_matches(" |").split_once(" | ").unwrap();
            let words = ["hippoctl"].into_iter().chain(command.split(' '));
            (words.map(OsString::from).collect(), verdict, said)
        });
        cells.collect()
    }

    #[test]
    fn each_row_of_the_qmd_table_states_the_actual_verdict() {
        let rows = rows();
        assert!(rows.len() > 30, "{}", rows.len());
        for (words, verdict, said) in &rows {
            let refused = refusal(words);
            let parsed = Cli::try_parse_from(in_their_places(&Cli::command(), words.clone()));
            match *verdict {
                "accepted" => assert!(refused.is_none() && parsed.is_ok(), "{words:?}: {refused:?}"),
                "refused" => {
                    let refused = refused.unwrap_or_else(|| panic!("{words:?}"));
                    assert_eq!(refused.instead, said.replace('`', ""), "{words:?}");
                }
                other => panic!("{words:?}: {other}"),
            }
        }
        let named = |name: &str| {
            rows.iter()
                .any(|(words, ..)| words.iter().any(|word| word == name))
        };
        for (verb, _) in VERBS {
            assert!(named(verb), "{verb} is not in the table");
        }
        for flag in FLAGS.iter().flat_map(|(_, names, _)| names.iter()) {
            assert!(named(flag), "{flag} is not in the table");
        }
        let command = Cli::command();
        for arg in command.find_subcommand("search").unwrap().get_arguments() {
            let Some(name) = arg
                .get_long()
                .filter(|_| arg.get_help_heading() == Some("Options that qmd also has"))
            else {
                continue;
            };
            assert!(named(&format!("--{name}")), "--{name} is not in the table");
        }
    }

    #[test]
    fn qmd_folders_and_formats_are_parsed() {
        let parse = |line: &str| match Cli::try_parse_from(line.split(' ')).unwrap().verb {
            Verb::Search(args) => args.qmd,
            _ => panic!("no search"),
        };
        assert_eq!(
            parse("hippoctl search x -c knowledge/").glob().unwrap(),
            "knowledge/**"
        );
        let two = parse("hippoctl search x -c memory -c qmd://plans --csv");
        assert_eq!(two.glob().unwrap(), "{memory,plans}/**");
        assert_eq!(two.wanted(), OutputFormat::Csv);
        assert_eq!(
            parse("hippoctl search x --format files").wanted(),
            OutputFormat::Files
        );
        assert_eq!(parse("hippoctl search x").wanted(), OutputFormat::Cli);
        for line in ["hippoctl search x --csv --xml", "hippoctl search x -n 3 --all"] {
            assert!(Cli::try_parse_from(line.split(' ')).is_err(), "{line}");
        }
        // An argument after `--` is text.
        let words = ["hippoctl", "search", "--", "--index"].map(OsString::from);
        assert!(refusal(&words).is_none());
    }
}
