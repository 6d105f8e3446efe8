//! Saves a shrunk failure as self-contained case files: an id derived from the content, suggested clauses, the seed, and
//! a command line that repeats it.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::io::{self, Read as _};
use std::path::Path;

use gather_spec::{Call, ErrorCode, Operator, Outcome, Specification, Variant};
use sha2::{Digest, Sha256};

use gather_conformance::internals::files::open_regular;
use gather_conformance::internals::reproduction::Reproduction;
use gather_conformance::internals::words::call_line;

use super::expect::reference;
use super::report::{ShrunkExample, cannot_write};
use super::worker::FailingCase;
use super::yaml;
use gather_conformance::internals::check::{CallRequest, CallSettings, Key};

/// What each file of an example says near its beginning, and how much of the file to search for it, in bytes.
const FOUND: &str = "# Found by `gatherspec fuzz`, case ";
const BEGINNING: u64 = 64 << 10;

/// Removes the files of examples in a folder, and leaves everything else.
///
/// # Errors
/// The first file that cannot be removed, and why.
pub fn remove_examples(folder: &Path) -> io::Result<()> {
    let is_example = |path: &Path| {
        let mut bytes = Vec::new();
        let read = open_regular(path).and_then(|file| file.take(BEGINNING).read_to_end(&mut bytes));
        read.is_ok() && String::from_utf8_lossy(&bytes).contains(FOUND)
    };
    for file in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        let is_file = file.file_type().is_ok_and(|kind| kind.is_file());
        let path = file.path();
        if is_file && path.extension().is_some_and(|extension| extension == "yaml") && is_example(&path) {
            std::fs::remove_file(&path).map_err(|error| cannot_write(&path, &error))?;
        }
    }
    Ok(())
}

/// The most clauses to suggest for an outcome.
const CLAUSES: usize = 3;

/// The longest case text to print in full, in bytes.
const LONGEST_TEXT: usize = 8 << 10;

/// Describes examples, and writes them if it has a folder.
#[derive(Clone, Copy, Debug)]
pub struct Saver<'a> {
    /// For suggesting clauses.
    pub spec: &'a Specification,
    /// The folder for case files, if they are wanted.
    pub folder: Option<&'a Path>,
    /// For the command lines that repeat an example.
    pub reproduction: &'a Reproduction,
}

impl Saver<'_> {
    /// Describes a failure, and writes its case files if there is a folder.
    pub(super) fn save(
        &self,
        small: &FailingCase,
        key: &Key,
        seed: u64,
        case: u64,
    ) -> io::Result<ShrunkExample> {
        let unsteady = || "it did not fail again".to_owned();
        let broken = small.broken.as_ref();
        let mut example = ShrunkExample {
            draws: small.draws.clone(),
            calls: small.requests.iter().map(|request| call_line(&request.call)).collect(),
            expected: broken.map_or_else(unsteady, |broken| broken.expected.clone()),
            actual: broken.map_or_else(unsteady, |broken| broken.actual.clone()),
            difference: broken.and_then(|broken| broken.difference.clone()),
            clauses: small
                .requests
                .first()
                .map(|first| self.clauses(&first.call))
                .into_iter()
                .flatten()
                .map(str::to_owned)
                .collect(),
            files: Vec::new(),
            replay: Vec::new(),
        };
        let mut by_operator: BTreeMap<&Operator, Vec<&CallRequest>> = BTreeMap::new();
        for request in &small.requests {
            by_operator.entry(&request.call.operator).or_default().push(request);
        }
        for (operator, requests) in by_operator {
            let file = self.file(operator, &requests, key, seed, case);
            let settings = requests[0].settings;
            // Calls that cannot have some value of it are made without.
            let variant = requests.iter().map(|request| &request.call.variant);
            let variant = variant.max_by_key(|variant| variant.iter().len()).expect("there is a request");
            let Some(folder) = self.folder else {
                example.replay.push(self.replay_text(&file.text, settings, variant));
                continue;
            };
            let path = folder.join(&file.name);
            let replay = self.replay(&path, settings, variant);
            let text = format!("# {replay}\n{}", file.text);
            std::fs::create_dir_all(folder)
                .and_then(|()| gather_conformance::internals::files::write_whole(&path, text.as_bytes()))
                .map_err(|error| cannot_write(&path, &error))?;
            example.files.push(file.name);
            example.replay.push(replay);
        }
        Ok(example)
    }

    fn file(
        &self,
        operator: &Operator,
        requests: &[&CallRequest],
        key: &Key,
        seed: u64,
        case: u64,
    ) -> CaseFileText {
        let mut cases: BTreeMap<String, String> = BTreeMap::new();
        for request in requests {
            let (name, text) = self.case(&request.call, seed);
            cases.insert(name, text);
        }
        let all: String = cases.values().map(String::as_str).collect();
        let name = format!("{operator}-{}.yaml", short_digest(&all));
        let mut text = format!(
            "{FOUND}{case} of seed {seed}, and made small: {key}.\nschema: 2\noperator: {operator}\ncases:\n"
        );
        text.push_str(&cases.into_values().collect::<Vec<_>>().join("\n"));
        CaseFileText { name, text }
    }

    /// The text of a case, and its name, which is derived from the call.
    fn case(&self, call: &Call, seed: u64) -> (String, String) {
        let body = yaml::call(call);
        let name = format!("found-{}", short_digest(&format!("{}\n{body}", call.operator)));
        let mut text = format!("  - name: {name}\n    clauses: [{}]\n", self.clauses(call).join(", "));
        let version = env!("CARGO_PKG_VERSION");
        let _ = writeln!(
            text,
            "    provenance: {{ computed-by: reference, version: \"{version}\", seed: {seed} }}"
        );
        text.push_str(&body);
        text.push_str(&yaml::expect(&self.spec.signatures(), call));
        (name, text)
    }

    /// Suggests clauses that the outcome may rest on. A person who adopts the case picks the right ones.
    fn clauses(&self, call: &Call) -> Vec<&str> {
        let own: Vec<_> = self
            .spec
            .clauses
            .iter()
            .filter(|clause| {
                clause.id.strip_prefix(call.operator.as_str()).is_some_and(|id| id.starts_with('.'))
            })
            .collect();
        let rejecting = |code: ErrorCode| own.iter().filter(move |clause| clause.rejects.contains(&code));
        let outcome = reference(call, gather_spec::Profile::default());
        let suggested: Vec<&str> = match &outcome {
            Outcome::Error(error) => {
                let code = error.code.expect("the reference classifies its errors");
                rejecting(code).map(|clause| clause.id.as_str()).take(CLAUSES).collect()
            }
            _ => {
                let of_area = |area: &'static str| {
                    own.iter().filter(move |clause| clause.id.contains(area)).map(|clause| clause.id.as_str())
                };
                of_area(".shape.").take(1).chain(of_area(".value.").take(2)).collect()
            }
        };
        match (suggested.is_empty(), own.first()) {
            (true, Some(first)) => vec![&first.id],
            _ => suggested,
        }
    }

    /// A command line with the case text as a here-document, or a hint if the text is too long to paste.
    fn replay_text(&self, text: &str, settings: CallSettings, variant: &Variant) -> String {
        if text.len() > LONGEST_TEXT {
            return format!("# {} bytes of YAML repeat it: --save DIR writes them", text.len());
        }
        format!("{} <<'YAML'\n{text}YAML", self.replay(Path::new("-"), settings, variant))
    }

    /// A command line that repeats the cases of a file.
    pub(super) fn replay(&self, path: &Path, settings: CallSettings, variant: &Variant) -> String {
        self.reproduction.cases(path, settings, variant)
    }
}

/// A case file to be written.
struct CaseFileText {
    name: String,
    text: String,
}

fn short_digest(text: &str) -> String {
    Sha256::digest(text.as_bytes()).iter().take(6).map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use gather_conformance::internals::reproduction::BackendNaming;

    #[test]
    fn a_text_that_is_too_long_to_be_pasted_is_not_printed() {
        let options = ["--repeat 2".to_owned()];
        let (spec, lines) =
            (Specification::default(), Reproduction::anywhere(BackendNaming::Command, "./mine", &options));
        let saver = Saver { spec: &spec, folder: None, reproduction: &lines };
        let line = |length: usize| {
            saver.replay_text(&"\n".repeat(length), CallSettings::default(), &Variant::default())
        };
        let whole = line(LONGEST_TEXT);
        assert!(whole.starts_with("gatherspec run --cases - --repeat 2 -- ./mine <<'YAML'\n"), "{whole}");
        assert!(whole.ends_with("\nYAML") && whole.len() > LONGEST_TEXT);
        assert_eq!(line(LONGEST_TEXT + 1), "# 8193 bytes of YAML repeat it: --save DIR writes them");
    }
}
