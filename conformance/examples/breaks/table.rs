//! What became of the breaks of a round, as a page.

use std::fmt::Write as _;

use crate::judge::{Catch, Step};
use crate::round::{Break, Reach};

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
    pub(crate) fn words(&self) -> String {
        match self {
            Self::Caught(Catch { step, by }) => format!("{} | {by}", step.name()),
            Self::Failed(words) => format!("its test | {words}"),
            Self::Survived => "**survived** | ".to_owned(),
            Self::DoesNotCompile(why) => format!("does not compile | {why}"),
        }
    }

    fn step(&self) -> Option<Step> {
        if let Self::Caught(Catch { step, .. }) = self { Some(*step) } else { None }
    }
}

/// The backend that a break is in.
pub(crate) fn target(broken: &Break) -> &str {
    broken.file.split('/').next().unwrap_or_default()
}

/// The page.
pub(crate) fn page(round: &str, rows: &[(&Break, Fate)]) -> String {
    let mut text = format!(
        "# Breaks of real code, round {round}\n\nWritten by `cargo run --release -p gather-conformance --example breaks -- \
         --round {round}`; conformance/breaks/README.md\nsays what a break is and what each step does.\n\n"
    );
    text.push_str("| step | reference | optimized |\n| --- | --: | --: |\n");
    let count = |backend: &str, is: &dyn Fn(&Break, &Fate) -> bool| {
        rows.iter().filter(|(broken, fate)| target(broken) == backend && is(broken, fate)).count()
    };
    let mut line = |name: &str, is: &dyn Fn(&Break, &Fate) -> bool| {
        let (reference, optimized) = (count("reference", is), count("optimized", is));
        if reference + optimized > 0 {
            let _ = writeln!(text, "| {name} | {reference} | {optimized} |");
        }
    };
    line("breaks", &|_, _| true);
    for step in Step::ALL {
        line(step.name(), &|_, fate| fate.step() == Some(step));
    }
    let survived = |fate: &Fate| matches!(fate, Fate::Survived);
    line("survived", &|broken, fate| survived(fate) && broken.reach != Reach::Rust);
    line("survived, out of a backend's reach", &|broken, fate| survived(fate) && broken.reach == Reach::Rust);
    line("does not compile", &|_, fate| matches!(fate, Fate::DoesNotCompile(_)));
    text.push_str("\n| break | caught by | what fails | wrong on |\n| --- | --- | --- | --- |\n");
    for (broken, fate) in rows {
        let (id, file) = (&broken.id, &broken.file);
        let words = fate.words();
        let _ = writeln!(text, "| {id}<br>{file} | {words} | {} |", broken.wrong_on);
    }
    text
}

/// The page of the breaks of the suite itself.
pub(crate) fn harness_page(rows: &[(&Break, Fate)]) -> String {
    let mut text = "# Breaks of the suite itself\n\nWritten by `cargo run --release -p gather-conformance --example breaks -- \
                    --round harness`; conformance/breaks/README.md\nsays what a break is. Without a break each of these tests \
                    passes.\n\n| | spec | conformance |\n| --- | --: | --: |\n"
        .to_owned();
    let mut line = |name: &str, is: &dyn Fn(&Fate) -> bool| {
        let count =
            |crate_: &str| rows.iter().filter(|(broken, fate)| target(broken) == crate_ && is(fate)).count();
        let (spec, conformance) = (count("spec"), count("conformance"));
        if spec + conformance > 0 {
            let _ = writeln!(text, "| {name} | {spec} | {conformance} |");
        }
    };
    line("breaks", &|_| true);
    line("caught by the test", &|fate| matches!(fate, Fate::Failed(_)));
    line("survived", &|fate| matches!(fate, Fate::Survived));
    line("does not compile", &|fate| matches!(fate, Fate::DoesNotCompile(_)));
    text.push_str("\n| break | caught by | what fails | wrong on |\n| --- | --- | --- | --- |\n");
    for (broken, fate) in rows {
        let test = broken.test.as_ref().map_or("", |test| &test.name);
        let words = match fate {
            Fate::Failed(words) => format!("{test} | {words}"),
            other => other.words(),
        };
        let _ = writeln!(text, "| {}<br>{} | {words} | {} |", broken.id, broken.file, broken.wrong_on);
    }
    text
}
