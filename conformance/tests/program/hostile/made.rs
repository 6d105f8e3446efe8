//! Run files that cannot be checked in: huge, binary, or with bytes that tools like to change.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

/// A file by name and content.
pub(crate) type Made = (&'static str, fn() -> Vec<u8>);

/// The name of a topic and its files.
pub(crate) type Topic = (&'static str, &'static [Made]);

/// Files that are refused.
pub(crate) const REFUSED: &[Topic] = &[("bytes", BYTES), ("deep", DEEP), ("long", LONG), ("many", MANY)];

/// Bytes that are no plain text.
const BYTES: &[Made] = &[
    ("empty", Vec::new),
    ("white-space", || b" \n\n  \n".to_vec()),
    ("byte-order-mark-alone", || b"\xEF\xBB\xBF".to_vec()),
    ("invalid-utf-8", || bytes("i32", b"[[1, 2]]").with(b"name: a", b"name: \xE4a")),
    ("utf-16", || "schema: 1\n".encode_utf16().flat_map(u16::to_le_bytes).collect()),
    ("nul-in-a-string", || bytes("string", b"[\"a\0b\", ~]")),
    ("nul-in-a-number", || bytes("i32", b"[1\0]")),
    ("bell-in-a-number", || bytes("i32", b"[\"1\x07\"]")),
    ("escape-sequence-in-a-name", || bytes("i32", b"[1]").with(b"name: a", b"name: \"\x1b[31ma\"")),
    ("direction-mark-in-a-name", || bytes("i32", b"[1]").with(b"name: a", "name: \u{202e}a".as_bytes())),
    ("carriage-returns-and-a-fault", || ended_by("\r\n", "[1, two]")),
    ("carriage-returns-alone-and-a-fault", || ended_by("\r", "[1, two]")),
    ("byte-order-mark-and-a-fault", || [b"\xEF\xBB\xBF".to_vec(), b"shema: 1\n".to_vec()].concat()),
];

/// Brackets, dashes and aliases inside each other.
const DEEP: &[Made] = &[
    ("nested-10000-deep-in-brackets", || data("i32", &nested(10_000, "1"))),
    ("nested-10000-deep-by-dashes", || {
        let block = format!("\n        dtype: i32\n        data:\n          {}1", "- ".repeat(10_000));
        data("i32", "").with(b"{ dtype: i32, data:  }", block.as_bytes())
    }),
    ("nested-70-deep", || data("i32", &nested(70, "1"))),
    ("brackets-opened-8-million-times", || b"[".repeat(8 << 20)),
    ("braces-opened-8-million-times", || b"{".repeat(8 << 20)),
    ("aliases-that-nest", || data("u8", &format!("[\n{}      ]", alias_chain(70, 40)))),
];

/// Names, tokens and lines.
const LONG: &[Made] = &[
    ("name-of-10000-characters", || {
        bytes("i32", b"[1]").with(b"name: a", &[b"name: ", &[b'a'; 10_000][..]].concat())
    }),
    ("bad-name-of-10000-characters", || {
        bytes("i32", b"[1]").with(b"name: a", &[b"name: ", &[b'A'; 10_000][..]].concat())
    }),
    ("comment-of-8-megabytes", || [&b"#"[..], &b"x".repeat(8_000_000)].concat()),
    ("quote-of-8-megabytes", || [&b"schema: \""[..], &b"x".repeat(8_000_000)].concat()),
    ("key-of-5-megabytes", || [&b"? "[..], &b"x".repeat(5_000_000), b"\n: 1\n"].concat()),
    ("line-of-5-megabytes-of-numbers", || data("u8", &format!("[{}1]", "1,".repeat(2_500_000)))),
    ("line-of-5-megabytes-of-text", || data("u8", &format!("[{}]", "x".repeat(5_000_000)))),
    ("fault-after-700000-characters", || data("u8", &format!("[{}oops]", "1, ".repeat(240_000)))),
    ("integer-of-a-million-digits", || data("i64", &format!("[{}]", "3".repeat(1_000_000)))),
    ("exponent-of-a-million-digits", || data("f64", &format!("[1e{}]", "9".repeat(1_000_000)))),
    ("hexadecimal-of-a-million-digits", || {
        bytes("f32", &[]).with(b"data: ", format!("bits: [0x{}]", "f".repeat(1_000_000)).as_bytes())
    }),
    ("tabs-8-million", || b"\t".repeat(8 << 20)),
];

/// Elements, dims, cases and faults.
const MANY: &[Made] = &[
    ("dashes-8-million", || b"-\n".repeat(4 << 20)),
    ("colons-8-million", || b"a: ".repeat(2 << 20)),
    ("shape-of-100000-dims", || shaped("u8", &format!("[{}1]", "1, ".repeat(100_000)), "zeros")),
    ("iota-of-16-million-strings", || shaped("string", "[16777216]", "iota")),
    ("iota-of-16-million-complex-numbers", || shaped("c128", "[16777216]", "iota")),
    ("faults-15000", || many(15_000, "{ dtype: none, data: [1] }", "")),
    ("cases-93600", || {
        many(
            7_800,
            "{ data: [1] }",
            "    for-each: { params-dtype: [u8, u16, u32, u64, i8, i16, i32, i64, f16, bf16, f32, f64] }\n",
        )
    }),
    ("attributes-60000", || {
        let many: String = (0..60_000).map(|i| format!("a{i}: 1, ")).collect();
        let line = format!("    attributes: {{ {many} }}\n    operands");
        bytes("u8", b"[1]").with(b"    operands", line.as_bytes())
    }),
    ("anchors-100000", || {
        data("u8", &format!("[{}1]", (0..100_000).map(|i| format!("&a{i} 1, ")).collect::<String>()))
    }),
];

/// Files that are accepted, whatever their line ends and byte order mark.
pub(crate) const ACCEPTED: Topic = (
    "accepted",
    &[
        ("byte-order-mark", || [b"\xEF\xBB\xBF".to_vec(), bytes("i32", b"[1]")].concat()),
        ("carriage-returns", || ended_by("\r\n", "[1]")),
        ("no-line-end", || bytes("i32", b"[1]").trim_ascii_end().to_vec()),
        ("number-of-a-million-digits", || data("f16", &format!("[0.{}]", "3".repeat(1_000_000)))),
        ("64-dims", || data("i32", &nested(64, "1"))),
        ("iota-of-16-million-floats", || shaped("f32", "[16777215]", "iota")),
        ("iota-of-a-million-strings", || shaped("string", "[1000000]", "iota")),
    ],
);

/// Writes the files of a topic as TOPIC/NAME.yaml, and returns their paths in the order of the topic.
pub(crate) fn write((topic, files): Topic, dir: &Path) -> io::Result<Vec<PathBuf>> {
    let folder = dir.join(topic);
    fs::create_dir_all(&folder)?;
    let write = |(name, content): &Made| {
        let path = folder.join(format!("{name}.yaml"));
        fs::write(&path, content()).map(|()| path)
    };
    files.iter().map(write).collect()
}

/// Writes a file of 100 MB that is a single hole.
pub(crate) fn write_hundred_megabytes(dir: &Path) -> io::Result<PathBuf> {
    let path = dir.join("hundred-megabytes.yaml");
    File::create(&path)?.set_len(100_000_000)?;
    Ok(path)
}

/// A file whose one case has this as the data of params.
fn data(dtype: &str, data: &str) -> Vec<u8> {
    bytes(dtype, data.as_bytes())
}

fn bytes(dtype: &str, data: &[u8]) -> Vec<u8> {
    let head =
        "schema: 2\noperator: tf.gather_nd\ncases:\n  - name: a\n    clauses: [tf.gather_nd.shape.slices]\n";
    let params = format!("    operands:\n      params: {{ dtype: {dtype}, data: ");
    let rest = " }\n      indices: { dtype: i32, data: [0] }\n    expect: unspecified\n";
    [head.as_bytes(), params.as_bytes(), data, rest.as_bytes()].concat()
}

fn shaped(dtype: &str, shape: &str, fill: &str) -> Vec<u8> {
    bytes(dtype, b"").with(b"data: ", format!("shape: {shape}, fill: {fill}").as_bytes())
}

fn ended_by(end: &str, params: &str) -> Vec<u8> {
    let text = String::from_utf8(data("i32", params)).expect("plain text");
    text.replace('\n', end).into_bytes()
}

fn nested(depth: usize, inner: &str) -> String {
    format!("{}{inner}{}", "[".repeat(depth), "]".repeat(depth))
}

/// Anchors each of which holds the one before it, `depth` brackets deeper.
fn alias_chain(depth: usize, length: usize) -> String {
    let link = |i: usize| format!("        &a{} {},\n", i + 1, nested(depth, &format!("*a{i}")));
    format!("        &a0 [1],\n{}", (0..length).map(link).collect::<String>())
}

fn many(count: usize, params: &str, extra: &str) -> Vec<u8> {
    let one = |i: usize| {
        format!(
            "  - name: c{i}\n    clauses: [tf.gather_nd.shape.slices]\n{extra}    operands:\n      params: {params}\n      indices: {{ dtype: i32, data: [0] }}\n    expect: unspecified\n"
        )
    };
    let cases: String = (0..count).map(one).collect();
    format!("schema: 2\noperator: tf.gather_nd\ncases:\n{cases}").into_bytes()
}

trait With {
    /// Puts `to` in place of the first `from`.
    fn with(self, from: &[u8], to: &[u8]) -> Vec<u8>;
}

impl With for Vec<u8> {
    fn with(self, from: &[u8], to: &[u8]) -> Vec<u8> {
        let at = self.windows(from.len()).position(|window| window == from).expect("what is to be replaced");
        [&self[..at], to, &self[at + from.len()..]].concat()
    }
}
