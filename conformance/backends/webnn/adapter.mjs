// WebNN in a real browser: `MLGraphBuilder`'s gather, gatherElements and gatherND on the CPU of Chromium, one graph for
// each call. A page stays open and answers the calls, which reach it over Chromium's debugging pipe. Nothing is checked
// that the browser does not check: an exception of the page is the error.
//
// node adapter.mjs FOLDER, where FOLDER has the package @sparticuz/chromium, which holds the browser.

import { spawn } from "node:child_process";
import { closeSync, existsSync, mkdtempSync, openSync, readSync, renameSync, rmSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { pathToFileURL } from "node:url";

const DATA_TYPES = {
  f32: "float32", f16: "float16", i32: "int32", u32: "uint32", i64: "int64", u64: "uint64", i8: "int8", u8: "uint8",
};
const BYTES = { f32: 4, f16: 2, i32: 4, u32: 4, i64: 8, u64: 8, i8: 1, u8: 1 };
// The operands that are constants of the graph in each call: on the CPU, Chromium builds gatherElements with no other indices.
const ALWAYS = { gather: [], gatherElements: ["indices"], gatherND: [] };
const OPERATORS = Object.keys(ALWAYS);
const variants = (method) => ["input", "indices"].filter((name) => !ALWAYS[method].includes(name)).map((name) => `${name}=constant`);
// For the page to open, of 10 ms each.
const MOST_WAITS = 3000;

// ---- In the page

/** The limits of the context that all calls share. */
async function open() {
  globalThis.context = await navigator.ml.createContext({ deviceType: "cpu" });
  context.lost.then((info) => { globalThis.lost = info.message; });
  return context.opSupportLimits();
}

/** The output of a call: its data type, its shape, and its bytes in base64. */
async function run(method, input, indices, constants, options) {
  const builder = new MLGraphBuilder(context);
  const operands = Object.entries({ input, indices }).map(([name, { data, ...descriptor }]) =>
    ({ name, descriptor, bytes: Uint8Array.fromBase64(data) }));
  const [params, rows] = operands.map(({ name, descriptor, bytes }) =>
    (constants.includes(name) ? builder.constant(descriptor, bytes) : builder.input(name, descriptor)));
  const output = builder[method](params, rows, options);
  const { dataType, shape } = output;
  const [owned, inputs] = [[], {}];
  const tensor = async (descriptor, bytes) => {
    owned.push(await context.createTensor({ ...descriptor, writable: true, readable: true }));
    if (bytes) context.writeTensor(owned.at(-1), bytes);
    return owned.at(-1);
  };
  try {
    owned.push(await builder.build({ output }));
    const given = operands.filter(({ name }) => !constants.includes(name));
    for (const { name, descriptor, bytes } of given) inputs[name] = await tensor(descriptor, bytes);
    const outputs = { output: await tensor({ dataType, shape: [...shape] }) };
    context.dispatch(owned[0], inputs, outputs);
    const bytes = new Uint8Array(await context.readTensor(outputs.output));
    return { dataType, shape: [...shape], data: bytes.toBase64() };
  } catch (error) {
    // A context that is lost answers no further call, so that only a new browser helps.
    await new Promise((later) => setTimeout(later));
    return globalThis.lost === undefined ? Promise.reject(error) : { lost: `${globalThis.lost} ${error}` };
  } finally {
    owned.forEach((one) => one.destroy());
  }
}

// ---- The browser

function fail(why) {
  console.error(why);
  process.exit(1);
}

/** The browser's program. Unpacked beside its package once, into a folder that appears when it is whole. */
async function unpacked(folder) {
  const ready = join(folder, "browser");
  if (!existsSync(ready)) {
    // The package unpacks into the folder of temporary files, and would take for its own whatever it finds there.
    const before = process.env.TMPDIR;
    process.env.TMPDIR = mkdtempSync(join(folder, "unpacking-"));
    await createRequire(join(folder, "package.json"))("@sparticuz/chromium").default.executablePath();
    try {
      renameSync(process.env.TMPDIR, ready);
    } catch (error) {
      rmSync(process.env.TMPDIR, { recursive: true }); // another process was faster
      if (!existsSync(ready)) throw error;
    }
    if (before === undefined) delete process.env.TMPDIR;
    else process.env.TMPDIR = before;
  }
  return join(ready, "chromium");
}

/** Starts the browser; returns a function that sends a command of the debugging protocol. */
async function browser(folder) {
  // Root, as in many containers, has no sandbox; the only page is ours.
  const flags = ["--headless", "--no-sandbox", "--ignore-gpu-blocklist", "--enable-features=WebMachineLearningNeuralNetwork"];
  const stdio = ["ignore", "ignore", "inherit", "pipe", "pipe"];
  const child = spawn(await unpacked(folder), [...flags, "--remote-debugging-pipe", "about:blank"], { stdio });
  child.on("error", (error) => fail(`Chromium cannot be started: ${error.message}`));
  child.on("exit", (code, signal) => fail(`Chromium has ended (${signal ?? code}); it needs the libraries nspr, nss and expat`));
  process.on("exit", () => child.kill("SIGKILL"));
  const [commands, replies] = child.stdio.slice(3);
  commands.on("error", () => {}); // the exit of the child says why
  const waiting = new Map();
  let [last, parts] = [0, []];
  replies.setEncoding("utf8").on("error", () => {}).on("data", (text) => {
    parts.push(text);
    if (!text.includes("\0")) return;
    const messages = parts.join("").split("\0");
    parts = [messages.pop()];
    for (const message of messages.map((one) => JSON.parse(one))) {
      if (message.method === "Inspector.targetCrashed") fail("the page has crashed");
      const answer = waiting.get(message.id);
      waiting.delete(message.id);
      answer?.(message);
    }
  });
  return (method, params, sessionId) => new Promise((answer) => {
    const id = last++;
    waiting.set(id, ({ result, error }) => (error ? fail(`${method}: ${error.message}`) : answer(result)));
    commands.write(JSON.stringify({ id, method, params, sessionId }) + "\0");
  });
}

/** Opens a page; returns the browser's version and a function that calls one of the functions above in the page. */
async function page(folder) {
  const send = await browser(folder);
  const { product } = await send("Browser.getVersion", {});
  // WebNN is there for pages of a secure context only, which a page of a file is.
  const { targetId } = await send("Target.createTarget", { url: pathToFileURL(join(folder, "package.json")).href });
  const { sessionId } = await send("Target.attachToTarget", { targetId, flatten: true });
  await send("Inspector.enable", {}, sessionId);
  const evaluate = async (...parts) => {
    const expression = `(${parts.join("")})`;
    const asked = { expression, awaitPromise: true, returnByValue: true };
    const { result, exceptionDetails: thrown } = await send("Runtime.evaluate", asked, sessionId);
    if (thrown) throw new Error((thrown.exception?.description ?? thrown.text).split("\n")[0]);
    return result.value;
  };
  const inPage = (method, ...values) => evaluate(method, "(", values.map((value) => JSON.stringify(value)).join(), ")");
  for (let waits = 0; !(await evaluate("document.readyState === 'complete' && location.protocol === 'file:'")); waits++) {
    if (waits === MOST_WAITS) fail(`the page of ${folder} did not open`);
    await new Promise((later) => setTimeout(later, 10));
  }
  return { version: product.split("/")[1], inPage };
}

// ---- The backend protocol

const nameOf = (dataType) => Object.keys(DATA_TYPES).find((name) => DATA_TYPES[name] === dataType);
const named = ({ dataTypes }) => dataTypes.map(nameOf).filter((name) => name !== undefined);

/** A tensor as the page takes it. What has no data type keeps its name, which the browser refuses. */
function operand({ dtype, shape, data, file, offset }) {
  if (!Object.hasOwn(DATA_TYPES, dtype)) return { dataType: dtype, shape, data: "" };
  if (file !== undefined) {
    const bytes = Buffer.alloc(shape.reduce((count, dim) => count * dim, BYTES[dtype]));
    const from = openSync(file);
    for (let read = 0; read < bytes.length; ) {
      const more = readSync(from, bytes, read, bytes.length - read, offset + read);
      if (more === 0) fail(`${file} ends within the data of a tensor`);
      read += more;
    }
    closeSync(from);
    data = bytes.toString("base64");
  }
  return { dataType: DATA_TYPES[dtype], shape, data };
}

async function reply({ inPage }, { cmd, operator, operands, attributes, variant = "" }) {
  const method = operator?.replace("webnn.", "");
  if (cmd !== "call" || !OPERATORS.includes(method)) return { unsupported: `${cmd} ${operator}` };
  const asked = variant.split(",").filter((one) => one !== "");
  if (!asked.every((one) => variants(method).includes(one))) return { unsupported: `${operator} with ${variant}` };
  const constants = [...ALWAYS[method], ...asked.map((one) => one.split("=")[0])];
  try {
    const result = await inPage(run, method, operand(operands.input), operand(operands.indices), constants, attributes);
    if (result.lost !== undefined) fail(`the context is lost: ${result.lost}`);
    return { output: { dtype: nameOf(result.dataType), shape: result.shape, data: result.data } };
  } catch (error) {
    return { error: { message: error.message } };
  }
}

const opened = await page(process.argv[2]).catch((error) => fail(error.stack));
const limits = await opened.inPage(open).catch((error) => fail(`this Chromium has no WebNN: ${error.message}`));
const profile = { bad: "clamp", negative: "wrap" };
const declared = ({ input, indices }) => ({ profile, dtypes: named(input), index_dtypes: named(indices) });
const operators = Object.fromEntries(OPERATORS.map((method) =>
  [`webnn.${method}`, { ...declared(limits[method]), variants: variants(method) }]));

for await (const line of createInterface({ input: process.stdin })) {
  const message = JSON.parse(line);
  if (message.cmd === "stop") break;
  const started = { protocol: 2, backend: { name: "webnn", version: opened.version, language: "JavaScript" }, operators };
  const answer = message.cmd === "start" ? started : { seq: message.seq, ...(await reply(opened, message)) };
  await new Promise((written) => process.stdout.write(JSON.stringify(answer) + "\n", written));
}
process.exit(0);
