//! Reading and creation of `hipocampus.config.json`.

use super::PathReason;
use super::platform::Harness;

pub use hippo_fs::harness::FILE as CONFIG;

/// The settings that determine the layout: keys of `hipocampus.config.json`, and an option of `init`.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct LayoutConfig {
    /// `platform`: the name of the harness.
    pub platform: Option<Harness>,
    /// `index.inPrompt`: true if the prompt begins with `HIPPOCAMPUS.md`.
    pub index_in_prompt: Option<bool>,
    /// `--full`: true if `init` also installs the working files of the agent.
    pub full: bool,
}

impl LayoutConfig {
    /// Parses a configuration file. Also returns the list of invalid values.
    pub fn read(bytes: &[u8]) -> (Self, Vec<PathReason>) {
        let (settings, invalid) = hippo_fs::harness::read(bytes);
        let platform = settings
            .platform
            .and_then(|name| clap::ValueEnum::from_str(&name, false).ok());
        let config = Self {
            platform,
            index_in_prompt: settings.index_in_prompt,
            full: false,
        };
        let problems = invalid
            .into_iter()
            .map(|invalid| PathReason::new(CONFIG, invalid));
        (config, problems.collect())
    }

    /// Returns the text of a new configuration file.
    pub fn text(platform: Harness) -> String {
        let platform = platform.name();
        format!("{{\n  \"platform\": \"{platform}\"\n}}\n")
    }
}

#[cfg(test)]
mod tests {
    use clap::ValueEnum as _;

    use super::*;

    #[test]
    fn own_and_foreign_configurations_are_parsed() {
        let text = LayoutConfig::text(Harness::OpenCode);
        let (own, problems) = LayoutConfig::read(text.as_bytes());
        assert_eq!((own.platform, problems), (Some(Harness::OpenCode), vec![]));
        let theirs = "{ // ours\n \"index\": {\"inPrompt\": true}, \"tenants\": [1,] }";
        let expected = LayoutConfig {
            index_in_prompt: Some(true),
            ..LayoutConfig::default()
        };
        assert_eq!(LayoutConfig::read(theirs.as_bytes()), (expected, vec![]));
        for (bad, what) in [
            ("{\n  \"platform\": \n", "on line 3 column 1"),
            ("{\n  \"platform\": \"vim\"}", "platform is \"vim\""),
            ("[]", "expected an object"),
        ] {
            let (config, problems) = LayoutConfig::read(bad.as_bytes());
            assert_eq!(config, LayoutConfig::default(), "{bad}");
            assert!(problems[0].why.contains(what), "{problems:?}");
        }
    }

    #[test]
    fn platform_names_match_those_of_the_core() {
        let names = Harness::value_variants().iter().map(|platform| platform.name());
        assert_eq!(names.collect::<Vec<_>>(), hippo_fs::harness::PLATFORMS);
    }
}
