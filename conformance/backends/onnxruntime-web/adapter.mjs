// ONNX Runtime Web on the CPU: its WebAssembly build, in Node. A call becomes a model with the shapes of the call; a constant
// operand is an initializer, which is no input of the model, and symbolic dims have names instead of sizes. Nothing is checked
// that ONNX Runtime does not check.
//
// node adapter.mjs FOLDER, where FOLDER has the package onnxruntime-web.

import { closeSync, openSync, readFileSync, readSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { createInterface } from "node:readline";

const here = createRequire(join(process.argv[2], "package.json"));
const ort = here("onnxruntime-web");
ort.env.wasm.numThreads = 1;
const { version } = JSON.parse(readFileSync(join(process.argv[2], "node_modules/onnxruntime-web/package.json")));

// The number of each dtype in ONNX, its name in ONNX Runtime Web, and its elements.
const DTYPES = {
  f32: [1, "float32", Float32Array], u8: [2, "uint8", Uint8Array], i8: [3, "int8", Int8Array], u16: [4, "uint16", Uint16Array],
  i16: [5, "int16", Int16Array], i32: [6, "int32", Int32Array], i64: [7, "int64", BigInt64Array], string: [8, "string"],
  bool: [9, "bool", Uint8Array], f16: [10, "float16", Uint16Array], f64: [11, "float64", Float64Array],
  u32: [12, "uint32", Uint32Array], u64: [13, "uint64", BigUint64Array],
};
const OPERATORS = {
  "onnx.Gather-1": ["Gather", 1, ["i32", "i64"]],
  "onnx.Gather-13": ["Gather", 23, ["i32", "i64"]],
  "onnx.GatherND-11": ["GatherND", 11, ["i64"]],
  "onnx.GatherND-13": ["GatherND", 23, ["i64"]],
  "onnx.GatherElements-13": ["GatherElements", 23, ["i32", "i64"]],
};
const VARIANTS = ["operands=constant", "shapes=symbolic"];

// ---- A model, as the messages of ONNX: numbers, and what has a length

const varint = (number) => {
  const bytes = [];
  let rest = BigInt.asUintN(64, BigInt(number));
  for (; rest > 127n; rest >>= 7n) bytes.push(Number(rest & 127n) | 128);
  return Buffer.from([...bytes, Number(rest)]);
};
const int = (field, number) => Buffer.concat([varint(field << 3), varint(number)]);
const message = (field, ...parts) => {
  const whole = Buffer.concat(parts.map((part) => (typeof part === "string" ? Buffer.from(part) : part)));
  return Buffer.concat([varint((field << 3) | 2), varint(whole.length), whole]);
};

const typed = (name, number, shape = Buffer.alloc(0)) => [message(1, name), message(2, message(1, int(1, number), shape))];

function input(name, { dtype, shape }, isSymbolic) {
  const dim = (size, axis) => message(1, isSymbolic ? message(2, `${name}${axis}`) : int(1, size));
  return message(11, ...typed(name, DTYPES[dtype][0], message(2, ...shape.map(dim))));
}

function initializer(name, { dtype, shape, bytes, texts }) {
  const data = dtype === "string" ? texts.map((text) => message(6, text)) : [message(9, bytes)];
  return message(5, ...shape.map((size) => int(1, size)), int(2, DTYPES[dtype][0]), ...data, message(8, name));
}

function model([kind, opset], operands, attributes, constants, isSymbolic) {
  const named = Object.entries(attributes).map(([name, value]) => message(5, message(1, name), int(3, value), int(20, 2)));
  const node = message(1, ...Object.keys(operands).map((name) => message(1, name)), message(2, "output"), message(4, kind), ...named);
  const values = Object.entries(operands).map(([name, operand]) =>
    constants.includes(name) ? initializer(name, operand) : input(name, operand, isSymbolic));
  const output = message(12, ...typed("output", DTYPES[Object.values(operands)[0].dtype][0]));
  return Buffer.concat([int(1, 10), message(7, node, message(2, "gather"), ...values, output), message(8, int(2, opset))]);
}

// ---- Operands and outputs

/** An operand with its bytes; of strings with its texts, which ONNX Runtime has in UTF-8 only. */
function load({ dtype, shape, data, file, offset }) {
  if (dtype === "string") {
    const utf8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
    return { dtype, shape, texts: data.map((text) => utf8.decode(Buffer.from(text, "base64"))) };
  }
  if (file === undefined) return { dtype, shape, bytes: Buffer.from(data, "base64") };
  const bytes = Buffer.alloc(shape.reduce((count, dim) => count * Number(dim), DTYPES[dtype][2].BYTES_PER_ELEMENT));
  const from = openSync(file);
  for (let read = 0, more = 1; read < bytes.length && more > 0; read += more) {
    more = readSync(from, bytes, read, bytes.length - read, offset + read);
  }
  closeSync(from);
  return { dtype, shape, bytes };
}

function tensor({ dtype, shape, bytes, texts }) {
  const [, name, Elements] = DTYPES[dtype];
  return new ort.Tensor(name, texts ?? new Elements(Uint8Array.from(bytes).buffer), shape.map(Number));
}

function store({ type, dims, data }) {
  const base64 = (bytes) => Buffer.from(bytes).toString("base64");
  const dtype = Object.keys(DTYPES).find((name) => DTYPES[name][1] === type);
  const bytes = () => base64(new Uint8Array(data.buffer, data.byteOffset, data.byteLength));
  return { dtype, shape: [...dims], data: dtype === "string" ? data.map(base64) : bytes() };
}

// ---- The backend protocol

async function reply({ cmd, operator, operands, attributes, variant = "" }) {
  const ways = variant === "" ? [] : variant.split(",");
  const constants = ways.filter((way) => way.endsWith("=constant")).map((way) => way.split("=")[0]);
  const unknown = ways.find((way) => !way.endsWith("=constant") && way !== "shapes=symbolic");
  const other = Object.values(operands ?? {}).find(({ dtype }) => !Object.hasOwn(DTYPES, dtype));
  if (cmd !== "call" || !Object.hasOwn(OPERATORS, operator)) return { unsupported: `${cmd} ${operator}` };
  if (unknown ?? other) return { unsupported: unknown ?? `ONNX Runtime Web has no ${other.dtype}` };
  let session;
  try {
    const loaded = Object.fromEntries(Object.entries(operands).map(([name, operand]) => [name, load(operand)]));
    const made = model(OPERATORS[operator], loaded, attributes, constants, ways.includes("shapes=symbolic"));
    const given = Object.entries(loaded).filter(([name]) => !constants.includes(name));
    const tensors = Object.fromEntries(given.map(([name, operand]) => [name, tensor(operand)]));
    session = await ort.InferenceSession.create(made, { executionProviders: ["wasm"], logSeverityLevel: 4 });
    return { output: store((await session.run(tensors)).output) };
  } catch (error) {
    // Memory in which a trap has left nothing behind that can be trusted.
    if (error instanceof WebAssembly.RuntimeError) throw error;
    return { error: { message: `${error.message ?? error}` } };
  } finally {
    await session?.release();
  }
}

const profile = { bad: "error", negative: "wrap" };
const operators = Object.fromEntries(Object.entries(OPERATORS).map(([name, [, , index_dtypes]]) =>
  [name, { profile, dtypes: Object.keys(DTYPES), index_dtypes, variants: VARIANTS }]));
for await (const line of createInterface({ input: process.stdin })) {
  // Beyond 2^53 a number of JSON would lose its last digits.
  const asked = JSON.parse(line.replace(/([:,[])(-?\d{16,})(?=[,\]}])/g, '$1"$2"'));
  if (asked.cmd === "stop") break;
  const started = { protocol: 2, backend: { name: "onnxruntime-web", version, language: "JavaScript" }, operators };
  const answer = asked.cmd === "start" ? started : { seq: asked.seq, ...(await reply(asked)) };
  await new Promise((written) => process.stdout.write(JSON.stringify(answer) + "\n", written));
}
process.exit(0);
