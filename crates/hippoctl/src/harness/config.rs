//! Reading and creation of `hipocampus.config.json`.

use super::Problem;
use super::platform::Platform;

pub use hippo_fs::harness::FILE as CONFIG;

/// The keys that determine the layout. All other keys of the file are left unchanged.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Config {
    /// `platform`
    pub platform: Option<Platform>,
    /// `index.inPrompt`: true if the prompt begins with `HIPPOCAMPUS.md`.
    pub index_in_prompt: Option<bool>,
}

impl Config {
    /// Reads the configuration. Also returns the problems with invalid values.
    pub fn read(bytes: &[u8]) -> (Self, Vec<Problem>) {
        let (said, misfits) = hippo_fs::harness::read(bytes);
        let problems = misfits.iter().map(|misfit| Problem {
            path: CONFIG.to_owned(),
            what: misfit.to_string(),
        });
        let platform = said
            .platform
            .and_then(|name| clap::ValueEnum::from_str(&name, false).ok());
        let config = Self {
            platform,
            index_in_prompt: said.index_in_prompt,
        };
        (config, problems.collect())
    }

    /// Returns the text of a new configuration file.
    pub fn text(platform: Platform, vector: bool) -> String {
        let platform = platform.name();
        format!(
            r#"{{
  "platform": "{platform}",
  "search": {{
    "vector": {vector},
    "embedModel": "auto"
  }},
  "compaction": {{
    "rootMaxTokens": 3000,
    "cooldownHours": 3
  }}
}}
"#
        )
    }
}

#[cfg(test)]
mod tests {
    use clap::ValueEnum as _;

    use super::*;

    #[test]
    fn what_is_written_is_read_and_so_is_what_others_wrote() {
        let text = Config::text(Platform::OpenCode, false);
        let (own, problems) = Config::read(text.as_bytes());
        assert_eq!((own.platform, problems), (Some(Platform::OpenCode), vec![]));
        let (said, _) = hippo_fs::harness::read(text.as_bytes());
        assert_eq!((said.vector, said.root_max_tokens), (Some(false), Some(3_000)));
        let theirs = "{ // ours\n \"index\": {\"inPrompt\": true}, \"tenants\": [1,] }";
        let expected = Config {
            index_in_prompt: Some(true),
            ..Config::default()
        };
        assert_eq!(Config::read(theirs.as_bytes()), (expected, vec![]));
        for (bad, what) in [
            ("{\n  \"platform\": \n", "line 3, column 1"),
            (
                "{\n  \"platform\": \"vim\"}",
                "line 2, column 15: platform is \"vim\"",
            ),
            ("[]", "expected an object"),
        ] {
            let (config, problems) = Config::read(bad.as_bytes());
            assert_eq!(config, Config::default(), "{bad}");
            assert!(problems[0].what.contains(what), "{problems:?}");
        }
    }

    #[test]
    fn platforms_are_called_the_same_wherever_they_are_named() {
        let names = Platform::value_variants().iter().map(|platform| platform.name());
        assert_eq!(names.collect::<Vec<_>>(), hippo_fs::harness::PLATFORMS);
    }
}
