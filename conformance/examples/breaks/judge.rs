//! The unbroken `gatherspec` judges a broken one: by its cases, then by campaigns, then from within its process.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use gather_conformance::judge::Verdict;
use serde::Deserialize;

use crate::ended::Ended;

/// Cases of a campaign.
const CAMPAIGN: &str = "4000";

/// The policies that a backend can declare; the first are, operator by operator, those that the pages permit.
const POLICIES: [&str; 7] = [
    "",
    "bad=error,negative=reject",
    "bad=error,negative=wrap",
    "bad=zero,negative=reject",
    "bad=zero,negative=wrap",
    "bad=clamp,negative=reject",
    "bad=clamp,negative=wrap",
];

/// How a break was caught.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Step {
    /// By the cases, the backend being a program with the policies that the pages permit.
    Cases,
    /// By the cases, under other policies.
    CasesElsewhere,
    /// By a campaign on the program, with the policies that the pages permit.
    Campaign,
    /// By a campaign on the program, under other policies.
    CampaignElsewhere,
    /// By the cases in the process of the backend: with other layouts and numbers of threads.
    CasesWithin,
    /// By a campaign in the process of the backend.
    CampaignWithin,
}

impl Step {
    pub(crate) const ALL: [Self; 6] = [
        Self::Cases,
        Self::CasesElsewhere,
        Self::Campaign,
        Self::CampaignElsewhere,
        Self::CasesWithin,
        Self::CampaignWithin,
    ];

    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Cases => "cases",
            Self::CasesElsewhere => "cases, other policies",
            Self::Campaign => "campaign",
            Self::CampaignElsewhere => "campaign, other policies",
            Self::CasesWithin => "cases in process",
            Self::CampaignWithin => "campaign in process",
        }
    }
}

/// What caught a break, in words.
pub(crate) struct Catch {
    pub(crate) step: Step,
    pub(crate) by: String,
}

/// The broken program, or the unbroken one.
pub(crate) struct Suspect<'a> {
    pub(crate) program: &'a Path,
    /// `reference` or `optimized`.
    pub(crate) backend: &'a str,
    pub(crate) level: Option<&'a str>,
}

/// The unbroken program.
pub(crate) struct Judge {
    pub(crate) program: PathBuf,
    /// For reports.
    pub(crate) folder: PathBuf,
}

#[derive(Deserialize)]
struct Report {
    backends: Vec<Backend>,
}

#[derive(Deserialize)]
struct Backend {
    broken: Option<String>,
    #[serde(default)]
    results: Vec<Entry>,
    #[serde(default)]
    campaign: Vec<Part>,
}

/// The drawn calls or the laws of the campaign behind the cases, with the kinds of failures.
#[derive(Deserialize)]
struct Part {
    part: String,
    kinds: Vec<Failure>,
}

#[derive(Deserialize)]
struct Failure {
    operator: String,
    kind: String,
    count: u64,
}

#[derive(Deserialize)]
struct Entry {
    id: String,
    operator: String,
    verdict: String,
}

#[derive(Deserialize)]
struct Campaign {
    groups: Vec<Group>,
}

#[derive(Deserialize)]
struct Group {
    count: u64,
    first: u64,
    key: BTreeMap<String, serde_json::Value>,
}

impl Judge {
    /// The first step that catches the suspect.
    pub(crate) fn catch(&self, suspect: &Suspect<'_>) -> Result<Option<Catch>, String> {
        for step in Step::ALL {
            let caught = match step {
                Step::Cases => self.cases(suspect, POLICIES[0])?,
                Step::CasesElsewhere => elsewhere(|policies| self.cases(suspect, policies))?,
                Step::Campaign => self.campaign(suspect, POLICIES[0])?,
                Step::CampaignElsewhere => elsewhere(|policies| self.campaign(suspect, policies))?,
                // A broken reference is no oracle for a campaign within its own process, and reads every layout alike.
                Step::CasesWithin | Step::CampaignWithin if suspect.backend == "reference" => None,
                Step::CasesWithin => self.cases_within(suspect)?,
                Step::CampaignWithin => self.campaign_within(suspect)?,
            };
            if let Some(by) = caught {
                return Ok(Some(Catch { step, by }));
            }
        }
        Ok(None)
    }

    /// What the cases say of the program, if anything.
    fn cases(&self, suspect: &Suspect<'_>, policies: &str) -> Result<Option<String>, String> {
        let arguments = ["run", "--format", "json", "--call-limit", "5", "--no-campaign"].map(OsString::from);
        self.run(&self.program, suspect.level, arguments.into_iter().chain(self.served(suspect, policies)))
    }

    /// What the campaign at the end of a run says of the program, behind cases that all pass.
    fn campaign(&self, suspect: &Suspect<'_>, policies: &str) -> Result<Option<String>, String> {
        let arguments = ["run", "--format", "json", "--call-limit", "5"].map(OsString::from);
        self.run(&self.program, suspect.level, arguments.into_iter().chain(self.served(suspect, policies)))
    }

    /// What the cases say in the suspect's own process, where it is asked in other layouts and by several threads.
    fn cases_within(&self, suspect: &Suspect<'_>) -> Result<Option<String>, String> {
        elsewhere(|policies| {
            let backend = format!("{}:{policies}", suspect.backend);
            let arguments =
                ["run", "--format", "json", "--no-campaign", "--backend", &backend].map(OsString::from);
            self.run(suspect.program, suspect.level, arguments.into_iter())
        })
    }

    /// What campaigns say in the suspect's own process, under all policies in turn.
    fn campaign_within(&self, suspect: &Suspect<'_>) -> Result<Option<String>, String> {
        for laws in [false, true] {
            let backend = ["--jobs", "1", "--backend", suspect.backend].map(OsString::from);
            if let Some(by) = self.fuzz(suspect.program, suspect.level, laws, backend.into_iter())? {
                return Ok(Some(by));
            }
        }
        Ok(None)
    }

    /// The suspect as a program behind `--`, after where reports go.
    fn served(&self, suspect: &Suspect<'_>, policies: &str) -> impl Iterator<Item = OsString> + use<> {
        let colon = if policies.is_empty() { "" } else { ":" };
        let backend = format!("{}{colon}{policies}", suspect.backend);
        let command = ["--".into(), suspect.program.as_os_str().to_owned(), "serve".into(), backend.into()];
        command.into_iter()
    }

    fn out(&self) -> [OsString; 2] {
        ["--out".into(), self.folder.join("report").into_os_string()]
    }

    fn run(
        &self,
        program: &Path,
        level: Option<&str>,
        arguments: impl Iterator<Item = OsString>,
    ) -> Result<Option<String>, String> {
        let mut arguments: Vec<OsString> = arguments.collect();
        arguments.splice(1..1, self.out());
        let Some(ended) = self.start(program, level, &arguments)? else {
            return Ok(Some("hangs".to_owned()));
        };
        let report: Report = match serde_json::from_slice(&ended.stdout) {
            Ok(report) => report,
            Err(_) if ended.code != Some(2) => return Ok(Some(ended.last_words())),
            Err(wrong) => return Err(format!("{arguments:?}: {wrong}: {}", ended.last_words())),
        };
        let fine = |verdict: &str| Verdict::ALL.iter().any(|one| one.is_fine() && one.name() == verdict);
        for backend in &report.backends {
            let failing: Vec<&Entry> = backend.results.iter().filter(|entry| !fine(&entry.verdict)).collect();
            if let Some(first) = failing.first() {
                return Ok(Some(counted(&failing, first)));
            }
            let drawn = backend.campaign.iter().find_map(|part| Some((&part.part, part.kinds.first()?)));
            if let Some((part, Failure { operator, kind, count })) = drawn {
                return Ok(Some(format!("{part}: {count}, first {kind} {operator}")));
            }
            if let Some(broken) = &backend.broken {
                return Ok(Some(broken.clone()));
            }
        }
        Ok(None)
    }

    fn fuzz(
        &self,
        program: &Path,
        level: Option<&str>,
        laws: bool,
        backend: impl Iterator<Item = OsString>,
    ) -> Result<Option<String>, String> {
        let path = self.folder.join("fuzz.json");
        let _ = fs::remove_file(&path);
        let mut arguments: Vec<OsString> =
            ["fuzz", "--cases", CAMPAIGN, "--report"].map(OsString::from).into();
        arguments.push(path.clone().into_os_string());
        arguments.extend(laws.then(|| "--laws".into()));
        arguments.extend(backend);
        let Some(ended) = self.start(program, level, &arguments)? else {
            return Ok(Some("hangs".to_owned()));
        };
        if ended.code == Some(0) {
            return Ok(None);
        }
        let report: Option<Campaign> =
            fs::read(&path).ok().and_then(|bytes| serde_json::from_slice(&bytes).ok());
        let kind = if laws { "laws" } else { "calls" };
        let Some(group) = report.as_ref().and_then(|report| report.groups.first()) else {
            return Ok(Some(format!("{kind}: {}", ended.last_words())));
        };
        let times: u64 = report.iter().flat_map(|report| &report.groups).map(|group| group.count).sum();
        let said = |name: &str| group.key.get(name).and_then(|value| value.as_str()).unwrap_or_default();
        let (operator, verdict) = (said("operator"), said("verdict"));
        let law = said("law");
        Ok(Some(format!("{kind}: {times}, first in {}: {verdict} {law} {operator}", group.first)))
    }

    /// Runs a program to its end; `None` if that does not come.
    fn start(
        &self,
        program: &Path,
        level: Option<&str>,
        arguments: &[OsString],
    ) -> Result<Option<Ended>, String> {
        let mut command = Command::new(program);
        command.args(arguments).env_remove("GATHERSPEC_LEVEL");
        if let Some(level) = level {
            command.env("GATHERSPEC_LEVEL", level);
        }
        Ended::run(&mut command, &self.folder)
    }
}

/// The first thing that is said under policies other than the permitted ones.
fn elsewhere(judge: impl Fn(&str) -> Result<Option<String>, String>) -> Result<Option<String>, String> {
    for policies in &POLICIES[1..] {
        if let Some(by) = judge(policies)? {
            return Ok(Some(format!("{policies}: {by}")));
        }
    }
    Ok(None)
}

/// How many cases fail, by operator, and the first.
fn counted(failing: &[&Entry], first: &Entry) -> String {
    let mut operators: BTreeMap<&str, usize> = BTreeMap::new();
    failing.iter().for_each(|entry| *operators.entry(&entry.operator).or_default() += 1);
    let each: Vec<String> = operators.iter().map(|(operator, count)| format!("{count} {operator}")).collect();
    format!("{} ({}), first {} {}", failing.len(), each.join(", "), first.verdict, first.id)
}
