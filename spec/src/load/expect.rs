//! Reads the expectation of a case: arms by profile, and the outcomes that each allows.

use std::sync::Arc;

use crate::case::{Allowed, Arm, Expectation, When};
use crate::diagnostic::{Diagnostic, Quoted, nearest};
use crate::signature::{Fill, ModePolicy};
use crate::yaml::Spanned;
use crate::{BadIndex, EmptyAxis, ErrorCode, ErrorFields, NegativeIndex, Profile, error_fields};

use super::case_reader::CaseReader;
use super::raw::{ArmEntry, CaseEntry, Expect};
use super::sizes::GridPoint;
use super::written::WrittenDtype;

impl<'a> CaseReader<'a> {
    /// Reads an expectation. If the operator's calls choose by mode, only for this mode.
    pub(super) fn expectation(
        &self,
        dtype: &WrittenDtype,
        mode: Option<&ModePolicy>,
        expect: &'a Spanned<Expect>,
    ) -> Result<Expectation, Diagnostic> {
        let fills = mode.is_some_and(|mode| mode.profile.bad == BadIndex::Fill);
        let fill = self.page.fill.filter(|_| fills);
        let arms = match &expect.value {
            Expect::Word(word) if word == "unspecified" => {
                vec![Arm::always(vec![Allowed::Unspecified])]
            }
            Expect::Word(word) => {
                return Err(self
                    .wrong(expect.defined, format!("{} is no expectation", Quoted(word)))
                    .help("write `unspecified`, or a mapping with `output`, `shape`, `error` or `any-of`"));
            }
            Expect::One(arm) => vec![self.arm(dtype, fill, arm, expect.defined)?],
            Expect::Arms(arms) => {
                let read: Result<Vec<Arm>, _> =
                    arms.iter().map(|arm| self.arm(dtype, fill, &arm.value, arm.defined)).collect();
                let read = read?;
                if let Some(at) = first_unreached(&read) {
                    return Err(self
                        .wrong(
                            arms[at].defined,
                            "this entry is never reached: those before it cover all it is for",
                        )
                        .help("entries are tried in order; one without `when` comes last"));
                }
                read
            }
        };
        if let Some(mode) = mode {
            return match arms.into_iter().find(|arm| arm.when.matches_mode(mode)) {
                Some(arm) => Ok(Expectation { arms: vec![Arm { when: When::default(), ..arm }] }),
                None => {
                    let message = format!("nothing is expected in the mode {}", Quoted(&mode.mode));
                    Err(self.wrong(expect.defined, message).help("add an entry for what it chooses"))
                }
            };
        }
        let expectation = Expectation { arms };
        match expectation.unmatched() {
            None => Ok(expectation),
            Some(profile) => Err(self
                .wrong(expect.defined, format!("nothing is expected under {profile}"))
                .help("end the list with an entry without `when`, or add the missing one")),
        }
    }

    /// The modes to run a case in, by their places in the signature if that is an axis. A family case runs in every mode for
    /// which it has an expectation or, if nothing depends on the policies, only in the default mode. Other cases run in the mode
    /// that their call sends.
    pub(super) fn modes(
        &self,
        entry: &'a CaseEntry,
        point: &GridPoint,
    ) -> Result<(Option<Vec<usize>>, Vec<&'a ModePolicy>), Diagnostic> {
        let all = self.page.modes();
        if all.is_empty() {
            return Ok((None, Vec::new()));
        }
        if !self.is_family() {
            let sized = CaseReader { reader: self.reader.with_sizes(&point.sizes), ..*self };
            let attributes = sized.attributes(entry)?;
            return Ok((None, self.page.mode_sent(&attributes).into_iter().collect()));
        }
        let (asked, _) = self.modes_by_expectation(entry);
        let place = |mode: &&ModePolicy| all.iter().position(|one| one == *mode);
        Ok((Some(asked.iter().filter_map(place).collect()), asked))
    }

    /// The modes for which a family case has no expectation, although others depend on the policies.
    pub(super) fn silent_modes(&self, entry: &CaseEntry) -> Vec<&'a str> {
        let (_, silent) = self.modes_by_expectation(entry);
        silent.into_iter().map(|mode| mode.mode.as_str()).collect()
    }

    fn modes_by_expectation(&self, entry: &CaseEntry) -> (Vec<&'a ModePolicy>, Vec<&'a ModePolicy>) {
        let modes = self.page.modes();
        match &entry.expect.value {
            Expect::Arms(arms) => modes.iter().partition(|mode| {
                arms.iter()
                    .any(|arm| arm.value.when.as_ref().is_none_or(|when| when.value.matches_mode(mode)))
            }),
            Expect::Word(_) | Expect::One(_) => (modes.iter().take(1).collect(), Vec::new()),
        }
    }

    /// The operator's clause that says what a policy gives.
    fn clause_of(&self, bad: BadIndex) -> Option<&'a str> {
        let family = match bad {
            BadIndex::Error => "index.error",
            BadIndex::Zero | BadIndex::Fill => "index.zero",
            BadIndex::Clamp => "index.clamp",
            BadIndex::Modulo => "index.modulo",
            BadIndex::Unspecified => return None,
        };
        self.map.get(family).map(String::as_str)
    }

    /// The clause of the policy that decides what is expected in a mode.
    pub(super) fn clause_in(&self, mode: &ModePolicy, entry: &CaseEntry) -> Option<&'a str> {
        let in_mode = |arm: &ArmEntry| arm.when.as_ref().is_none_or(|when| when.value.matches_mode(mode));
        let arm = match &entry.expect.value {
            Expect::Word(_) => None,
            Expect::One(arm) => Some(&**arm).filter(|arm| in_mode(arm)),
            Expect::Arms(arms) => arms.iter().map(|arm| &arm.value).find(|arm| in_mode(arm)),
        };
        self.clause_of(arm?.when.as_ref()?.value.bad?)
    }

    fn arm(
        &self,
        dtype: &WrittenDtype,
        fill: Option<Fill>,
        entry: &'a ArmEntry,
        at: serde_yaml::Location,
    ) -> Result<Arm, Diagnostic> {
        let when = entry.when.as_ref().map(|when| when.value).unwrap_or_default();
        let clause = when.bad.and_then(|bad| self.clause_of(bad)).map(Arc::from);
        let Some(any_of) = &entry.any_of else {
            return Ok(Arm { when, clause, allowed: vec![self.allowed(dtype, fill, entry, at)?] });
        };
        self.fields(dtype, entry)?;
        if outcomes(entry) > 0 {
            return Err(self
                .wrong(at, "`any-of` stands alone, beside `when` at most")
                .help("move the other outcome into the list"));
        }
        let allowed: Result<Vec<Allowed>, Diagnostic> = any_of
            .value
            .iter()
            .map(|one| match one.value.when.is_some() || one.value.any_of.is_some() {
                true => Err(self
                    .wrong(one.defined, "an entry of `any-of` is one plain outcome")
                    .help("without `when` and without another `any-of`")),
                false => self.allowed(dtype, fill, &one.value, one.defined),
            })
            .collect();
        let allowed = allowed?;
        if allowed.len() < 2 {
            return Err(self
                .wrong(any_of.defined, "`any-of` lists at least two outcomes")
                .help("write a single outcome without `any-of`"));
        }
        Ok(Arm { when, clause, allowed })
    }

    fn allowed(
        &self,
        dtype: &WrittenDtype,
        fill: Option<Fill>,
        entry: &'a ArmEntry,
        at: serde_yaml::Location,
    ) -> Result<Allowed, Diagnostic> {
        let count = outcomes(entry);
        if count != 1 {
            let message =
                if count == 0 { "an outcome is missing here" } else { "more than one outcome is given here" };
            return Err(self
                .wrong(at, message)
                .help("write exactly one of `output`, `shape`, `error`, `any-of`, `unspecified: true`"));
        }
        let fields = self.fields(dtype, entry)?;
        if let Some(output) = &entry.output {
            return self.reader.allowed_output(dtype, output, fill);
        }
        if let Some(shape) = &entry.shape {
            return self.reader.shape(shape).map(Allowed::Shape);
        }
        if let Some(error) = &entry.error {
            return Ok(Allowed::Error(self.code(error)?, fields));
        }
        match &entry.unspecified {
            Some(flag) if !flag.value => {
                Err(self.wrong(flag.defined, "`unspecified: true` is the only form"))
            }
            _ => Ok(Allowed::Unspecified),
        }
    }

    fn code(&self, name: &Spanned<String>) -> Result<ErrorCode, Diagnostic> {
        let known = ErrorCode::ALL.map(ErrorCode::name);
        self.parse(name).map_err(|_| {
            let list = format!("one of {} is expected", known.join(" "));
            let help = nearest(&name.value, known)
                .map_or(list.clone(), |meant| format!("did you mean `{meant}`? {list}"));
            self.wrong(name.defined, format!("unknown error code {}", Quoted(&name.value))).help(help)
        })
    }

    /// Reads the fields of an error. Each is allowed only with its code.
    fn fields(&self, dtype: &WrittenDtype, entry: &'a ArmEntry) -> Result<ErrorFields, Diagnostic> {
        let code = entry.error.as_ref().map(|error| error.value.as_str());
        // Under `dtype: any`, the number of elements replaces the number of bytes.
        let elements = ("elements", "bytes", entry.elements.as_ref().map(|field| field.defined));
        let stated = entry.stated().map(|(name, at)| (name, name, at));
        for (name, field, at) in stated.chain([elements]) {
            let belongs = ErrorCode::ALL.into_iter().find(|code| code.fields().contains(&field));
            if let (Some(at), Some(belongs)) = (at, belongs)
                && code != Some(belongs.name())
            {
                return Err(self.wrong(at, format!("`{name}` goes with `error: {belongs}` only")));
            }
        }
        Ok(ErrorFields { bytes: self.bytes(dtype, entry)?, ..self.written(entry)? })
    }

    /// The size in bytes of an output that is too large. Under `dtype: any` it follows from the number of elements.
    fn bytes(&self, dtype: &WrittenDtype, entry: &ArmEntry) -> Result<Option<u128>, Diagnostic> {
        let size = dtype.dtype().size() as u128;
        match (dtype, &entry.bytes, &entry.elements) {
            (_, None, None) => Ok(None),
            (WrittenDtype::Named(_), Some(bytes), None) => Ok(Some(bytes.value)),
            (WrittenDtype::Any(_), None, Some(elements)) => Ok(Some(elements.value.saturating_mul(size))),
            (WrittenDtype::Any(_), Some(bytes), _) => Err(self
                .wrong(bytes.defined, "the number of bytes depends on the dtype, which is `any`")
                .help("write `elements`, the product of the output's non-zero dims")),
            (WrittenDtype::Named(_), _, Some(elements)) => Err(self
                .wrong(elements.defined, "`elements` stands in place of `bytes` under `dtype: any` only")
                .help("write `bytes`")),
        }
    }
}

/// A field of an error as written, read by its kind.
macro_rules! read {
    ("Position", $reader:expr, $written:expr) => {
        $written.value.iter().map(|at| $reader.reader.count_of(at)).collect()
    };
    ("Number", $reader:expr, $written:expr) => {
        $reader.reader.number($written)
    };
    ("Size", $reader:expr, $written:expr) => {
        $reader.reader.count_of($written)
    };
    ("Rule", $reader:expr, $written:expr) => {
        $reader.parse($written)
    };
    ($plain:tt, $reader:expr, $written:expr) => {
        Ok($written.value)
    };
}

macro_rules! written {
    ($($code:ident { $($(#[doc = $doc:literal])+ $name:ident: $ty:ty as $kind:tt,)+ })+) => {
        impl<'a> CaseReader<'a> {
            /// The fields of an error as they are written.
            fn written(&self, entry: &'a ArmEntry) -> Result<ErrorFields, Diagnostic> {
                Ok(ErrorFields {
                    $($($name: entry.$name.as_ref().map(|field| read!($kind, self, field)).transpose()?,)+)+
                })
            }
        }
    };
}

error_fields!(written);

/// The first arm that no policies select, whether declared or chosen by a mode.
fn first_unreached(arms: &[Arm]) -> Option<usize> {
    let modes_alone = [BadIndex::Fill, BadIndex::Modulo, BadIndex::Unspecified];
    let bad = BadIndex::SPECIFIED.into_iter().chain(modes_alone);
    let profiles = bad.flat_map(|bad| NegativeIndex::ALL.map(|negative| Profile { bad, negative }));
    let policies = profiles.flat_map(|profile| EmptyAxis::ALL.map(|empty| (profile, empty)));
    let first = |(profile, empty)| arms.iter().position(|arm| arm.when.matches_both(profile, empty));
    let reached: Vec<usize> = policies.filter_map(first).collect();
    (0..arms.len()).find(|at| !reached.contains(at))
}

/// How many kinds of outcome an entry states, not counting `any-of`.
fn outcomes(entry: &ArmEntry) -> usize {
    [entry.output.is_some(), entry.shape.is_some(), entry.error.is_some(), entry.unspecified.is_some()]
        .into_iter()
        .filter(|stated| *stated)
        .count()
}
