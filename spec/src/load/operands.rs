//! Finds the operands of a case: params, indices, and a third where an operator has one. A family's file uses roles for their
//! names, and writes the third as an attribute unless a case is about the operand itself.

use crate::diagnostic::{Diagnostic, Quoted};
use crate::signature::{AttributeRole, Axis, OperandRole, OperandSignature};
use crate::yaml::{Node, Spanned};
use crate::{Attribute, DType, ErrorCode, Tensor, Window};

use super::case_reader::{CaseReader, NamingScheme};
use super::dtypes::refuses;
use super::names::{one_of, role_of};
use super::raw::{CaseEntry, TensorEntry};

/// The operand beside params and indices: as an attribute in role terms, or as a tensor.
#[derive(Default)]
pub(super) struct OtherOperand {
    pub(super) axis: Option<Axis>,
    pub(super) window: Option<Window>,
    pub(super) tensor: Option<Tensor>,
}

const fn operand_role(role: OperandRole) -> &'static str {
    match role {
        OperandRole::Params => "params",
        OperandRole::Indices => "indices",
        OperandRole::Axis => "axis",
        OperandRole::SliceSizes => "slice-sizes",
    }
}

impl<'a> CaseReader<'a> {
    /// The entries of params and indices.
    pub(super) fn operands(
        &self,
        entry: &'a CaseEntry,
    ) -> Result<(&'a Spanned<TensorEntry>, &'a Spanned<TensorEntry>), Diagnostic> {
        let written = &entry.operands.value.0;
        let known: Vec<&str> = self.page.operands.iter().map(|operand| self.operand_name(operand)).collect();
        if let Some((name, _)) = written.iter().find(|(name, _)| !known.contains(&name.value.as_str())) {
            let message = format!("{} has no operand {}", self.page.operator, Quoted(&name.value));
            return Err(self.wrong(name.defined, message).help(one_of(&name.value, &known)));
        }
        let find = |role| self.operand(entry, self.page.operand(role));
        Ok((find(OperandRole::Params)?, find(OperandRole::Indices)?))
    }

    /// The entry of an operand.
    fn operand(
        &self,
        entry: &'a CaseEntry,
        operand: &OperandSignature,
    ) -> Result<&'a Spanned<TensorEntry>, Diagnostic> {
        let name = self.operand_name(operand);
        tensor_of(entry, name).ok_or_else(|| {
            let message = format!("the operand {} is missing", Quoted(name));
            let known: Vec<&str> = self.page.operands.iter().map(|one| self.operand_name(one)).collect();
            let all = known.join(" and ");
            self.wrong(entry.operands.defined, message).help(format!("{all} are expected"))
        })
    }

    fn operand_name<'s>(&self, operand: &'s OperandSignature) -> &'s str {
        match self.names {
            NamingScheme::Page => &operand.name,
            NamingScheme::Family => operand_role(operand.role),
        }
    }

    /// Whether an operand takes the place of an attribute with this role.
    pub(super) fn is_operand(&self, role: AttributeRole) -> bool {
        self.page.other_operand().is_some_and(|operand| operand.role.takes_the_place_of(role))
    }

    /// The operand beside params and indices. Family cases write it as an attribute, unless they are about the operand itself.
    pub(super) fn other_operand(&self, entry: &'a CaseEntry) -> Result<OtherOperand, Diagnostic> {
        let Some(operand) = self.page.other_operand() else { return Ok(OtherOperand::default()) };
        let word = operand_role(operand.role);
        if self.is_family() {
            let attribute = self.attribute_for_operand(entry);
            match (tensor_of(entry, word), attribute) {
                (None, None) => return Ok(OtherOperand::default()),
                (None, Some((name, value))) => return self.operand_as_attribute(operand.role, name, value),
                (Some(_), Some((name, _))) => {
                    let message = format!("{word} is an operand of this case as well");
                    return Err(self.wrong(name.defined, message).help("leave one of the two out"));
                }
                (Some(_), None) => {}
            }
        }
        let tensor = self.operand(entry, operand)?;
        let dtype = match &tensor.value.dtype {
            Some(dtype) => self.parse(dtype)?,
            None => {
                return Err(self.wrong(tensor.defined, "the dtype is missing").help("such as `dtype: i64`"));
            }
        };
        let tensor = Some(self.reader.tensor(dtype, &tensor.value, tensor.defined)?);
        Ok(OtherOperand { tensor, ..OtherOperand::default() })
    }

    /// What a family case writes as an attribute, and the operator has as an operand.
    fn attribute_for_operand(
        &self,
        entry: &'a CaseEntry,
    ) -> Option<(&'a Spanned<String>, &'a Spanned<Node>)> {
        let Node::Mapping(written) = &entry.attributes.as_ref()?.value else { return None };
        let is_operand = |name: &str| role_of(name).is_some_and(|role| self.is_operand(role));
        written.iter().find(|(name, _)| is_operand(&name.value)).map(|(name, value)| (name, value))
    }

    /// The operand beside params and indices, from an attribute.
    fn operand_as_attribute(
        &self,
        role: OperandRole,
        name: &Spanned<String>,
        value: &'a Spanned<Node>,
    ) -> Result<OtherOperand, Diagnostic> {
        if role == OperandRole::SliceSizes {
            let slice_sizes = Some(self.integers(name, value)?);
            let window = Some(Window { slice_sizes, ..Window::default() });
            return Ok(OtherOperand { window, ..OtherOperand::default() });
        }
        let axis = match self.attribute(name, self.attribute_called(name)?, value)? {
            Attribute::Integer(axis) => Some(Axis::At(axis)),
            _ => None,
        };
        Ok(OtherOperand { axis, ..OtherOperand::default() })
    }

    /// Why the operator does not have a family case that writes an operand beside params and indices.
    pub(super) fn without_its_operand(&self, entry: &CaseEntry) -> Option<String> {
        let written = |role| Some((role, tensor_of(entry, operand_role(role))?));
        let (role, tensor) = [OperandRole::Axis, OperandRole::SliceSizes].into_iter().find_map(written)?;
        let word = operand_role(role);
        let Some(operand) = self.page.other_operand().filter(|operand| operand.role == role) else {
            return Some(format!("no operand for {word}"));
        };
        // The reader of the tensor reports a dtype that is missing or unknown.
        let dtype: DType = tensor.value.dtype.as_ref()?.value.parse().ok()?;
        let earlier = [ErrorCode::ParamsDtype, ErrorCode::IndexDtype];
        let belongs = self.belongs(entry, role, dtype) || earlier.iter().any(|code| refuses(entry, *code));
        let listed = if operand.dtypes.contains(&dtype) { "listed" } else { "not listed" };
        (!belongs).then(|| format!("{dtype} is {listed} for {word}"))
    }
}

/// What a case writes for an operand.
fn tensor_of<'a>(entry: &'a CaseEntry, name: &str) -> Option<&'a Spanned<TensorEntry>> {
    let found = entry.operands.value.0.iter().find(|(written, _)| written.value == name);
    found.map(|(_, tensor)| tensor)
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use crate::{Case, Run};

    /// A case of the family take about an axis that is an operand.
    fn read(axis: &str, attributes: &str, expect: &str) -> Result<Vec<Run>, String> {
        let text = format!(
            "schema: 2\nform: take\ncases:\n  - name: a\n    clauses: [operands.roles]\n    operands:\n      \
             params: {{ dtype: any, data: [1, 2] }}\n      indices: {{ dtype: any, data: [1] }}\n      \
             axis: {axis}\n    attributes: {attributes}\n    expect: {expect}\n"
        );
        let spec = crate::load::embedded();
        let read = spec.read_cases(Path::new("families/take/a.yaml"), text.as_bytes());
        let runs = read.map(|cases| cases.iter().flat_map(Case::runs).collect());
        runs.map_err(|wrong| wrong[0].to_string())
    }

    #[test]
    fn a_family_case_about_an_operand_is_of_the_operators_that_have_it_and_sends_it_as_written() {
        let cases = read("{ dtype: u8, data: [0] }", "{}", "{ output: [2] }").unwrap();
        let operators: Vec<&str> = cases.iter().map(|case| case.call.operator.as_str()).collect();
        assert_eq!(operators, ["openvino.Gather-7", "openvino.Gather-8"]);
        for case in &cases {
            let axis = case.call.operands.get("axis").unwrap();
            assert_eq!((axis.dtype().name(), axis.shape().to_vec()), ("u8", vec![1]), "{}", case.id);
        }
    }

    #[test]
    fn an_operand_of_a_dtype_that_no_page_lists_stands_beside_its_refusal_or_one_before_it() {
        let float = "{ dtype: f32, data: 0 }";
        assert_eq!(read(float, "{}", "{ error: operand-dtype }").unwrap().len(), 2);
        for (axis, expect) in
            [(float, "{ output: [2] }"), ("{ dtype: i8, data: 0 }", "{ error: operand-dtype }")]
        {
            let wrong = read(axis, "{}", expect).unwrap_err();
            assert!(wrong.contains("no operator takes this case"), "{axis}: {wrong}");
        }
    }

    #[test]
    fn an_operand_is_not_an_attribute_as_well() {
        let wrong = read("{ dtype: i64, data: 0 }", "{ axis: 0 }", "{ output: [2] }").unwrap_err();
        assert!(wrong.contains("axis is an operand of this case as well"), "{wrong}");
    }
}
