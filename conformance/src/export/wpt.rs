//! The JSON form of WebNN's web platform tests: a list of graphs with their inputs and expected outputs, in a file for each operator.
//! Each graph has a twin whose inputs are constants.

use std::collections::BTreeMap;
use std::io;

use gather_spec::dtype::Kind;
use gather_spec::{Attribute, Call, DType, Run, Tensor};
use serde_json::{Map, Value, json};

use super::elements::{components, decimal};
use super::writer::{Export, Tests};

/// A file for each operator, with its tests and the ids of their runs.
#[derive(Default)]
pub(super) struct Graphs(BTreeMap<String, (Vec<String>, Vec<String>)>);

impl Tests for Graphs {
    fn add(&mut self, run: &Run, to: &mut Export<'_>) -> io::Result<()> {
        let Some(output) = to.only_output(run) else { return Ok(()) };
        let operator = run.call.operator.as_str();
        let method = operator.rsplit('.').next().unwrap_or(operator);
        let (tests, runs) = self.0.entry(format!("{method}.json")).or_default();
        tests.extend([false, true].map(|constants| test(method, run, &output, constants).to_string()));
        runs.push(run.id.clone());
        to.manifest.calls += 1;
        Ok(())
    }

    fn finish(&mut self, to: &mut Export<'_>) -> io::Result<()> {
        for (name, (tests, runs)) in std::mem::take(&mut self.0) {
            to.put(name, &format!("[\n{}\n]\n", tests.join(",\n")), false, runs)?;
        }
        Ok(())
    }
}

/// A graph of one operator.
fn test(method: &str, run: &Run, output: &Tensor, constants: bool) -> Value {
    let Call { operands, attributes, .. } = &run.call;
    let input = |(name, tensor): (&str, &Tensor)| {
        let mut input = described(tensor);
        if constants {
            input.insert("constant".to_owned(), json!(true));
        }
        (name.to_owned(), Value::Object(input))
    };
    let inputs: Map<String, Value> = operands.iter().map(input).collect();
    let mut arguments: Vec<Value> = operands.iter().map(|(name, _)| json!({ name: name })).collect();
    if !attributes.is_empty() {
        let integer = |value: &Attribute| match value {
            Attribute::Integer(value) => json!(value),
            other => json!(other),
        };
        let options: Map<String, Value> =
            attributes.iter().map(|(name, value)| (name.clone(), integer(value))).collect();
        arguments.push(json!({ "options": options }));
    }
    let name = if constants { format!("{} (constants)", run.id) } else { run.id.clone() };
    json!({
        "name": name,
        "graph": {
            "inputs": inputs,
            "operators": [{ "name": method, "arguments": arguments, "outputs": "output" }],
            "expectedOutputs": { "output": described(output) },
        },
    })
}

fn described(tensor: &Tensor) -> Map<String, Value> {
    let dtype = tensor.dtype();
    let data: Vec<Value> = tensor
        .iter()
        .flat_map(|element| components(dtype, &element))
        .map(|bits| number(dtype, bits))
        .collect();
    let descriptor = json!({ "shape": tensor.shape().to_vec(), "dataType": data_type(dtype) });
    Map::from_iter([("data".to_owned(), json!(data)), ("descriptor".to_owned(), descriptor)])
}

/// A number, as JavaScript converts it to an element: those of 64 bits, infinities and NaNs are texts.
fn number(dtype: DType, bits: u128) -> Value {
    let Some(text) = decimal(dtype, bits) else {
        let sign_bit = 8 * dtype.size() - 1;
        let is_nan = bits << (128 - sign_bit) != infinity(dtype) << (128 - sign_bit);
        let sign = if bits >> sign_bit == 1 { "-" } else { "" };
        return if is_nan { json!("NaN") } else { json!(format!("{sign}Infinity")) };
    };
    let is_wide = dtype.size() == 8 && dtype.kind() != Kind::Float;
    match text.parse::<serde_json::Number>() {
        Ok(number) if !is_wide => Value::Number(number),
        _ => json!(text),
    }
}

/// The bits of infinity.
const fn infinity(dtype: DType) -> u128 {
    match dtype {
        DType::F16 => 0x7c00,
        _ => 0x7f80_0000,
    }
}

/// The name of a dtype in WebNN.
pub(crate) fn data_type(dtype: DType) -> String {
    let width = 8 * dtype.size();
    match dtype.kind() {
        Kind::Float => format!("float{width}"),
        Kind::Unsigned => format!("uint{width}"),
        _ => format!("int{width}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_is_one_that_javascript_converts_to_the_element() {
        let f32 = |value: f32| number(DType::F32, value.to_bits().into()).to_string();
        assert_eq!([f32(0.1), f32(-0.0), f32(3.0)], ["0.1", "-0.0", "3.0"]);
        assert_eq!([f32(f32::NAN), f32(f32::NEG_INFINITY)], ["\"NaN\"", "\"-Infinity\""]);
        let f16 = [0x7c00, 0xfc00, 0xfe00, 0xc000].map(|bits| number(DType::F16, bits).to_string());
        assert_eq!(f16, ["\"Infinity\"", "\"-Infinity\"", "\"NaN\"", "-2"]);
        assert_eq!(number(DType::I64, u64::MAX.into()), "-1");
        assert_eq!(number(DType::U8, 255), 255);
    }

    #[test]
    fn each_number_of_f16_is_nearer_to_its_text_than_to_its_neighbours() {
        for bits in 0..=u16::MAX {
            let (exponent, fraction) = (i32::from(bits >> 10 & 0x1f), f64::from(bits & 0x3ff));
            let said = number(DType::F16, bits.into());
            if exponent == 0x1f {
                assert!(said.is_string(), "{bits:#06x}: {said}");
                continue;
            }
            let (unit, whole) =
                if exponent == 0 { (-24, fraction) } else { (exponent - 25, 1024.0 + fraction) };
            let (unit, sign) = (2f64.powi(unit), if bits >> 15 == 1 { -1.0 } else { 1.0 });
            let off = said.as_f64().expect("a number") - sign * whole * unit;
            // Half of the distance to the nearer neighbour, which of a power of two is the one below.
            assert!(off.abs() < unit / 4.0, "{bits:#06x}: {said}");
        }
    }
}
