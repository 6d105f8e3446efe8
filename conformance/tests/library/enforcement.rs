//! What holds of the specification as a whole, and of the repository: each test names the rule that it enforces.

mod imports;

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use gather_campaign::laws::LAWS;
use gather_conformance::builtin;
use gather_conformance::internals::check;
use gather_conformance::internals::judge::{Strictness, Verdict, judge};
use gather_spec::clause::ExampleKind;
use gather_spec::signature::OperandRole;
use gather_spec::{Allowed, ErrorCode, Profile, Specification};

/// The documented examples that laws stand for.
fn law_examples() -> Vec<&'static str> {
    LAWS.iter().filter_map(|law| law.example).collect()
}

fn spec() -> &'static Specification {
    crate::embedded()
}

/// The folders of the crates.
const CRATES: [&str; 8] = [
    "spec",
    "reference",
    "optimized",
    "conformance/core",
    "conformance/campaign",
    "conformance/strength",
    "conformance",
    "benches",
];

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap().to_owned()
}

#[test]
fn every_clause_has_a_case_that_accepts() {
    let spec = spec();
    let bare: Vec<&str> = spec
        .clauses
        .iter()
        .zip(spec.coverage())
        .filter(|(_, coverage)| coverage.accepting.is_empty())
        .map(|(clause, _)| clause.id.as_str())
        .collect();
    assert!(bare.is_empty(), "clauses without an accepting case: {bare:#?}");
}

#[test]
fn every_code_that_a_clause_rejects_with_has_a_case() {
    let spec = spec();
    let mut bare = Vec::new();
    for (clause, coverage) in spec.clauses.iter().zip(spec.coverage()) {
        let missing = clause.rejects.iter().filter(|code| !coverage.rejecting.contains_key(code));
        bare.extend(missing.map(|code| format!("{} ({code})", clause.id)));
    }
    assert!(bare.is_empty(), "clauses without a rejecting case: {bare:#?}");
}

#[test]
fn every_error_that_a_case_expects_is_a_breach_of_one_of_its_clauses() {
    let spec = spec();
    let mut strange = Vec::new();
    for case in crate::embedded_runs() {
        let breached = |code| {
            case.clauses.iter().filter_map(|id| spec.clause(id)).any(|clause| clause.rejects.contains(code))
        };
        for allowed in case.expect.allowed() {
            if let Allowed::Error(code, _) = allowed
                && !breached(code)
            {
                strange.push(format!("{} ({code})", case.id));
            }
        }
    }
    assert!(strange.is_empty(), "cases whose clauses do not reject with the code they expect: {strange:#?}");
}

#[test]
fn every_documented_example_is_transcribed_exactly_once() {
    let spec = spec();
    let mut transcribed: BTreeMap<&str, usize> = BTreeMap::new();
    for id in spec.cases.iter().filter_map(|case| case.documented.as_deref()).chain(law_examples()) {
        *transcribed.entry(id).or_default() += 1;
    }
    for example in &spec.examples {
        assert_eq!(transcribed.get(example.id.as_str()), Some(&1), "{}", example.id);
        assert_eq!(
            example.kind == ExampleKind::Law,
            law_examples().contains(&example.id.as_str()),
            "{}",
            example.id
        );
    }
    assert!(!transcribed.is_empty() && transcribed.len() == spec.examples.len(), "{transcribed:?}");
}

#[test]
fn laws_have_names_of_their_own_and_are_about_some_operator() {
    let spec = spec();
    let names: Vec<&str> = LAWS.iter().map(|law| law.name).collect();
    assert_eq!(names, check::LAWS, "known deviations are held to the list in core");
    let names: BTreeSet<&str> = names.into_iter().collect();
    assert_eq!(names.len(), LAWS.len());
    for law in LAWS {
        assert!(!law.statement.is_empty(), "{}", law.name);
        assert!(spec.operators.iter().any(|signature| law.is_about(signature)), "{}", law.name);
    }
}

#[test]
fn ids_are_unique() {
    let spec = spec();
    let ids: BTreeSet<&str> = spec.cases.iter().map(|case| case.id.as_str()).collect();
    assert_eq!(ids.len(), spec.cases.len());
}

#[test]
fn every_operator_has_a_page_a_document_and_cases() {
    let spec = spec();
    for page in &spec.operators {
        for id in &page.documents {
            assert!(spec.documents.iter().any(|document| document.id == *id), "{id}");
        }
        assert!(spec.cases.iter().any(|case| *case.operator() == page.operator), "{}", page.operator);
    }
}

#[test]
fn every_erratum_is_cited_and_concerns_known_documents() {
    let spec = spec();
    for erratum in &spec.errata {
        let cited = spec.clauses.iter().any(|clause| clause.errata.contains(&erratum.id));
        assert!(cited, "no clause cites the erratum {}", erratum.id);
        for id in &erratum.documents {
            assert!(spec.documents.iter().any(|document| document.id == *id), "{}: {id}", erratum.id);
        }
        for operator in &erratum.operators {
            assert!(spec.operator(operator.as_str()).is_some(), "{}: {operator}", erratum.id);
        }
    }
}

#[test]
fn built_in_backends_declare_the_dtypes_that_the_pages_list() {
    let spec = spec();
    for name in builtin::NAMES {
        let description = builtin::backend(name, Profile::default(), builtin::MAX_OUTPUT).unwrap().describe();
        for page in &spec.operators {
            let capability = &description.operators[page.operator.as_str()];
            let sorted = |dtypes: &[gather_spec::DType]| dtypes.iter().copied().collect::<BTreeSet<_>>();
            assert_eq!(
                sorted(&capability.dtypes),
                sorted(&page.operand(OperandRole::Params).dtypes),
                "{name}, {}",
                page.operator
            );
            assert_eq!(
                sorted(&capability.index_dtypes),
                sorted(&page.operand(OperandRole::Indices).dtypes),
                "{name}, {}",
                page.operator
            );
        }
    }
}

#[test]
fn built_in_backends_take_the_letter_of_the_page_where_a_ruling_tolerates_more() {
    for name in builtin::NAMES {
        let mut backend = builtin::backend(name, Profile::default(), builtin::MAX_OUTPUT).unwrap();
        for case in crate::embedded_runs() {
            let allowed = case.expect.under(Profile::default());
            // Where it is an output, it comes first.
            let letter = allowed.first().filter(|one| !matches!(one, Allowed::Shape(_)));
            if let (true, Some(letter)) = (allowed.len() > 1, letter) {
                let outcome = backend.call(&case.call);
                let judgement =
                    judge(std::slice::from_ref(letter), case.params(), &outcome, true, Strictness::Strict);
                assert_eq!(judgement.verdict, Verdict::Pass, "{name}, {}: {outcome:?}", case.id);
            }
        }
    }
}

#[test]
fn the_clauses_that_the_reference_names_exist_and_each_refusal_names_one() {
    let spec = spec();
    let prefixes: Vec<String> = spec.operators.iter().map(|page| format!("{}.", page.operator)).collect();
    let mut named = BTreeSet::new();
    for file in rust_files(&root().join("reference/src")) {
        let text = std::fs::read_to_string(&file).unwrap();
        let comments = text.lines().filter_map(|line| line.trim().strip_prefix("//"));
        for word in comments.flat_map(|line| line.split([' ', ',', ':'])) {
            let parts = prefixes.iter().find_map(|prefix| word.strip_prefix(prefix.as_str()));
            if parts.is_some_and(|rest| rest.split('.').count() == 2) {
                assert!(spec.clause(word).is_some(), "{} names {word}", file.display());
                named.insert(word.to_owned());
            }
        }
    }
    for page in &spec.operators {
        let own = |id: &&String| id.starts_with(&format!("{}.", page.operator));
        let codes =
            named.iter().filter(own).filter_map(|id| spec.clause(id)).flat_map(|clause| &clause.rejects);
        let codes: BTreeSet<_> = codes.collect();
        let given = spec.clauses.iter().filter(|clause| own(&&clause.id)).flat_map(|clause| &clause.rejects);
        let given: BTreeSet<_> = given.filter(|code| **code != ErrorCode::OutputTooLarge).collect();
        assert!(
            given.is_subset(&codes),
            "{}: {:?} are given without a clause",
            page.operator,
            given.difference(&codes)
        );
    }
}

#[test]
fn no_crate_depends_on_what_it_must_not_know() {
    let allowed: BTreeMap<&str, &[&str]> = BTreeMap::from([
        ("spec", &[][..]),
        ("reference", &["gather-spec"][..]),
        ("optimized", &["gather-spec"][..]),
        // Itself, with more features, for the examples of its documentation.
        (
            "conformance/core",
            &["gather-spec", "gather-reference", "gather-optimized", "gather-conformance"][..],
        ),
        (
            "conformance/campaign",
            &["gather-spec", "gather-reference", "gather-optimized", "gather-conformance"][..],
        ),
        ("conformance/strength", &["gather-spec", "gather-conformance", "gather-campaign"][..]),
        // The command `bench` times the workloads.
        (
            "conformance",
            &[
                "gather-spec",
                "gather-reference",
                "gather-optimized",
                "gather-conformance",
                "gather-campaign",
                "gather-strength",
                "gather-benches",
            ][..],
        ),
        ("benches", &["gather-spec", "gather-reference", "gather-optimized"][..]),
    ]);
    for (folder, may_know) in allowed {
        let manifest = std::fs::read_to_string(root().join(folder).join("Cargo.toml")).unwrap();
        let body =
            manifest.split("[package]").nth(1).and_then(|rest| rest.split_once('\n').map(|(_, rest)| rest));
        let named = body.unwrap_or_default().lines().filter_map(|line| line.split([' ', '.', '=']).next());
        let unknown: Vec<&str> =
            named.filter(|name| name.starts_with("gather-") && !may_know.contains(name)).collect();
        assert!(unknown.is_empty(), "{folder}/Cargo.toml depends on {unknown:?}");
    }
}

/// The crates that a crate pulls in, by name.
fn pulled(options: &str) -> BTreeSet<String> {
    let mut cargo = std::process::Command::new(env!("CARGO"));
    cargo.args("tree --locked --edges normal --prefix none --no-dedupe --package".split(' '));
    let output = cargo.args(options.split(' ')).current_dir(root()).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let tree = String::from_utf8(output.stdout).unwrap();
    tree.lines().filter_map(|line| line.split(' ').next()).map(str::to_owned).collect()
}

/// A crate that only gathers does not depend on what reads cases.
#[test]
fn the_fast_gather_pulls_no_yaml_and_few_crates() {
    let crates = pulled("gather-optimized");
    for own in ["gather-optimized", "gather-spec"] {
        assert!(crates.contains(own), "{crates:?}");
    }
    for reader in ["serde-saphyr", "annotate-snippets", "walkdir"] {
        assert!(!crates.contains(reader), "{reader}");
    }
    assert!(crates.len() <= 28, "{} crates: {crates:?}", crates.len());
}

/// A program that only uses the library does not depend on what the command line and the harness need.
#[test]
fn the_library_alone_pulls_no_command_line_and_few_crates() {
    let crates = pulled("gather-conformance");
    assert!(crates.contains("gather-conformance") && !crates.contains("clap"), "{crates:?}");
    assert!(crates.len() <= 60, "{} crates: {crates:?}", crates.len());
    assert!(pulled("gatherspec").contains("clap"));
}

#[test]
fn reference_and_optimized_never_name_each_other() {
    for (folder, other) in [("reference", "optimized"), ("optimized", "reference")] {
        for file in rust_files(&root().join(folder)) {
            let text = std::fs::read_to_string(&file).unwrap();
            let names = [format!("gather_{other}"), format!("gather-{other}")];
            assert!(
                !names.iter().any(|name| text.contains(name.as_str())),
                "{} names {other}",
                file.display()
            );
        }
    }
}

#[test]
fn unsafe_code_stands_only_in_kernels_buffers_and_the_c_boundary() {
    let allowed = [
        "optimized/src/kernels",
        "optimized/src/levels",
        "optimized/src/output",
        "conformance/src/native",
        "conformance/core/src/process/memory",
    ];
    for folder in CRATES {
        for file in rust_files(&root().join(folder).join("src")) {
            let relative = file.strip_prefix(root()).unwrap().to_string_lossy().into_owned();
            let text = std::fs::read_to_string(&file).unwrap();
            let has_unsafe = text.lines().any(|line| {
                let code = line.split("//").next().unwrap_or_default();
                code.contains("unsafe {") || code.contains("unsafe fn") || code.contains("unsafe impl")
            });
            let may = allowed.iter().any(|prefix| relative.starts_with(prefix));
            assert!(!has_unsafe || may, "{relative} holds unsafe code");
        }
    }
}

/// Whether a file of the sources may spell operators: their own files of the reference do, and so do tests.
fn may_spell_operators(relative: &str) -> bool {
    relative.starts_with("reference/") || relative.ends_with("/tests.rs")
}

#[test]
fn no_code_knows_an_operator_by_its_name() {
    let spec = spec();
    let mut spelled = Vec::new();
    for folder in CRATES {
        for file in rust_files(&root().join(folder).join("src")) {
            let relative = file.strip_prefix(root()).unwrap().to_string_lossy().into_owned();
            if may_spell_operators(&relative) {
                continue;
            }
            let text = std::fs::read_to_string(&file).unwrap();
            for literal in string_literals(without_tests(&text)) {
                let is_spelled = |signature: &gather_spec::Signature| {
                    let rest = literal.strip_prefix(signature.operator.as_str());
                    rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(['.', '/']))
                };
                if spec.operators.iter().any(is_spelled) {
                    spelled.push(format!("{relative}: {literal:?}"));
                }
            }
        }
    }
    assert!(spelled.is_empty(), "ask the signature instead: {spelled:#?}");
}

/// What is embedded must be in the package of its crate, which leaves out each folder that has a Cargo.toml of its own.
#[test]
fn each_embedded_file_is_in_the_package_of_its_crate() {
    let mut count = 0;
    for folder in CRATES {
        let of_crate = root().join(folder);
        let mut cargo = std::process::Command::new(env!("CARGO"));
        cargo.args(["package", "--list", "--allow-dirty", "--offline"]).current_dir(&of_crate);
        let listed = cargo.output().unwrap();
        let said = String::from_utf8_lossy(&listed.stderr).into_owned();
        let packed: BTreeSet<PathBuf> =
            String::from_utf8(listed.stdout).unwrap().lines().map(|path| of_crate.join(path)).collect();
        assert!(packed.contains(&of_crate.join("src/lib.rs")), "{folder}: {said}");
        for file in rust_files(&of_crate.join("src")) {
            let text = std::fs::read_to_string(&file).unwrap();
            let embedded =
                ["include_str!(\"", "include_bytes!(\""].iter().flat_map(|call| text.split(call).skip(1));
            for path in embedded.filter_map(|rest| rest.split('"').next()) {
                let whole = file.parent().unwrap().join(path).canonicalize().unwrap();
                assert!(
                    packed.contains(&whole),
                    "{} embeds {path}, which {folder} does not pack",
                    file.display()
                );
                count += 1;
            }
        }
    }
    assert!(count > 20, "{count}");
}

#[test]
fn literals_are_found_outside_comments_and_tests() {
    let text = "let a = \"tf.x\"; // \"no\"\n/// \"no\"\nlet b = ['\"', 'b', '\\'']; c(\"d\\\"e\", r#\"f\"g\"#);\n\
                #[cfg(test)]\nmod tests {\n \"no\" }\n";
    assert_eq!(string_literals(without_tests(text)), ["tf.x", "d\\\"e", "f\"g"]);
}

/// The text of a file before its tests, which stand at its end.
fn without_tests(text: &str) -> &str {
    text.split("#[cfg(test)]\nmod tests {").next().unwrap_or_default()
}

/// The string literals of some Rust, as they are written, outside comments.
fn string_literals(text: &str) -> Vec<String> {
    let (mut found, mut rest) = (Vec::new(), text);
    while let Some(at) = rest.find(['/', '\'', '"']) {
        let before = rest[..at].chars().rev();
        let hashes = before.clone().take_while(|char| *char == '#').count();
        let is_raw = before.clone().nth(hashes) == Some('r');
        let (mark, after) = rest[at..].split_at(1);
        rest = match mark {
            "/" if after.starts_with('/') => after.split_once('\n').map_or("", |(_, rest)| rest),
            "'" => after_char(after),
            "\"" => {
                let end = format!("\"{}", "#".repeat(hashes));
                let len = if is_raw { after.find(&end) } else { closing_quote(after) };
                let len = len.expect("a literal ends");
                found.push(after[..len].to_owned());
                &after[len + 1..]
            }
            _ => after,
        };
    }
    found
}

/// What follows the quote of a char, or of a lifetime.
fn after_char(after: &str) -> &str {
    let len = if after.starts_with('\\') { 2 } else { after.chars().next().map_or(0, char::len_utf8) };
    after.get(len..).and_then(|rest| rest.strip_prefix('\'')).unwrap_or(after)
}

/// Where the first quote stands that is not escaped.
fn closing_quote(text: &str) -> Option<usize> {
    let mut escaped = false;
    text.bytes().position(|byte| {
        let closes = byte == b'"' && !escaped;
        escaped = byte == b'\\' && !escaped;
        closes
    })
}

fn rust_files(folder: &Path) -> Vec<PathBuf> {
    let Ok(entries) = std::fs::read_dir(folder) else { return Vec::new() };
    let mut files = Vec::new();
    for path in entries.map(|entry| entry.unwrap().path()) {
        if path.is_dir() {
            files.extend(rust_files(&path));
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            files.push(path);
        }
    }
    files
}
