//! Modules of StableHLO whose `main` ends with `check.expect_eq_const`: one with the operands as arguments of a function, and one with
//! constants in its body.

use std::fmt::Write as _;
use std::io;

use gather_spec::dtype::Kind;
use gather_spec::literal::component;
use gather_spec::{Attribute, Call, DType, Run, Tensor};

use super::elements::{are_plain, components, decimal, nested};
use super::writer::{Export, Tests, slug};

/// Two files for each run.
pub(super) struct Modules;

impl Tests for Modules {
    fn add(&mut self, run: &Run, to: &mut Export<'_>) -> io::Result<()> {
        let Some(output) = to.only_output(run) else { return Ok(()) };
        if !run.call.operands.tensors().all(are_plain) {
            to.manifest.leave_out(run, "StableHLO has no such elements");
            return Ok(());
        }
        to.manifest.calls += 1;
        for constants in [false, true] {
            let name = format!("{}{}.mlir", slug(&run.id), if constants { "_constants" } else { "" });
            to.put(name, &module(run, &output, constants), constants, vec![run.id.clone()])?;
        }
        Ok(())
    }
}

/// The module of a run.
fn module(run: &Run, output: &Tensor, constants: bool) -> String {
    let call = &run.call;
    let operands: Vec<(String, &Tensor)> =
        call.operands.iter().map(|(name, tensor)| (format!("%{name}"), tensor)).collect();
    let names: Vec<&str> = operands.iter().map(|(name, _)| name.as_str()).collect();
    let names = names.join(", ");
    let kinds: Vec<String> = operands.iter().map(|(_, tensor)| kind_of(tensor)).collect();
    let signature = format!("({}) -> {}", kinds.join(", "), kind_of(output));
    let gather = format!("    %result = {}({names}) {} : {signature}\n", op(call), attributes(call));
    let mut text = format!("// {}\n", run.id);
    for (id, said) in run.clauses.iter().map(|id| (id, "clause")) {
        let _ = writeln!(text, "// {said} {id}");
    }
    text.push_str("module {\n");
    if !constants {
        let parameters: Vec<String> =
            operands.iter().zip(&kinds).map(|((name, _), kind)| format!("{name}: {kind}")).collect();
        let _ = write!(
            text,
            "  func.func private @gather({}) -> {} {{\n{gather}    func.return %result : {}\n  }}\n",
            parameters.join(", "),
            kind_of(output),
            kind_of(output)
        );
    }
    text.push_str("  func.func @main() {\n");
    for (name, tensor) in &operands {
        let _ = writeln!(text, "    {name} = stablehlo.constant {}", dense(tensor));
    }
    if constants {
        text.push_str(&gather);
    } else {
        let _ = writeln!(text, "    %result = func.call @gather({names}) : {signature}");
    }
    let _ = writeln!(text, "    check.expect_eq_const %result, {}", dense(output));
    text.push_str("    func.return\n  }\n}\n");
    text
}

/// The operation in its generic form.
fn op(call: &Call) -> String {
    format!("{:?}", call.operator.as_str())
}

const SLICE_SIZES: &str = "slice_sizes";

/// The attributes: the dimension numbers in one, and the others by their names.
fn attributes(call: &Call) -> String {
    let is_number = |name: &str| name.ends_with("_dims") || name.ends_with("_map") || name.ends_with("_dim");
    let numbers = call.attributes.iter().filter(|(name, _)| is_number(name));
    let numbers: Vec<String> = numbers.map(|(name, value)| format!("{name} = {value}")).collect();
    let others = call.attributes.iter().filter(|(name, _)| !is_number(name));
    let mut all = vec![format!("dimension_numbers = #stablehlo.gather<{}>", numbers.join(", "))];
    all.extend(others.map(|(name, value)| format!("{name} = {}", attribute(value))));
    // The operation needs them, if only as an empty list; the page of the other one has them as an operand.
    let has_sizes = |name: &str| call.attributes.contains_key(name) || call.operands.get(name).is_some();
    if !has_sizes(SLICE_SIZES) {
        all.push(format!("{SLICE_SIZES} = array<i64>"));
    }
    format!("{{{}}}", all.join(", "))
}

fn attribute(value: &Attribute) -> String {
    match value {
        Attribute::Integers(values) if values.is_empty() => "array<i64>".to_owned(),
        Attribute::Integers(values) => {
            let values: Vec<String> = values.iter().map(ToString::to_string).collect();
            format!("array<i64: {}>", values.join(", "))
        }
        other => other.to_string(),
    }
}

/// The type of a tensor.
fn kind_of(tensor: &Tensor) -> String {
    let dims: String = tensor.shape().iter().map(|dim| format!("{dim}x")).collect();
    format!("tensor<{dims}{}>", element_type(tensor.dtype()))
}

fn element_type(dtype: DType) -> String {
    match dtype.kind() {
        Kind::Bool => "i1".to_owned(),
        Kind::Unsigned => format!("ui{}", 8 * dtype.size()),
        Kind::Complex => format!("complex<{}>", component(dtype)),
        _ => dtype.to_string(),
    }
}

/// The elements and the type, as an attribute of MLIR: `dense<[1, 2]> : tensor<2xi32>`.
pub(crate) fn dense(tensor: &Tensor) -> String {
    let elements: Vec<String> = tensor
        .iter()
        .map(|element| {
            let parts: Vec<String> = components(tensor.dtype(), &element)
                .iter()
                .map(|bits| literal(component(tensor.dtype()), *bits))
                .collect();
            if parts.len() == 2 { format!("({})", parts.join(", ")) } else { parts.concat() }
        })
        .collect();
    let elements = if elements.is_empty() { String::new() } else { nested(tensor.shape(), &elements) };
    format!("dense<{elements}> : {}", kind_of(tensor))
}

/// A number. An infinity and a NaN are their bits.
fn literal(dtype: DType, bits: u128) -> String {
    let Some(text) = decimal(dtype, bits) else {
        return format!("0x{bits:0digits$X}", digits = 2 * dtype.size());
    };
    let (digits, exponent) = text.split_at(text.find('e').unwrap_or(text.len()));
    let point = if dtype.kind() == Kind::Float && !digits.contains('.') { ".0" } else { "" };
    format!("{digits}{point}{exponent}")
}

#[cfg(test)]
mod tests {
    use gather_spec::Shape;

    use super::*;

    #[test]
    fn a_literal_is_read_as_the_same_bits() {
        let f32 = |value: f32| literal(DType::F32, value.to_bits().into());
        assert_eq!([f32(-0.0), f32(1.0), f32(1e30)], ["-0.0", "1.0", "1.0e30"]);
        assert_eq!([f32(f32::NEG_INFINITY), literal(DType::F16, 0x7e01)], ["0xFF800000", "0x7E01"]);
        assert_eq!([literal(DType::F16, 0x3c00), literal(DType::I8, 0xff)], ["1.0", "-1"]);
        let of_bytes = |dtype, shape: &[usize], bytes: &[u8]| {
            dense(&Tensor::from_le_bytes(dtype, Shape::new(shape).unwrap(), bytes).unwrap())
        };
        assert_eq!(of_bytes(DType::Bool, &[], &[1]), "dense<true> : tensor<i1>");
        assert_eq!(of_bytes(DType::U8, &[0, 2], &[]), "dense<> : tensor<0x2xui8>");
        assert_eq!(
            of_bytes(DType::C64, &[1], &[0, 0, 0x80, 0x3f, 0, 0, 0, 0x80]),
            "dense<[(1.0, -0.0)]> : tensor<1xcomplex<f32>>"
        );
    }
}
