// A complete backend of the gatherspec protocol, version 2, in one file: the four operators, every dtype, and every
// error with its code and fields. It needs Node 18 or later and no packages:
//
//     gatherspec run -- node gather.mjs
//
// Both kinds of gather are one computation here. `planGather` and `planGatherNd` check what differs between them and
// say where the indexed axes of params are; `gather` does the rest. P, I, r, q, k and b are as in PROTOCOL.md. Dims and
// indices are BigInt, since they can exceed 2^53; ranks and positions in memory are numbers.

import { closeSync, openSync, readSync } from "node:fs";
import { createInterface } from "node:readline";

const ELEMENT_BYTES = {
  bool: 1, i8: 1, u8: 1, i16: 2, u16: 2, i32: 4, u32: 4, i64: 8, u64: 8,
  f16: 2, bf16: 2, f32: 4, f64: 8, c64: 8, c128: 16,
  string: 16, // stands for the size of a string where sizes are limited
};
const EVERY_DTYPE = Object.keys(ELEMENT_BYTES);
const MOST_AXES = 64; // of a tensor in a message
const VARIANTS = ["operands=offset"]; // an operand may be a window in a larger buffer
const PROTOCOL_LIMIT = 2n ** 63n - 1n; // bytes by the output's non-zero dims; more is an error
const OUTPUT_LIMIT = 2n ** 27n; // bytes; for more, the reply could be longer than the 2^28 bytes that the runner takes

const OPERATORS = {
  "tf.gather": {
    operands: ["params", "indices"],
    attributes: ["axis", "batch_dims", "validate_indices"],
    dtypes: EVERY_DTYPE,
    indexDtypes: ["i32", "i64"],
    plan: planGather,
  },
  "tf.gather_nd": {
    operands: ["params", "indices"],
    attributes: ["batch_dims"],
    dtypes: EVERY_DTYPE,
    indexDtypes: ["i32", "i64"],
    plan: planGatherNd,
    leastIndicesRank: 1,
  },
  "tf.raw_ops.GatherNd": {
    operands: ["params", "indices"],
    attributes: [],
    dtypes: EVERY_DTYPE,
    indexDtypes: ["i16", "i32", "i64"],
    plan: planGatherNd,
    leastIndicesRank: 1,
  },
  "paddle.gather_nd": {
    operands: ["input", "index"],
    attributes: [],
    dtypes: ["bool", "i32", "i64", "f32", "f64"],
    indexDtypes: ["i32", "i64"],
    plan: planGatherNd,
    leastIndicesRank: 2,
  },
};

const READ_INDEX = {
  i16: (data, at) => BigInt(data.readInt16LE(2 * at)),
  i32: (data, at) => BigInt(data.readInt32LE(4 * at)),
  i64: (data, at) => data.readBigInt64LE(8 * at),
};

// ---- Refusing a call

/** Ends a call with a reply that is not an output. */
class Refusal extends Error {
  constructor(message, reply) {
    super(message);
    this.reply = reply;
  }
}

function error(code, message, fields) {
  return new Refusal(message, { error: { message, code, ...fields } });
}

function unsupported(message) {
  return new Refusal(message, { unsupported: message });
}

// ---- Tensors

function product(dims) {
  return dims.reduce((total, dim) => total * dim, 1n);
}

/** The elements of a tensor: a Buffer, or the array of base64 texts of strings, which are only moved. */
function load(tensor, shape) {
  if (tensor.dtype === "string") return tensor.data;
  if (tensor.file === undefined) return Buffer.from(tensor.data, "base64");
  return readPart(tensor.file, tensor.offset, Number(product(shape)) * ELEMENT_BYTES[tensor.dtype]);
}

/** The same elements as a window in a larger buffer. */
function inWindow(bytes) {
  const margin = Buffer.alloc(32, 0xa5);
  return Buffer.concat([margin, bytes, margin]).subarray(32, 32 + bytes.length);
}

function readPart(path, offset, length) {
  const bytes = Buffer.alloc(length);
  const file = openSync(path, "r");
  try {
    const count = readSync(file, bytes, 0, length, offset);
    if (count < length) throw new Error(`${path} has only ${count} of ${length} bytes at ${offset}`);
    return bytes;
  } finally {
    closeSync(file);
  }
}

/** The multi-index of the element that is `at` in row-major order. */
function multiIndex(at, shape) {
  const position = new Array(shape.length);
  for (let i = shape.length - 1; i >= 0; i--) {
    position[i] = at % shape[i];
    at /= shape[i];
  }
  return position;
}

// ---- Checking a call
//
// A plan says that rows of `depth` indices each select from the axes of params that start at `axis`. The rows form a
// tensor of shape `rows`, whose first b dims are the batch. The checks are in the order of the table of codes.

function planGather(P, I, attributes) {
  const [r, q] = [P.shape.length, I.shape.length];
  if (r === 0) throw error("params-rank", "params is a scalar");

  // Numbers do here: rounding never brings an attribute into the range of an axis.
  let b = Number(attributes.batch_dims ?? 0);
  if (b < -q || b > q) throw error("batch-dims-out-of-range", `batch_dims ${b} is not in [${-q}, ${q}]`);
  if (b < 0) b += q;

  let axis = Number(attributes.axis ?? b);
  if (axis < -r || axis >= r) throw error("axis-out-of-range", `axis ${axis} is not in [${-r}, ${r})`);
  if (axis < 0) axis += r;
  if (axis < b) throw error("axis-before-batch", `axis ${axis} is less than batch_dims ${b}`);

  checkBatch(P, I, b);
  return { b, axis, depth: 1, rows: I.shape };
}

function planGatherNd(P, I, attributes, operator) {
  const [r, q] = [P.shape.length, I.shape.length];
  const least = operator.leastIndicesRank;
  if (q < least) throw error("indices-rank", `indices has ${q} axes, but needs ${least} or more`);

  const b = Number(attributes.batch_dims ?? 0);
  if (b < 0 || b >= q || b > r) {
    throw error("batch-dims-out-of-range", `batch_dims ${b} is negative, not below ${q}, or above ${r}`);
  }
  checkBatch(P, I, b);

  const k = Number(I.shape[q - 1]);
  if (b + k > r) throw error("index-depth", `batch_dims ${b} and ${k} components exceed rank ${r}`);
  return { b, axis: b, depth: k, rows: I.shape.slice(0, -1) };
}

function checkBatch(P, I, b) {
  for (let i = 0; i < b; i++) {
    if (P.shape[i] !== I.shape[i]) {
      throw error("batch-shape-mismatch", `dim ${i} is ${P.shape[i]} in params, but ${I.shape[i]} in indices`);
    }
  }
}

/** What can be said of the output before any index is read. */
function checkOutput(shape, dtype) {
  const bytes = product(shape.filter((dim) => dim > 0n)) * BigInt(ELEMENT_BYTES[dtype]);
  if (bytes > PROTOCOL_LIMIT) throw error("output-too-large", `the output has ${bytes} bytes`, { bytes });
  if (shape.length > MOST_AXES) throw unsupported(`an output of ${shape.length} axes`);
  if (bytes > OUTPUT_LIMIT && !shape.includes(0n)) throw unsupported(`an output of ${bytes} bytes`);
}

// ---- Gathering

function gather(operator, P, I, attributes) {
  const plan = operator.plan(P, I, attributes, operator);
  const { b, axis, depth, rows } = plan;
  const shape = [...P.shape.slice(0, axis), ...rows.slice(b), ...P.shape.slice(axis + depth)];
  checkOutput(shape, P.dtype);

  const places = rowPlaces(P, I, plan, operator);
  const bytes = Number(product(shape)) * ELEMENT_BYTES[P.dtype];
  // The dims of an empty output can be as large as 2^63 - 1: do not loop over them.
  const starts = bytes === 0 ? [] : sliceStarts(P, plan, places);
  const inner = Number(product(P.shape.slice(axis + depth)));
  const data = P.dtype === "string" ? copyStrings(P, starts, inner) : copyBytes(P, starts, inner, bytes);
  return { dtype: P.dtype, shape, data };
}

/** The place that each row of indices selects, counted in row-major order over the indexed axes. */
function rowPlaces(P, I, { axis, depth, rows }, operator) {
  const bounds = P.shape.slice(axis, axis + depth);
  const read = READ_INDEX[I.dtype];
  const count = Number(product(I.shape));
  const places = [];
  for (let first = 0; first < count; first += depth) {
    let place = 0n;
    for (let component = 0; component < depth; component++) {
      const index = read(I.data, first + component);
      const bound = bounds[component];
      if (index < 0n || index >= bound) {
        const position = multiIndex(BigInt(first / depth), rows);
        const fields = { position, index, bound };
        if (operator.plan === planGatherNd) fields.component = component;
        throw error("index-out-of-range", `index ${index} at [${position}] is out of range [0, ${bound})`, fields);
      }
      place = place * bound + index;
    }
    places.push(Number(place));
  }
  return places;
}

/** Where in params each slice of the output starts, in elements and in the order of the output. */
function* sliceStarts(P, { b, axis, depth, rows }, places) {
  const count = (dims) => Number(product(dims));
  const batches = count(P.shape.slice(0, b));
  const mids = count(P.shape.slice(b, axis));
  const span = count(P.shape.slice(axis, axis + depth));
  const inner = count(P.shape.slice(axis + depth));
  const rowsPerBatch = count(rows.slice(b));
  for (let batch = 0; batch < batches; batch++) {
    for (let mid = 0; mid < mids; mid++) {
      for (let row = 0; row < rowsPerBatch; row++) {
        // A row without components has no entry in `places`: it selects all that there is.
        const place = depth === 0 ? 0 : places[batch * rowsPerBatch + row];
        yield ((batch * mids + mid) * span + place) * inner;
      }
    }
  }
}

function copyBytes(P, starts, inner, bytes) {
  const size = ELEMENT_BYTES[P.dtype];
  const out = Buffer.alloc(bytes);
  let end = 0;
  for (const start of starts) end += P.data.copy(out, end, start * size, (start + inner) * size);
  return out.toString("base64");
}

function copyStrings(P, starts, inner) {
  return Array.from(starts, (start) => P.data.slice(start, start + inner)).flat();
}

// ---- Messages

function started() {
  const profile = { bad: "error", negative: "reject" };
  const operators = {};
  for (const [name, { dtypes, indexDtypes }] of Object.entries(OPERATORS)) {
    operators[name] = { profile, dtypes, index_dtypes: indexDtypes, variants: VARIANTS };
  }
  return { protocol: 2, backend: { name: "example-node", version: "1", language: "JavaScript" }, operators };
}

function call({ operator: name, operands, attributes, variant }) {
  const operator = OPERATORS[name];
  if (operator === undefined) throw unsupported(`there is no operator ${name}`);
  for (const attribute of Object.keys(attributes)) {
    if (!operator.attributes.includes(attribute)) throw unsupported(`${name} has no attribute ${attribute}`);
  }
  // Such as `indices=offset,params=offset`.
  const layouts = new Map(variant?.split(",").map((value) => value.split("=")));
  for (const [operand, layout] of layouts) {
    if (layout !== "offset") throw unsupported(`there is no variant ${operand}=${layout}`);
  }
  // Paddle's page calls its operands input and index.
  const [params, indices] = operator.operands.map((operand) => operands[operand]);
  // Before anything is decoded: indices of any dtype can come, also strings.
  if (!operator.dtypes.includes(params.dtype)) throw error("params-dtype", `params cannot be ${params.dtype}`);
  if (!operator.indexDtypes.includes(indices.dtype)) throw error("index-dtype", `indices cannot be ${indices.dtype}`);

  const [P, I] = operator.operands.map((operand) => {
    const tensor = operands[operand];
    const shape = tensor.shape.map(BigInt);
    const data = load(tensor, shape);
    const isWindow = layouts.has(operand) && tensor.dtype !== "string";
    return { dtype: tensor.dtype, shape, data: isWindow ? inWindow(data) : data };
  });
  return { output: gather(operator, P, I, attributes) };
}

/** What is answered to a call, whatever happens: an exception must not end the process. */
function reply(message) {
  try {
    if (message.cmd !== "call") throw unsupported(`${message.cmd} is not supported`);
    return call(message);
  } catch (failure) {
    if (failure.reply) return failure.reply;
    console.error(failure); // standard error is shown with the verdict
    return { error: { message: String(failure) } };
  }
}

/** The line that answers a line, or undefined for `stop`. */
function answer(line) {
  const message = parse(line);
  if (message.cmd === "stop") return undefined;
  if (message.cmd === "start") return stringify(started());
  return stringify({ seq: message.seq, ...reply(message) });
}

// ---- JSON with integers beyond 2^53, which JSON.parse would round

const INTEGERS = /"[^"\\]*(?:\\.[^"\\]*)*"|-?\d{16,}/g; // a string, which is kept, or a long integer

function parse(line) {
  const marked = line.replace(INTEGERS, (found) => (found[0] === '"' ? found : `"\\u0000${found}"`));
  return JSON.parse(marked, (key, value) =>
    typeof value === "string" && value[0] === "\0" ? BigInt(value.slice(1)) : value);
}

function stringify(message) {
  const marked = JSON.stringify(message, (key, value) => (typeof value === "bigint" ? `\0${value}` : value));
  return marked.replace(/"\\u0000(-?\d+)"/g, "$1");
}

// ---- Lines

// The runner sends calls ahead of the replies. One line is read, answered and written before the next.
for await (const line of createInterface({ input: process.stdin })) {
  const text = answer(line);
  if (text === undefined) process.exit(0); // also while standard input is still open
  await new Promise((written) => process.stdout.write(text + "\n", written));
}
