//! What does `hipocampus.config.json` say, and how is one written?

use super::Problem;
use super::json;
use super::platform::Platform;

pub use hippo_core::harness::FILE as CONFIG;

/// The keys of it that init understands. All others stay as they are.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Config {
    /// `platform`, where it is one that init knows.
    pub platform: Option<Platform>,
    /// `search.vector`
    pub vector: Option<bool>,
    /// `index.inPrompt`: whether the prompt begins with `HIPPOCAMPUS.md`.
    pub index_in_prompt: Option<bool>,
    /// `compaction.rootMaxTokens`
    pub root_max_tokens: Option<u64>,
}

impl Config {
    /// Reads a file.
    ///
    /// # Errors
    /// It is no JSON.
    pub fn read(bytes: &[u8]) -> Result<Self, Problem> {
        let problem = |what| Problem {
            path: CONFIG.to_owned(),
            what,
        };
        let root = json::parse(bytes).map_err(problem)?;
        let Some(root) = root.object_value() else {
            return Err(problem("it holds no object".to_owned()));
        };
        let flag = |section: &str, key: &str| -> Option<bool> {
            let value = root.object_value(section)?.get(key)?.value()?;
            value.as_boolean_lit().map(|value| value.value())
        };
        let tokens = || {
            let value = root.object_value("compaction")?.get("rootMaxTokens")?.value()?;
            value.as_number_lit()?.to_string().parse().ok()
        };
        let platform = root.get("platform").and_then(|platform| platform.value());
        let platform = platform.and_then(|value| value.as_string_lit()?.decoded_value().ok());
        Ok(Self {
            platform: platform.and_then(|name| clap::ValueEnum::from_str(&name, false).ok()),
            vector: flag("search", "vector"),
            index_in_prompt: flag("index", "inPrompt"),
            root_max_tokens: tokens(),
        })
    }

    /// A new file.
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
    use super::*;

    #[test]
    fn what_is_written_is_read_and_so_is_what_others_wrote() {
        let own = Config::read(Config::text(Platform::OpenCode, false).as_bytes()).unwrap();
        assert_eq!(
            (own.platform, own.vector),
            (Some(Platform::OpenCode), Some(false))
        );
        let theirs =
            "{ // ours\n \"platform\": \"vim\", \"index\": {\"inPrompt\": true}, \"tenants\": [1,] }";
        let theirs = Config::read(theirs.as_bytes()).unwrap();
        let expected = Config {
            index_in_prompt: Some(true),
            ..Config::default()
        };
        assert_eq!(theirs, expected);
        let torn = Config::read(b"{\n  \"platform\": \n").unwrap_err();
        assert!(torn.what.contains("line 3, column 1"), "{torn:?}");
        Config::read(b"[]").unwrap_err();
    }
}
