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

/// What a run asks before its campaign, since it asks some cases: those of the printed examples.
const FEW_CASES: &str = "*/documented/*";

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
    /// By the large cases, with the policies that the pages permit.
    CasesLarge,
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
    pub(crate) const ALL: [Self; 7] = [
        Self::Cases,
        Self::CasesElsewhere,
        Self::CasesLarge,
        Self::Campaign,
        Self::CampaignElsewhere,
        Self::CasesWithin,
        Self::CampaignWithin,
    ];

    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Cases => "cases",
            Self::CasesElsewhere => "cases, other policies",
            Self::CasesLarge => "large cases",
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
    /// The large cases that it asks too.
    pub(crate) large: Option<String>,
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
        let served = self.served(suspect)?;
        // A broken reference is no oracle for a campaign within its own process, and reads every layout alike.
        if served.is_some() || suspect.backend == "reference" {
            return Ok(served);
        }
        if let Some(by) = self.cases_within(suspect)? {
            return Ok(Some(Catch { step: Step::CasesWithin, by }));
        }
        Ok(self.campaign_within(suspect)?.map(|by| Catch { step: Step::CampaignWithin, by }))
    }

    /// The first step that catches the suspect as a program. What cases find under any policies goes before what a campaign
    /// finds, and each run ends at its first failure.
    fn served(&self, suspect: &Suspect<'_>) -> Result<Option<Catch>, String> {
        let cases = ["--call-limit", "5", "--no-campaign", "--fail-fast"];
        if let Some(found) = self.under_policies(suspect, &cases, [Step::Cases, Step::CasesElsewhere])? {
            return Ok(Some(found));
        }
        if let Some(glob) = &self.large {
            let large = ["--call-limit", "60", "--suite", "large", "--fail-fast", "--case", glob];
            if let Some(by) = self.run_program(suspect, "", &large)? {
                return Ok(Some(Catch { step: Step::CasesLarge, by }));
            }
        }
        let campaign = ["--call-limit", "5", "--case", FEW_CASES, "--campaign", CAMPAIGN];
        self.under_policies(suspect, &campaign, [Step::Campaign, Step::CampaignElsewhere])
    }

    /// Runs a program under the policies that the pages permit, then under each other pair, until a run finds something.
    fn under_policies(
        &self,
        suspect: &Suspect<'_>,
        options: &[&str],
        [permitted, elsewhere]: [Step; 2],
    ) -> Result<Option<Catch>, String> {
        for policies in POLICIES {
            if let Some(by) = self.run_program(suspect, policies, options)? {
                return Ok(Some(match policies {
                    "" => Catch { step: permitted, by },
                    _ => Catch { step: elsewhere, by: format!("{policies}: {by}") },
                }));
            }
        }
        Ok(None)
    }

    fn run_program(
        &self,
        suspect: &Suspect<'_>,
        policies: &str,
        more: &[&str],
    ) -> Result<Option<String>, String> {
        let arguments = ["run", "--format", "json"].iter().chain(more).map(OsString::from);
        let colon = if policies.is_empty() { "" } else { ":" };
        let backend = format!("{}{colon}{policies}", suspect.backend);
        let command = ["--".into(), suspect.program.as_os_str().to_owned(), "serve".into(), backend.into()];
        self.run(&self.program, suspect.level, arguments.chain(command))
    }

    /// What the cases say in the suspect's own process, where it is asked in other layouts and by several threads.
    fn cases_within(&self, suspect: &Suspect<'_>) -> Result<Option<String>, String> {
        for policies in &POLICIES[1..] {
            let backend = format!("{}:{policies}", suspect.backend);
            let arguments =
                ["run", "--format", "json", "--no-campaign", "--fail-fast", "--backend", &backend]
                    .map(OsString::from);
            if let Some(by) = self.run(suspect.program, suspect.level, arguments.into_iter())? {
                return Ok(Some(format!("{policies}: {by}")));
            }
        }
        Ok(None)
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
        match serde_json::from_slice::<Report>(&ended.stdout) {
            Ok(report) => Ok(report.failure()),
            Err(_) if ended.code != Some(2) => Ok(Some(ended.last_words())),
            Err(wrong) => Err(format!("{arguments:?}: {wrong}: {}", ended.last_words())),
        }
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

impl Report {
    /// What fails first: a case, a kind of calls of the campaign, or the backend itself.
    fn failure(self) -> Option<String> {
        let fine = |verdict: &str| Verdict::ALL.iter().any(|one| !one.is_failure() && one.name() == verdict);
        self.backends.into_iter().find_map(|backend| {
            let case = backend.results.iter().find(|entry| !fine(&entry.verdict));
            let case = case.map(|Entry { id, verdict }| format!("first {verdict} {id}"));
            let drawn = backend.campaign.iter().find_map(|part| Some((&part.part, part.kinds.first()?)));
            let drawn = drawn.map(|(part, Failure { operator, kind, count })| {
                format!("{part}: {count}, first {kind} {operator}")
            });
            case.or(drawn).or(backend.broken)
        })
    }
}
