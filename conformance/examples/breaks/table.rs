//! What became of the breaks of a round, as a page.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use crate::judge::{Catch, Step};
use crate::round::{Break, HARNESS, Reach};

/// What became of a break.
pub(crate) enum Fate {
    /// Something judged it wrong.
    Caught(Catch),
    /// Its test failed, with these words.
    Failed(String),
    /// Nothing did.
    Survived,
    /// The break is itself at fault.
    DoesNotCompile(String),
}

impl Fate {
    /// What the row of a break says.
    pub(crate) fn words(&self, broken: &Break) -> String {
        match self {
            Self::Caught(Catch { step, by }) => format!("{} | {by}", step.name()),
            Self::Failed(words) => format!("{} | {words}", test_name(broken)),
            _ => format!("{} | {}", self.name(), if let Self::DoesNotCompile(why) = self { why } else { "" }),
        }
    }

    /// In a word: the step that catches the break, or what else became of it.
    pub(crate) fn name(&self) -> &str {
        match self {
            Self::Caught(catch) => catch.step.name(),
            Self::Failed(_) => "its test",
            Self::Survived => "**survived**",
            Self::DoesNotCompile(_) => "does not compile",
        }
    }

    /// The inverse of [`Fate::words`], from a whole row; nothing if the row is another break's, or was another break then.
    fn read(broken: &Break, row: &str) -> Option<Self> {
        let words = row.strip_prefix(&before(broken))?.strip_suffix(&behind(broken))?;
        let (name, words) = words.split_once(" | ")?;
        let (step, words) = (Step::ALL.into_iter().find(|step| step.name() == name), words.to_owned());
        Some(match name {
            _ if step.is_some() => Self::Caught(Catch { step: step?, by: words }),
            _ if name == test_name(broken) => Self::Failed(words),
            "**survived**" => Self::Survived,
            "does not compile" => Self::DoesNotCompile(words),
            _ => return None,
        })
    }

    fn step(&self) -> Option<Step> {
        if let Self::Caught(Catch { step, .. }) = self { Some(*step) } else { None }
    }
}

fn test_name(broken: &Break) -> &str {
    broken.test.as_ref().map_or("", |test| &test.name)
}

/// The backend that a break is in.
pub(crate) fn target(broken: &Break) -> &str {
    broken.file.split('/').next().unwrap_or_default()
}

/// The results of a round, in its order: a page can be read back, so that a later run asks for some breaks alone.
pub(crate) struct Table<'a> {
    round: &'a str,
    breaks: &'a [Break],
    fates: BTreeMap<&'a str, Fate>,
}

impl<'a> Table<'a> {
    /// What a page says of the breaks that the round still holds.
    pub(crate) fn read(round: &'a str, breaks: &'a [Break], page: &str) -> Self {
        let fate = |broken: &Break| page.lines().find_map(|line| Fate::read(broken, line));
        let fates = breaks.iter().filter_map(|broken| Some((broken.id.as_str(), fate(broken)?))).collect();
        Self { round, breaks, fates }
    }

    pub(crate) fn fate(&self, broken: &Break) -> Option<&Fate> {
        self.fates.get(broken.id.as_str())
    }

    pub(crate) fn set(&mut self, broken: &'a Break, fate: Fate) {
        self.fates.insert(&broken.id, fate);
    }

    /// The page.
    pub(crate) fn page(&self) -> String {
        let mut text = if self.round == HARNESS { self.harness_head() } else { self.head() };
        text.push_str("\n| break | caught by | what fails | wrong on |\n| --- | --- | --- | --- |\n");
        for broken in self.breaks {
            if let Some(fate) = self.fate(broken) {
                let _ = writeln!(text, "{}{}{}", before(broken), fate.words(broken), behind(broken));
            }
        }
        text
    }

    fn head(&self) -> String {
        let round = self.round;
        let mut text = format!(
            "# Breaks of real code, round {round}\n\nWritten by `cargo run --release -p gather-conformance --example breaks -- \
             --round {round}`; conformance/breaks/README.md\nsays what a break is and what each step does.\n\n\
             | step | reference | optimized |\n| --- | --: | --: |\n"
        );
        let mut line = |name: &str, is: &dyn Fn(&Break, Option<&Fate>) -> bool| {
            self.line(&mut text, ["reference", "optimized"], name, is);
        };
        line("breaks", &|_, _| true);
        for step in Step::ALL {
            line(step.name(), &|_, fate| fate.and_then(Fate::step) == Some(step));
        }
        let survived = |fate: Option<&Fate>| matches!(fate, Some(Fate::Survived));
        line("survived", &|broken, fate| survived(fate) && broken.reach != Reach::Rust);
        line("survived, out of a backend's reach", &|broken, fate| {
            survived(fate) && broken.reach == Reach::Rust
        });
        line("does not compile", &|_, fate| matches!(fate, Some(Fate::DoesNotCompile(_))));
        line("not run", &|_, fate| fate.is_none());
        text + &self.shares()
    }

    /// How many of the breaks that a call reaches are caught, by what.
    fn shares(&self) -> String {
        let reached = self.breaks.iter().filter(|broken| broken.reach == Reach::Call);
        let steps: Vec<Option<Step>> =
            reached.filter_map(|broken| self.fate(broken)).map(Fate::step).collect();
        let share = |steps_of: &[Step]| {
            let caught = steps.iter().flatten().filter(|step| steps_of.contains(step)).count();
            let tenths = caught * 1000 / steps.len().max(1);
            format!("{caught} ({}.{} %)", tenths / 10, tenths % 10)
        };
        let all = steps.len();
        format!(
            "\nOf the {all} that a call reaches, the cases catch {} in a program, and {} together with the large cases and those\nin \
             process; with the campaign that is {}.\n",
            share(&[Step::Cases, Step::CasesElsewhere]),
            share(&[Step::Cases, Step::CasesElsewhere, Step::CasesLarge, Step::CasesWithin]),
            share(&Step::ALL),
        )
    }

    /// The head of the page of the breaks of the suite itself.
    fn harness_head(&self) -> String {
        let mut text = "# Breaks of the suite itself\n\nWritten by `cargo run --release -p gather-conformance --example breaks -- \
                        --round harness`; conformance/breaks/README.md\nsays what a break is. Without a break each of these tests \
                        passes.\n\n| | spec | conformance |\n| --- | --: | --: |\n"
            .to_owned();
        let mut line = |name: &str, is: &dyn Fn(Option<&Fate>) -> bool| {
            self.line(&mut text, ["spec", "conformance"], name, &|_, fate| is(fate));
        };
        line("breaks", &|_| true);
        line("caught by the test", &|fate| matches!(fate, Some(Fate::Failed(_))));
        line("survived", &|fate| matches!(fate, Some(Fate::Survived)));
        line("does not compile", &|fate| matches!(fate, Some(Fate::DoesNotCompile(_))));
        line("not run", &|fate| fate.is_none());
        text
    }

    /// Adds a line of counts by crate, unless there is nothing to count.
    fn line(
        &self,
        text: &mut String,
        crates: [&str; 2],
        name: &str,
        is: &dyn Fn(&Break, Option<&Fate>) -> bool,
    ) {
        let counts = crates.map(|crate_| {
            let of_crate = self.breaks.iter().filter(|broken| target(broken) == crate_);
            of_crate.filter(|broken| is(broken, self.fate(broken))).count()
        });
        if counts != [0, 0] {
            let _ = writeln!(text, "| {name} | {} | {} |", counts[0], counts[1]);
        }
    }
}

/// What stands in the row of a break before its fate.
fn before(broken: &Break) -> String {
    format!("| {}<br>{} | ", broken.id, broken.file)
}

/// What stands in the row of a break behind its fate.
fn behind(broken: &Break) -> String {
    format!(" | {} |", broken.wrong_on)
}
