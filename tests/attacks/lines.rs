//! Mutated requests of every method, and misbehaving connections.

use std::collections::BTreeMap;
use std::path::Path;

use hippo_proto::METHODS;
use hippod_tests::{Daemon, Dice, Raw, Scratch, begun};
use serde_json::{Map, Value, json};

use crate::scale::{Cases, attack};

/// Methods that stop the daemon or use the network.
const LEFT_OUT: [&str; 2] = ["shutdown", "model.pull"];
/// Number of requests per case.
const LINES: usize = 250;
/// Texts that parsers often handle incorrectly.
const TEXTS: [&str; 24] = [
    "",
    " ",
    ".",
    "..",
    "../../etc/passwd",
    "/",
    "/dev/zero",
    "/proc/self/environ",
    "\u{0}",
    "a\u{0}b",
    "\u{202e}x",
    "2026-03-02",
    "-1",
    "NaN",
    "2026-W60",
    "b3:7d1f0c2a9e7b",
    "ctx_1",
    "light",
    "💣",
    "\n## x\n",
    "<!-- -->",
    "% %s $(x) `x`",
    "CON",
    "memory/../memory/../MEMORY.md",
];
const NUMBERS: [&str; 12] = [
    "0",
    "-0",
    "1",
    "-1",
    "1e3",
    "0.5",
    "1e308",
    "18446744073709551616",
    "-9223372036854775809",
    "4294967296",
    "1e-320",
    "99999999999999999999999",
];

/// Reads the parameters of each method from the committed schema.
fn parameters() -> BTreeMap<String, Vec<(String, Value)>> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/schema/protocol.schema.json");
    let schema: Value = serde_json::from_slice(&std::fs::read(path).unwrap()).unwrap();
    let resolve = |value: &Value| match value["$ref"].as_str() {
        Some(name) => schema.pointer(name.trim_start_matches('#')).unwrap().clone(),
        None => value.clone(),
    };
    let methods = resolve(&schema["properties"]["methods"]);
    let of_method = |method: &&&str| {
        let method = **method;
        let params = resolve(&resolve(&methods["properties"][method])["properties"]["params"]);
        let fields = params["properties"].as_object().cloned().unwrap_or_default();
        (
            method.to_owned(),
            fields
                .into_iter()
                .map(|(name, value)| (name, resolve(&value)))
                .collect(),
        )
    };
    METHODS
        .iter()
        .filter(|method| !LEFT_OUT.contains(method))
        .map(|method| of_method(&method))
        .collect()
}

/// A workspace with entries and sessions, to which the requests can refer.
struct Target {
    root: String,
    beside: String,
    parameters: BTreeMap<String, Vec<(String, Value)>>,
    methods: Vec<String>,
}

impl Target {
    fn new(scratch: &Scratch) -> Self {
        let parameters = parameters();
        Self {
            root: scratch.workspace().display().to_string(),
            beside: scratch.beside("beside").display().to_string(),
            methods: parameters.keys().cloned().collect(),
            parameters,
        }
    }

    /// Returns a random request. Most of these requests are valid.
    fn request(&self, dice: &mut Dice, id: usize) -> Vec<u8> {
        let method = dice.one_of(&self.methods);
        let mut params = Map::new();
        for (name, schema) in &self.parameters[method] {
            if dice.below(3) > 0 {
                params.insert(name.clone(), self.value(dice, name, schema));
            }
        }
        if dice.below(20) == 0 {
            params.insert("unknown".to_owned(), json!(1));
        }
        let request = json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params});
        let mut line = request.to_string();
        if dice.below(8) == 0 {
            line = line.replace(":1", &format!(":{}", dice.one_of::<&str>(&NUMBERS)));
        }
        let mut bytes = line.into_bytes();
        if dice.below(3) == 0 {
            mutate(dice, &mut bytes);
        }
        bytes.retain(|byte| *byte != b'\n');
        bytes.push(b'\n');
        bytes
    }

    fn value(&self, dice: &mut Dice, name: &str, schema: &Value) -> Value {
        match (dice.below(12), name) {
            (0, _) => odd(dice, 3),
            (1, _) => json!(dice.one_of(&TEXTS)),
            // The daemon writes to these paths, so they must be in the scratch folder.
            (_, "to" | "into" | "from") => json!(format!("{}/{}", self.beside, dice.below(4))),
            (_, "workspace") => json!(self.root),
            (_, "path") => json!(["MEMORY.md", "memory", "/nonexistent"][dice.below(3)]),
            (_, "session") => json!(format!("s{}", dice.below(4))),
            _ => of_type(dice, schema),
        }
    }
}

/// Returns a random value. Most of these values have the type in the schema.
fn of_type(dice: &mut Dice, schema: &Value) -> Value {
    let mut types: Vec<&str> = schema["type"].as_str().into_iter().collect();
    types.extend(
        schema["type"]
            .as_array()
            .into_iter()
            .flatten()
            .filter_map(Value::as_str),
    );
    if let Some(words) = schema["enum"].as_array() {
        return dice.one_of(words).clone();
    }
    match types.first() {
        Some(&"boolean") => json!(dice.below(2) == 0),
        Some(&"integer" | &"number") => json!(dice.below(5)),
        Some(&"array") => json!([odd(dice, 2)]),
        Some(&"object") => json!({"type": "exec", "ref": "ls"}),
        _ => json!("the blue pump"),
    }
}

/// Returns a random JSON value of any type.
fn odd(dice: &mut Dice, depth: usize) -> Value {
    match dice.below(if depth == 0 { 5 } else { 8 }) {
        0 => Value::Null,
        1 => json!(dice.below(2) == 0),
        2 => serde_json::from_str(dice.one_of::<&str>(&NUMBERS)).unwrap_or(Value::Null),
        3 => json!(dice.one_of(&TEXTS)),
        4 => json!("x".repeat(1 << dice.below(17))),
        5 => (0..dice.below(4)).map(|_| odd(dice, depth - 1)).collect(),
        6 => (0..dice.below(4))
            .map(|at| (at.to_string(), odd(dice, depth - 1)))
            .collect::<Map<_, _>>()
            .into(),
        _ => (0..200).fold(json!(1), |inner, _| json!([inner])),
    }
}

/// Changes, removes, duplicates or inserts a few bytes.
fn mutate(dice: &mut Dice, bytes: &mut Vec<u8>) {
    for _ in 0..1 + dice.below(4) {
        let at = dice.below(bytes.len().max(1));
        let end = (at + 1 + dice.below(8)).min(bytes.len());
        match dice.below(4) {
            _ if bytes.is_empty() => return,
            0 => bytes[at] = u8::try_from(dice.below(256)).unwrap(),
            1 => drop(bytes.drain(at..end)),
            2 => {
                let again = bytes[at..end].repeat(1 + dice.below(30));
                bytes.splice(at..at, again);
            }
            _ => bytes.insert(at, *dice.one_of(b"{}[]\",:\\0e\xff")),
        }
    }
}

/// Sends requests, and asserts that each request gets exactly one answer.
fn converse(daemon: &Daemon, target: &Target, dice: &mut Dice) -> usize {
    let mut raw = daemon.raw();
    let lines: Vec<Vec<u8>> = (0..LINES).map(|id| target.request(dice, id)).collect();
    for some in lines.chunks(50) {
        assert!(
            raw.send(&some.concat()),
            "the connection is closed: {}",
            daemon.log()
        );
        let expected = some.iter().filter(|line| !is_blank(line)).count();
        let mut answered = 0;
        while answered < expected {
            let answer = raw
                .line()
                .unwrap_or_else(|| panic!("{answered} answers of {expected}"));
            answered += usize::from(answer.get("id").is_some());
        }
    }
    LINES
}

fn is_blank(line: &[u8]) -> bool {
    line.iter()
        .all(|byte| matches!(byte, b' ' | b'\t' | b'\r' | b'\n'))
}

/// Opens connections that disconnect early, send nothing, never read, or request large answers.
fn be_rude(daemon: &Daemon, target: &Target, dice: &mut Dice, held: &mut Vec<Raw>) -> usize {
    let mut raw = daemon.raw();
    let ask = |id: usize| {
        let request = json!({"jsonrpc": "2.0", "id": id, "method": "search", "params": {"workspace": target.root, "query": "pump"}});
        format!("{request}\n").into_bytes()
    };
    match dice.below(6) {
        0 => drop(raw.send(&ask(1)[..20])),
        1 => drop(raw.send(&[ask(1), ask(2)].concat())),
        2 => {
            raw.send(&ask(1));
            raw.finish_writing();
            let rest = raw.rest();
            assert!(rest.contains("\"result\""), "half closed: {rest}");
            return 1;
        }
        3 => held.push(raw),
        4 => {
            raw.send(&(0..40).flat_map(ask).collect::<Vec<u8>>());
            held.push(raw);
        }
        _ => {
            raw.send(&vec![b'x'; 1 << (10 + dice.below(13))]);
            held.push(raw);
        }
    }
    1
}

fn assert_lives(daemon: &mut Daemon, target: &Target) {
    assert!(daemon.is_alive(), "the daemon died: {}", daemon.log());
    assert!(!daemon.log().contains("panicked"), "{}", daemon.log());
    let mut client = daemon.client();
    client.index(Path::new(&target.root));
    assert!(client.status().pid > 0);
}

#[test]
fn every_mutated_request_is_answered() {
    let (scratch, daemon, _client) = begun();
    let target = Target::new(&scratch);
    let daemon = std::sync::Mutex::new(daemon);
    attack("lines", Cases::Drawn(16), |dice, _| {
        let mut daemon = daemon.lock().unwrap();
        let tried = converse(&daemon, &target, dice);
        assert_lives(&mut daemon, &target);
        tried
    });
}

#[test]
fn misbehaving_connections_block_no_other_client() {
    let (scratch, daemon, _client) = begun();
    let target = Target::new(&scratch);
    let daemon = std::sync::Mutex::new(daemon);
    attack("clients", Cases::Drawn(8), |dice, _| {
        let mut daemon = daemon.lock().unwrap();
        let mut held = Vec::new();
        let tried = (0..60).map(|_| be_rude(&daemon, &target, dice, &mut held)).sum();
        assert_lives(&mut daemon, &target);
        tried
    });
}
