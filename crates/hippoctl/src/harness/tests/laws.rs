//! Property tests of init and its undo.
//!
//! For any combination of files, a second init changes nothing. Undo restores every byte and keeps the user's edits.

use jsonc_parser::cst::CstNode;
use proptest::prelude::*;
use proptest::sample::select;

use super::super::{json, splice::Splice};
use super::*;

fn platforms() -> impl Strategy<Value = Harness> {
    use Harness::*;
    select(&[ClaudeCode, OpenClaw, OpenCode, Codex, Pi, None][..])
}

const MARKDOWN: [&str; 11] = [
    "",
    "mine",
    "mine\n",
    "\n\n",
    "# Rules\r\n\r\n- mine\r\n",
    "one\r",
    "\u{feff}# Rules\n",
    "```\n<!-- hippod: root -->\nan example\n```\n",
    "```\nnever closed\n",
    "@memory/ROOT.md\n\n<!-- hippod: protocol for claude-code -->\nof an earlier time\n<!-- /hippod -->\nmine\n",
    "<!-- hippod: root -->\n<!-- /hippod -->\n\n<!-- hippod: sessions -->\n- x\n<!-- /hippod -->\n",
];
const JSON: [&str; 10] = [
    "",
    "{}",
    "{}\n",
    "{\n  \"a\": 1 // why\n}\n",
    "{\r\n\t\"hooks\": {\r\n\t\t\"PreCompact\": []\r\n\t}\r\n}\r\n",
    "{ /* mine */ \"hooks\": { \"SessionStart\": [ { \"matcher\": \"x\", \"hooks\": [ { \"type\": \"command\", \"command\": \"echo é\" }, ] }, ] }, }",
    "{\"hooks\":{\"SessionStart\":[{\"hooks\":[{\"type\":\"command\",\"command\":\"hippoctl hook session-start\"}]}]},\"instructions\":[\"./memory/ROOT.md\"]}",
    "{\n    \"instructions\": [\n        \"docs/*.md\"\n    ],\n    \"platform\": \"openclaw\"\n}",
    "// nothing but a comment\n",
    "{\n  \"mcpServers\": {\n    // mine\n    \"files\": { \"command\": \"files\", },\n  },\n}\n",
];
const TOML: [&str; 8] = [
    "",
    "model = \"o\" # mine\n",
    "[a]\r\nb = 1\r\n",
    "[hooks]\n# mine\n[[hooks.Stop]]\n[[hooks.Stop.hooks]]\ntype = \"command\"\ncommand = \"echo\"",
    "[mcp_servers.x]\ncommand = \"x\"\n\n\n",
    "# hippod: hooks\n# /hippod\n",
    "[mcp_servers.hippod]\ncommand = \"x\"",
    "mcp_servers = { x = { command = \"/opt/hippoctl\" } }\n",
];

/// Generates a workspace with any combination of files that users may have.
fn worlds() -> impl Strategy<Value = World> {
    let file = |path: &'static str, texts: &'static [&'static str]| {
        proptest::option::of(select(texts)).prop_map(move |text| text.map(|text| (path, text)))
    };
    let markdown = [
        "CLAUDE.md",
        "AGENTS.md",
        "MEMORY.md",
        "HEARTBEAT.md",
        ".gitignore",
    ]
    .map(|path| file(path, &MARKDOWN));
    let whole = [
        "SCRATCHPAD.md",
        "memory/ROOT.md",
        ".claude/skills/hippod-core/SKILL.md",
        "plans/a.md",
    ];
    let whole = whole.map(|path| file(path, &MARKDOWN[..3]));
    let json = [
        ".claude/settings.json",
        ".mcp.json",
        "opencode.json",
        ".codex/hooks.json",
    ];
    let json = json.map(|path| file(path, &JSON));
    let config = file(CONFIG, &JSON[1..4]);
    (
        markdown,
        whole,
        json,
        config,
        file(".codex/config.toml", &TOML),
        any::<bool>(),
    )
        .prop_map(|(markdown, whole, json, config, toml, full)| {
            let all = markdown.into_iter().chain(whole).chain(json);
            World {
                full,
                ..World::of(all.chain([config, toml]).flatten())
            }
        })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn init_followed_by_deinit_restores_every_byte(world in worlds(), one in platforms(), other in platforms()) {
        let mut now = world.clone();
        prop_assert!(now.init(one));
        for (path, bytes) in &world.files {
            let made = &now.files[path];
            // init inserts JSON entries into the content of a file. It appends any other text to the file, or puts the
            // text into an existing block.
            let within = path.ends_with(".json") || String::from_utf8_lossy(bytes).contains("hippod: ");
            prop_assert!(within || made.starts_with(bytes), "{}", path);
        }
        let once = now.clone();
        prop_assert!(!now.init(one), "a second init changed: {:?}", now.plan(one).changes);
        prop_assert_eq!(&now, &once);
        now.init(other);
        let both = now.clone();
        now.init(one);
        prop_assert!(!now.init(other) || now == both);
        now.deinit();
        prop_assert_eq!(now, world);
    }

    #[test]
    fn an_interrupted_init_can_be_finished_or_undone(
        world in worlds(), platform in platforms(), most in 0usize..40, other in platforms(),
    ) {
        let mut whole = world.clone();
        whole.init(platform);
        let mut cut = world.clone();
        cut.init_until(platform, most);
        let mut back = cut.clone();
        cut.init(platform);
        prop_assert_eq!(&cut, &whole);
        if most > 0 {
            back.deinit();
        }
        prop_assert_eq!(&back, &world);
        // Repeat the test with a second platform in the same folder.
        whole.init_until(other, most);
        whole.deinit();
        prop_assert_eq!(&whole, &world);
    }

    #[test]
    fn deinit_keeps_edits_by_the_user(world in worlds(), platform in platforms()) {
        let mut now = world.clone();
        now.init(platform);
        let made: Vec<String> = now.files.keys().cloned().collect();
        let mut expected = world.clone();
        for path in &made {
            let mine: &[u8] = match path.rsplit_once('.') {
                Some((_, "json")) if path.starts_with(".hippocampus") => continue,
                Some((_, "json" | "js")) => b"// changed\n",
                _ => b"# changed\n",
            };
            let edited = |bytes: &[u8]| [mine, bytes].concat();
            now.write(path, &edited(&now.files[path].clone()));
            if let Some(before) = world.files.get(path) {
                expected.write(path, &edited(before));
            }
        }
        now.deinit();
        for (path, bytes) in &expected.files {
            // Undo must restore the original text and keep the edits of the user.
            let (left, bytes) = (String::from_utf8_lossy(&now.files[path]), String::from_utf8_lossy(bytes));
            prop_assert_eq!(&left, &bytes, "{}", path);
        }
        for path in made.iter().filter(|path| !world.files.contains_key(*path)) {
            if let Some(left) = now.files.get(path) {
                let left = String::from_utf8_lossy(left);
                prop_assert!(left.contains("# changed") || left.contains("// changed"), "{}", path);
            }
        }
    }
}

/// Generates JSON as people write it, with comments, trailing commas and white space.
fn jsons() -> impl Strategy<Value = String> {
    let gap = || select(&["", "", " ", "\n  ", "\t", "\r\n", "/* a */", " // b\n"][..]);
    let key = || {
        select(
            &[
                "\"hooks\"",
                "\"SessionStart\"",
                "\"PreCompact\"",
                "\"a b\"",
                "\"\\u0061\"",
                "\"é\"",
            ][..],
        )
    };
    let leaf = select(
        &[
            "1",
            "-2.5e3",
            "true",
            "null",
            "\"x\"",
            "\"\\\"//\"",
            "{}",
            "[]",
            "[ ]",
        ][..],
    );
    let value = leaf
        .prop_map(str::to_owned)
        .prop_recursive(4, 24, 4, move |inner| {
            let field = (gap(), key(), gap(), gap(), inner.clone(), gap());
            let fields = proptest::collection::vec(field, 0..4);
            let object = (fields, any::<bool>(), gap()).prop_map(|(fields, comma, gap)| {
                let mut names = BTreeSet::new();
                let fields = fields.into_iter().filter(|field| names.insert(field.1));
                let all = fields.map(|(a, key, b, c, value, d)| format!("{a}{key}{b}:{c}{value}{d}"));
                closed("{", &all.collect::<Vec<_>>(), comma, gap, "}")
            });
            let item = (gap(), inner, gap()).prop_map(|(a, value, b)| format!("{a}{value}{b}"));
            let items = proptest::collection::vec(item, 0..4);
            let list = (items, any::<bool>(), gap())
                .prop_map(|(items, comma, gap)| closed("[", &items, comma, gap, "]"));
            prop_oneof![2 => object, 1 => list]
        });
    (gap(), value, gap()).prop_map(|(a, value, b)| format!("{a}{value}{b}"))
}

fn closed(open: &str, all: &[String], comma: bool, gap: &str, close: &str) -> String {
    let last = if comma && !all.is_empty() { "," } else { "" };
    format!("{open}{}{last}{gap}{close}", all.join(","))
}

/// Returns the content of a JSON text without white space, comments and trailing commas.
fn said(node: &CstNode) -> String {
    if let Some(object) = node.as_object() {
        let fields = object.properties();
        let fields = fields.iter().map(|field| {
            let value = field.value().map(|value| said(&value));
            format!("{}={}", field.decoded_name().unwrap(), value.unwrap())
        });
        return format!("{{{}}}", fields.collect::<Vec<_>>().join(","));
    }
    match node.as_array() {
        Some(list) => format!(
            "[{}]",
            list.elements().iter().map(said).collect::<Vec<_>>().join(",")
        ),
        None => node.to_string(),
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1500, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn json_entries_are_inserted_and_removed_without_other_changes(text in jsons()) {
        let edit = json::JsonInsertion::Hooks(&[("SessionStart", "hippoctl hook session-start"), ("PreCompact", "hippoctl hook pre-compact")]);
        let meaning = |bytes: &[u8]| json::parse(bytes).map(|root| said(&root.value().unwrap()));
        let before = meaning(text.as_bytes()).unwrap();
        if let Ok(entered) = json::enter(text.as_bytes(), &edit) {
            let (made, entered) = entered.expect("the file has no entries of hippod");
            let now = String::from_utf8(made.clone()).unwrap();
            for comment in ["/* a */", "// b"] {
                prop_assert_eq!(now.matches(comment).count(), text.matches(comment).count());
            }
            prop_assert_eq!(json::enter(&made, &edit), Ok(None), "a second insertion changes nothing");
            let splice = Splice::between(text.as_bytes(), &made).unwrap();
            prop_assert_eq!(splice.undo(&made), Some(text.clone().into_bytes()));
            let out = json::take_out(&made, &entered).unwrap();
            let out = meaning(&out).unwrap();
            // An object that hippod added is kept if the user wrote a comment into the object.
            prop_assert!(out == before || now.contains("/* a */") || now.contains("// b"), "{} became {}", text, out);
        }
    }
}
