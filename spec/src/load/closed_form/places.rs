//! Tensors of large cases that are zero except in some places.

use crate::diagnostic::{Diagnostic, Quoted};
use crate::tensor::Sparse;
use crate::{DType, Element, Shape};

use super::{ExceptedPart, MAX_IN_FULL, MappingEntries, PLACES, Painter, TensorReader};

impl<'a> TensorReader<'a> {
    /// Reads a tensor that is zero except in some places. Only large cases may have one.
    pub(in crate::load) fn places(
        &self,
        dtype: DType,
        shape: &Shape,
        at: serde_yaml::Location,
        entries: &'a MappingEntries,
    ) -> Result<Sparse, Diagnostic> {
        if let Some((name, _)) = entries.iter().find(|(name, _)| ![PLACES, "modulo"].contains(&&*name.value))
        {
            return Err(self
                .wrong(name.defined, format!("unknown key {} beside `places`", Quoted(&name.value)))
                .help("it may have `modulo`"));
        }
        if !self.large {
            return Err(self
                .wrong(at, "`places` are for large calls")
                .help("cases of large calls stand in files that are called large.yaml"));
        }
        let painter = self.painter(dtype, entries)?;
        let exceptions = self.exceptions(entries, shape)?;
        let bad = |error: crate::TensorError| self.wrong(at, error.to_string());
        let mut sparse = Sparse::new(dtype, shape.clone()).map_err(bad)?;
        for ExceptedPart { at: place, form, exactly } in exceptions {
            let below = &shape[place.len()..];
            let size: usize = below.iter().product();
            if size > MAX_IN_FULL {
                let message = format!("a place of {size} elements; at most {MAX_IN_FULL} (2^20) are allowed");
                return Err(self.wrong(at, message));
            }
            let first = size * place.iter().zip(&**shape).fold(0, |first, (at, dim)| first * dim + at);
            let painter = if exactly { Painter { modulo: None, ..painter } } else { painter };
            let bits = |number: Option<i128>| match painter.element(number.ok_or("a number is too large")?)? {
                Element::Bits(bits) => Ok(bits),
                Element::Bytes(_) => Err("strings are not painted in places".to_owned()),
            };
            let bits: Result<_, String> = form.numbers(below).into_iter().map(bits).collect();
            sparse.paint(first, bits.map_err(|why| self.wrong(at, why))?);
        }
        Ok(sparse)
    }
}
