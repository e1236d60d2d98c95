//! Benchmarks of redaction in ordinary text and in worst-case lines.

use divan::counter::BytesCount;
use divan::{Bencher, black_box};
use hippo_redact::redact;

/// Length of a line in bytes.
const LENGTH: usize = 1 << 20;

fn main() {
    divan::main();
}

#[divan::bench(args = [
    "User: the pump in the cellar failed, see notes/cellar.md for the key points and the token budget. ",
    "DB_PASSWORD=Zx81kQ9d api_key: 3f2a9c1d0b4e5f60718293a4b5c6d7e8 ",
    "key", "key=", "apikey=", "password is ", "token token ", "密码：", "passphrase=aaa-", "://", "a://b:c", "sk-", "eyJ",
    "-----BEGIN RSA PRIVATE KEY-----", " is the key", "secret=\"", "pw:$", "a",
])]
fn a_megabyte(bencher: Bencher<'_, '_>, unit: &str) {
    let text = unit.repeat(LENGTH / unit.len());
    bencher
        .counter(BytesCount::of_str(&text))
        .bench(|| redact(black_box(&text)).len());
}
