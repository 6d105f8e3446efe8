//! Runs: the calls of a case, each with the outcomes that are allowed for it.

use std::borrow::Cow;
use std::sync::Arc;

use crate::any::{self, OpenDtypes};
use crate::signature::Signature;
use crate::tensor::Sparse;
use crate::{Attribute, Call, DType, ErrorFields, Roles, Tensor, TensorError};

use crate::case::{Allowed, Case, Expectation, Filled};

/// One call of a case, with the outcomes that are allowed.
#[derive(Clone, Debug)]
pub struct Run {
    /// The id: that of the case and, in brackets, where the run is on its axes: `[f32,i64,n=33,clip]`. A case without axes has
    /// one run, with the id of the case.
    pub id: String,
    /// The case.
    pub case: Arc<Case>,
    /// The clauses that it tests: those that its case is written for and, in a mode, that of the mode's policy.
    pub clauses: Arc<[String]>,
    /// The dtypes that `dtype: any` leaves open. `call` and `expect` use the first of each.
    pub open: OpenDtypes,
    /// Its params, if they are too large to be kept in memory. Then `call` has zeros of the same shape, without storing them.
    pub sparse: Option<Arc<Sparse>>,
    /// The call.
    pub call: Call,
    /// The allowed outcomes.
    pub expect: Expectation,
}

impl Run {
    /// The only run of a case that is not read from a file.
    #[must_use]
    pub fn alone(id: &str, signature: Arc<Signature>, call: Call, expect: Expectation) -> Self {
        let case = Arc::new(Case::new(id.to_owned(), signature));
        let (open, clauses) = (OpenDtypes::default(), Arc::clone(&case.clauses));
        Self { id: id.to_owned(), case, clauses, open, sparse: None, call, expect }
    }

    /// Where the run is on the axes of its case: the id without that of the case, such as `[f32,i64]`.
    #[must_use]
    pub fn place(&self) -> &str {
        &self.id[self.case.id.len()..]
    }

    /// The tensor to gather from.
    ///
    /// # Panics
    /// If the call lacks it. No loaded run does.
    #[must_use]
    pub fn params(&self) -> &Tensor {
        self.call.operands.get(&self.case.names.params).expect("a run has params")
    }

    /// The tensor that says what to gather.
    ///
    /// # Panics
    /// As [`Run::params`].
    #[must_use]
    pub fn indices(&self) -> &Tensor {
        self.call.operands.get(&self.case.names.indices).expect("a run has indices")
    }

    /// The operands in role terms, without attributes.
    #[must_use]
    pub fn roles(&self) -> Roles<&Tensor> {
        Roles::new(self.params(), self.indices())
    }

    /// The run for a backend that supports these dtypes of params and of indices. An operand with an open dtype gets the
    /// first of its dtypes that is supported; if none is, it keeps its current dtype.
    ///
    /// # Errors
    /// [`TensorError`] if memory is short.
    ///
    /// ```
    /// use gather_spec::{DType, Specification};
    /// let spec = Specification::embedded().unwrap();
    /// let run = spec.run("tf.gather_nd/rows/permuted").unwrap();
    /// let narrow = run.within(&[DType::U8], &[DType::I64]).unwrap();
    /// assert_eq!((narrow.params().dtype(), narrow.indices().dtype()), (DType::U8, DType::I64));
    /// ```
    pub fn within(&self, params: &[DType], indices: &[DType]) -> Result<Cow<'_, Self>, TensorError> {
        let first = |open: &[DType], taken: &[DType], now: DType| {
            open.iter().copied().find(|dtype| taken.contains(dtype)).unwrap_or(now)
        };
        let now = (self.params().dtype(), self.indices().dtype());
        self.in_dtypes(first(&self.open.params, params, now.0), first(&self.open.indices, indices, now.1))
    }

    /// The run in these dtypes. They are its own, or of those that `any` stands for: see [`any::PARAMS`] and [`any::INDICES`].
    ///
    /// # Errors
    /// [`TensorError`] if memory is short.
    pub fn in_dtypes(&self, params: DType, indices: DType) -> Result<Cow<'_, Self>, TensorError> {
        let (now, new) = ((self.params().dtype(), self.indices().dtype()), (params, indices));
        if new == now {
            return Ok(Cow::Borrowed(self));
        }
        let mut run = self.clone();
        if new.0 != now.0 {
            let params = any::values_as(self.params(), new.0)?;
            run.call.operands.replace(&self.case.names.params, params);
            for value in run.call.attributes.values_mut() {
                if let Attribute::Element(element) = value {
                    **element = any::values_as(element, new.0)?;
                }
            }
            for allowed in run.expect.arms.iter_mut().flat_map(|arm| &mut arm.allowed) {
                match allowed {
                    Allowed::Output(output) | Allowed::Filled(Filled { zeroed: output, .. }) => {
                        *output = any::values_as(output, new.0)?;
                    }
                    Allowed::Error(_, ErrorFields { bytes: Some(bytes), .. }) => {
                        let elements = *bytes / now.0.size() as u128;
                        *bytes = elements.saturating_mul(new.0.size() as u128);
                    }
                    _ => {}
                }
            }
        }
        if new.1 != now.1 {
            let indices = any::indices_as(self.indices(), new.1)?;
            run.call.operands.replace(&self.case.names.indices, indices);
        }
        Ok(Cow::Owned(run))
    }
}
