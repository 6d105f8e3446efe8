//! Makes the runs of a case, from its entry in a file and its axes.

use std::sync::Arc;

use crate::Attributes;
use crate::Run;
use crate::case::{Case, Expectation};
use crate::diagnostic::Diagnostic;
use crate::signature::{AttributeRole, ModePolicy};
use crate::{Attribute, Call, Roles};

use super::case_reader::{CaseReader, NamingScheme};
use super::dtypes::{Choice, choices};
use super::operands::OtherOperand;
use super::raw::CaseEntry;
use super::reader::{FileCache, TensorReader};
use super::sizes::GridPoint;
use super::template::Source;

/// Which runs of a case are made.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Which {
    All,
    First,
    /// One in each mode, at the first sizes and in the first dtypes. What the others expect is of the same kind: an output, or
    /// an error with the same code.
    OfEachMode,
}

/// Makes runs, and keeps what those of one file share: cases of one family that follow each other cost less.
///
/// ```
/// let spec = gather_spec::Specification::embedded().unwrap();
/// let mut maker = gather_spec::load::Maker::default();
/// let runs: usize = spec.cases[..100].iter().map(|case| maker.runs(case).len()).sum();
/// assert!(runs >= 100);
/// ```
#[derive(Default)]
pub struct Maker {
    last: Option<(Arc<Source>, usize)>,
    cache: FileCache,
}

impl Maker {
    /// The places of cases, in groups that one maker makes at the least cost: those of one family case together.
    #[must_use]
    pub fn groups(cases: &[&Arc<Case>]) -> Vec<Vec<usize>> {
        let mut places: Vec<usize> = (0..cases.len()).collect();
        places.sort_by_key(|at| cases[*at].made_from());
        let same = |one: &usize, other: &usize| cases[*one].made_from() == cases[*other].made_from();
        places.chunk_by(same).map(<[usize]>::to_vec).collect()
    }

    /// Makes the runs of a case, as [`Case::runs`].
    pub fn runs(&mut self, case: &Arc<Case>) -> Vec<Run> {
        self.make(case, Which::All)
    }

    /// Makes the first run of a case, which takes less time.
    pub fn first(&mut self, case: &Arc<Case>) -> Option<Run> {
        self.make(case, Which::First).into_iter().next()
    }

    /// Makes one run of a case in each of its modes. They cite every clause that its runs cite, and accept and reject as those
    /// do.
    pub(crate) fn of_each_mode(&mut self, case: &Arc<Case>) -> Vec<Run> {
        self.make(case, Which::OfEachMode)
    }

    fn make(&mut self, case: &Arc<Case>, which: Which) -> Vec<Run> {
        if let Some(template) = &case.template {
            let same_file = |(last, _): &(Arc<Source>, usize)| Arc::ptr_eq(last, &template.source);
            match &self.last {
                Some(last) if same_file(last) && last.1 == template.at => {}
                Some(last) if same_file(last) => self.cache.forget_tensors(),
                _ => self.cache = FileCache::default(),
            }
            self.last = Some((Arc::clone(&template.source), template.at));
        }
        case.make_runs(&self.cache, which).unwrap_or_else(|wrong| panic!("{}: {wrong}", case.id))
    }
}

impl Case {
    /// Makes the runs, in the order of the axes: sizes, modes, dtypes of params, dtypes of indices.
    ///
    /// ```
    /// let spec = gather_spec::Specification::embedded().unwrap();
    /// let case = spec.case("tf.gather_nd/rows/permuted").unwrap();
    /// assert_eq!(case.runs().len(), 1);
    /// ```
    ///
    /// # Panics
    /// Never for a case of a [`Specification`](crate::Specification): those of a folder were made once when it was loaded, and
    /// a test makes all that are embedded.
    #[must_use]
    pub fn runs(self: &Arc<Self>) -> Vec<Run> {
        Maker::default().runs(self)
    }

    /// The run with this id, or with this place on the axes: `[f32,i64]`. That in the default mode may have a place without
    /// words: `[]`.
    #[must_use]
    pub fn run(self: &Arc<Self>, id: &str) -> Option<Run> {
        let place = id.strip_prefix(self.id.as_str()).unwrap_or(id);
        let place = if place == "[]" { "" } else { place };
        self.runs().into_iter().find(|run| run.place() == place)
    }

    /// Makes the runs, with what the cases of the file share.
    pub(super) fn make_runs(
        self: &Arc<Self>,
        cache: &FileCache,
        which: Which,
    ) -> Result<Vec<Run>, Diagnostic> {
        let Some(template) = &self.template else { return Ok(Vec::new()) };
        let reader = CaseReader {
            reader: TensorReader::new(template.source.text(), cache),
            page: &self.signature,
            names: template.names,
            map: &template.map,
        };
        let mut runs = Vec::new();
        for point in self.axes.sizes.iter() {
            if which == Which::All || runs.is_empty() {
                runs.extend(reader.at_sizes(self, template.entry(), point, which)?);
            }
        }
        Ok(runs)
    }

    /// The ids of the runs, in their order. Takes much less time than to make them.
    ///
    /// ```
    /// let spec = gather_spec::Specification::embedded().unwrap();
    /// let ids = spec.case("numpy.take/bad-index/minus-size").unwrap().run_ids();
    /// assert_eq!(ids[1], "numpy.take/bad-index/minus-size[wrap]");
    /// ```
    #[must_use]
    pub fn run_ids(&self) -> Vec<String> {
        let Some(template) = &self.template else { return vec![self.id.clone()] };
        let entry = template.entry();
        let suffixes =
            self.axes.sizes.iter().flat_map(|point| self.axes.suffixes(&self.signature, entry, point));
        suffixes.map(|suffix| format!("{}{suffix}", self.id)).collect()
    }

    /// The place of what the case is made from: cases with the same one share the most.
    fn made_from(&self) -> Option<(usize, usize)> {
        self.template.as_ref().map(|template| (Arc::as_ptr(&template.source).addr(), template.at))
    }
}

impl<'a> CaseReader<'a> {
    /// The runs of a case with these sizes.
    fn at_sizes(
        &self,
        case: &'a Arc<Case>,
        entry: &'a CaseEntry,
        point: &GridPoint,
        which: Which,
    ) -> Result<Vec<Run>, Diagnostic> {
        let sized = CaseReader { reader: self.reader.with_sizes(&point.sizes), ..*self };
        let attributes = sized.attributes(entry)?;
        let mut modes = match &case.axes.modes {
            Some(modes) => modes.iter().map(|at| Some(&self.page.modes()[*at])).collect(),
            None => vec![self.page.mode_sent(&attributes)],
        };
        if which == Which::First {
            modes.truncate(1);
        }
        let dtypes = if which == Which::All { usize::MAX } else { 1 };
        let each = entry.for_each.as_ref().map(|each| &each.value);
        let mut runs = Vec::new();
        for mode in modes {
            let choices = choices(each, &case.axes.dtypes, point, self.unspoken(mode)).into_iter();
            for choice in choices.take(dtypes) {
                runs.push(sized.run(case, entry, mode, &attributes, &choice)?);
            }
        }
        Ok(runs)
    }

    /// The run of a case in a mode and in these dtypes.
    fn run(
        &self,
        case: &'a Arc<Case>,
        entry: &'a CaseEntry,
        mode: Option<&ModePolicy>,
        attributes: &Attributes,
        choice: &Choice,
    ) -> Result<Run, Diagnostic> {
        let (of_params, of_indices) = self.operands(entry)?;
        let params = self.reader.params(&choice.params, &of_params.value, of_params.defined)?;
        let indices = self.reader.indices(&choice.indices, &of_indices.value, of_indices.defined)?;
        let sparse = self.reader.sparse(&choice.params, &of_params.value)?;
        let OtherOperand { axis, window, tensor: other } = self.other_operand(entry)?;
        let roles = Roles { axis, window, other, ..Roles::new(params, indices) };
        let attributes = self.with_mode(attributes, mode);
        let attributes = self.with_elements(entry, &choice.params, attributes)?;
        let sends_fill = attributes.values().any(|value| matches!(value, Attribute::Element(_)));
        let expecting = CaseReader { reader: TensorReader { sends_fill, ..self.reader }, ..*self };
        let Call { operands, .. } = self.page.spell(roles);
        let expect = expecting.expectation(&choice.params, mode, &entry.expect)?;
        Ok(Run {
            id: format!("{}{}", case.id, choice.suffix),
            clauses: with_policy(&self.clauses_of(entry, case), mode.is_some(), &expect),
            case: Arc::clone(case),
            open: crate::any::OpenDtypes { params: choice.params.open(), indices: choice.indices.open() },
            sparse: sparse.map(Arc::new),
            call: Call::new(self.page.operator.clone(), operands, attributes),
            expect,
        })
    }

    /// The clauses that a case is written for. They are the first of its clauses; those of its policies follow.
    fn clauses_of(&self, entry: &CaseEntry, case: &Case) -> Arc<[String]> {
        let own = |id: &String| match self.names {
            NamingScheme::Page => id.clone(),
            NamingScheme::Family => self.map.get(id).unwrap_or(id).clone(),
        };
        let written: Vec<String> = entry.clauses.value.iter().map(|id| own(&id.value)).collect();
        if case.clauses.iter().all(|id| written.contains(id)) {
            return Arc::clone(&case.clauses);
        }
        case.clauses.iter().filter(|id| written.contains(id)).cloned().collect()
    }

    /// The mode in which a family case runs, if it is not the default.
    pub(super) fn unspoken<'m>(&self, mode: Option<&'m ModePolicy>) -> Option<&'m str> {
        let default = self.page.modes().first();
        mode.filter(|mode| self.is_family() && Some(*mode) != default).map(|mode| mode.mode.as_str())
    }

    /// The attributes, including the mode in which a family case runs.
    fn with_mode(&self, attributes: &Attributes, mode: Option<&ModePolicy>) -> Attributes {
        let mut attributes = attributes.clone();
        if let (Some(mode), Some(attribute)) = (self.unspoken(mode), self.page.attribute(AttributeRole::Mode))
        {
            attributes.insert(attribute.name.clone(), Attribute::String(mode.to_owned()));
        }
        attributes
    }
}

/// The clauses of a run. One in a mode tests the clause of its policy too, where its outcome depends on that.
fn with_policy(clauses: &Arc<[String]>, in_mode: bool, expect: &Expectation) -> Arc<[String]> {
    let of_policy = expect.arms.iter().filter(|_| in_mode).find_map(|arm| arm.clause.as_deref());
    match of_policy.filter(|id| !clauses.iter().any(|own| own == id)) {
        Some(id) => clauses.iter().cloned().chain([id.to_owned()]).collect(),
        None => Arc::clone(clauses),
    }
}
