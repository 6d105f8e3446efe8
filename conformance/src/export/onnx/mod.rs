//! Folders as those of ONNX's node tests: `model.onnx`, `test_data_set_0` with the tensors, and `data.json` with the tolerances, which
//! are zero. The folder of each call has a twin in which the operands are initializers.

mod equivalent;
mod proto;

use std::collections::{HashMap, HashSet};
use std::io;

use gather_spec::call::Way;
use gather_spec::{Attribute, Call, DType, Element, Run, Specification, Tensor};
use prost::Message as _;
use sha2::{Digest, Sha256};

use super::elements::are_plain;
use super::folder::Folder;
use super::manifest::{Test, sha256};
use super::writer::{Export, Tests, slug};

use equivalent::{Equivalents, name_and_version};
use proto::{
    AttributeProto, GraphProto, ModelProto, NodeProto, OperatorSetIdProto, TensorProto, ValueInfoProto,
};

/// The version of the format: the oldest that has initializers which are no inputs, and the operator sets up to 13.
const IR_VERSION: i64 = 7;

/// The name of the result.
const OUTPUT: &str = "output";

const TOLERANCES: &[u8] = b"{\"rtol\": 0, \"atol\": 0}\n";

/// Two folders for each call. What several runs call is written once, for the first one.
pub(super) struct Folders<'s> {
    equivalents: Equivalents<'s>,
    /// Where the two tests of a call stand in the manifest.
    known: HashMap<(i64, [u8; 32]), usize>,
    calls: HashSet<[u8; 32]>,
    names: HashSet<String>,
}

impl<'s> Folders<'s> {
    pub(super) fn new(spec: &'s Specification) -> Self {
        let (known, calls, names) = Default::default();
        Self { equivalents: Equivalents::new(spec), known, calls, names }
    }

    /// A name for the folder of a run that no other has.
    fn name(&mut self, run: &str) -> String {
        let name = format!("test_{}", slug(run));
        let other = (2..).map(|at| format!("{name}_{at}"));
        let free = |name: &String| !self.names.contains(name);
        let name = std::iter::once(name.clone()).chain(other).find(free).unwrap_or_default();
        self.names.insert(name.clone());
        name
    }
}

impl Tests for Folders<'_> {
    fn add(&mut self, run: &Run, to: &mut Export<'_>) -> io::Result<()> {
        // The only dtype of indices that GatherND has, where the case leaves it open.
        let run = &*run.within(&[], &[DType::I64]).map_err(io::Error::other)?;
        let Some(output) = to.only_output(run) else { return Ok(()) };
        let call = if to.format.is_own(&run.call.operator) {
            Some(run.call.clone())
        } else {
            self.equivalents.of(run, &output)
        };
        let Some(call) = call else {
            to.manifest.leave_out(run, "ONNX has no equivalent call");
            return Ok(());
        };
        if !call.operands.tensors().all(are_plain) {
            to.manifest.leave_out(run, "ONNX has no such elements");
            return Ok(());
        }
        let call = OnnxCall::new(&call, Some(&output));
        let digest = call.digest();
        if let Some(at) = self.known.get(&(call.opset, digest)) {
            to.manifest.tests[*at..*at + 2].iter_mut().for_each(|test| test.runs.push(run.id.clone()));
            return Ok(());
        }
        self.known.insert((call.opset, digest), to.manifest.tests.len());
        self.calls.insert(digest);
        to.manifest.calls = self.calls.len();
        let name = self.name(&run.id);
        for constants in [false, true] {
            let name = if constants { format!("{name}_constants") } else { name.clone() };
            let sha256 = call.write(&name, constants, to.folder)?;
            to.manifest.tests.push(Test { name, sha256, constants, runs: vec![run.id.clone()] });
        }
        Ok(())
    }
}

/// The model of a call, whose operands are constants where its variant says so. It states no shape of the output.
pub(crate) fn model(call: &Call) -> Vec<u8> {
    let is_constant = |operand: &TensorProto| call.variant.of(&operand.name) == Some(Way::Constant);
    OnnxCall::new(call, None).model("gather", is_constant).encode_to_vec()
}

/// A call in the messages of ONNX.
struct OnnxCall {
    opset: i64,
    node: NodeProto,
    operands: Vec<TensorProto>,
    output: Option<TensorProto>,
}

impl OnnxCall {
    fn new(call: &Call, output: Option<&Tensor>) -> Self {
        let (op_type, opset) = name_and_version(&call.operator);
        let integer = |(name, value): (&String, &Attribute)| match value {
            Attribute::Integer(value) => Some(AttributeProto::integer(name, *value)),
            _ => None,
        };
        let operands: Vec<TensorProto> =
            call.operands.iter().map(|(name, operand)| tensor(name, operand)).collect();
        let node = NodeProto {
            input: operands.iter().map(|operand| operand.name.clone()).collect(),
            output: vec![OUTPUT.to_owned()],
            op_type: op_type.to_owned(),
            attribute: call.attributes.iter().filter_map(integer).collect(),
        };
        Self { opset, node, operands, output: output.map(|output| tensor(OUTPUT, output)) }
    }

    /// What distinguishes calls, whatever the version of the operator is.
    fn digest(&self) -> [u8; 32] {
        let operands = self.operands.iter().flat_map(prost::Message::encode_length_delimited_to_vec);
        let bytes: Vec<u8> = operands.chain(self.node.encode_to_vec()).collect();
        Sha256::digest(bytes).into()
    }

    /// The model, in which these operands are constants.
    fn model(&self, name: &str, is_constant: impl Fn(&TensorProto) -> bool) -> ModelProto {
        let (initializer, inputs): (Vec<_>, Vec<_>) = self.operands.iter().cloned().partition(is_constant);
        let output = self.output.as_ref().map(ValueInfoProto::of);
        let unknown = || ValueInfoProto::without_shape(OUTPUT, self.operands[0].data_type);
        let graph = GraphProto {
            node: vec![self.node.clone()],
            name: name.to_owned(),
            initializer,
            input: inputs.iter().map(ValueInfoProto::of).collect(),
            output: vec![output.unwrap_or_else(unknown)],
        };
        ModelProto {
            ir_version: IR_VERSION,
            producer_name: "gatherspec".to_owned(),
            producer_version: env!("CARGO_PKG_VERSION").to_owned(),
            graph: Some(graph),
            opset_import: vec![OperatorSetIdProto { domain: Some(String::new()), version: self.opset }],
        }
    }

    /// Writes the folder, and returns its digest.
    fn write(&self, name: &str, constants: bool, folder: &Folder) -> io::Result<String> {
        let mut files = vec![
            ("data.json".to_owned(), TOLERANCES.to_vec()),
            ("model.onnx".to_owned(), self.model(name, |_| constants).encode_to_vec()),
        ];
        if !constants {
            let input =
                |(at, operand): (usize, &TensorProto)| (data_file("input", at), operand.encode_to_vec());
            files.extend(self.operands.iter().enumerate().map(input));
        }
        files.extend(self.output.iter().map(|output| (data_file("output", 0), output.encode_to_vec())));
        let mut lines = String::new();
        for (path, bytes) in &files {
            folder.put(&format!("{name}/{path}"), bytes)?;
            lines.extend([&sha256(bytes), "  ", path, "\n"]);
        }
        Ok(sha256(lines.as_bytes()))
    }
}

fn data_file(what: &str, at: usize) -> String {
    format!("test_data_set_0/{what}_{at}.pb")
}

fn tensor(name: &str, tensor: &Tensor) -> TensorProto {
    let string = |element: Element| match element {
        Element::Bytes(bytes) => bytes.as_bytes().to_vec(),
        Element::Bits(_) => Vec::new(),
    };
    let raw_data = tensor.to_le_bytes();
    let string_data = if raw_data.is_none() { tensor.iter().map(string).collect() } else { Vec::new() };
    TensorProto {
        dims: tensor.shape().iter().map(|dim| i64::try_from(*dim).unwrap_or(i64::MAX)).collect(),
        data_type: data_type(tensor.dtype()),
        string_data,
        name: name.to_owned(),
        raw_data,
    }
}

/// The number of a type in ONNX.
const fn data_type(dtype: DType) -> i32 {
    match dtype {
        DType::F32 => 1,
        DType::U8 => 2,
        DType::I8 => 3,
        DType::U16 => 4,
        DType::I16 => 5,
        DType::I32 => 6,
        DType::I64 => 7,
        DType::String => 8,
        DType::Bool => 9,
        DType::F16 => 10,
        DType::F64 => 11,
        DType::U32 => 12,
        DType::U64 => 13,
        DType::C64 => 14,
        DType::C128 => 15,
        DType::BF16 => 16,
    }
}

#[cfg(test)]
mod tests {
    use gather_spec::Shape;

    use super::*;

    #[test]
    fn a_message_has_the_fields_and_the_numbers_of_onnx_proto() {
        let bytes = Tensor::from_le_bytes(DType::U8, Shape::new([2]).unwrap(), &[7, 9]).unwrap();
        // dims: 2, data_type: 2, name: "x", raw_data: 7 9.
        let wanted = [0x08, 2, 0x10, 2, 0x42, 1, b'x', 0x4a, 2, 7, 9];
        assert_eq!(tensor("x", &bytes).encode_to_vec(), wanted);
        // A dim of 0 is written, and so is data without bytes.
        let empty = Tensor::from_le_bytes(DType::F32, Shape::new([0]).unwrap(), &[]).unwrap();
        assert_eq!(tensor("x", &empty).encode_to_vec(), [0x08, 0, 0x10, 1, 0x42, 1, b'x', 0x4a, 0]);
        // name: "axis", i: 0, type: INT.
        let axis = [0x0a, 4, b'a', b'x', b'i', b's', 0x18, 0, 0xa0, 0x01, 2];
        assert_eq!(AttributeProto::integer("axis", 0).encode_to_vec(), axis);
        // name: "x", type: { tensor_type: { elem_type: 1, shape: { dim: { dim_value: 0 } } } }
        let info = [0x0a, 1, b'x', 0x12, 10, 0x0a, 8, 0x08, 1, 0x12, 4, 0x0a, 2, 0x08, 0];
        assert_eq!(ValueInfoProto::of(&tensor("x", &empty)).encode_to_vec(), info);
    }

    #[test]
    fn a_name_is_given_once() {
        let mut folders = Folders::new(crate::embedded());
        let names = ["o/a-b", "o/a_b", "o/a.b"].map(|run| folders.name(run));
        assert_eq!(names, ["test_o_a_b", "test_o_a_b_2", "test_o_a_b_3"]);
    }
}
