// Runs exported graphs of WebNN on the CPU of Chromium: `node graphs.mjs FOLDER`. Each is built as web platform tests build graphs: from
// inputs or constants, a list of operators, and expected outputs, which must be equal number by number. Prints how many passed, how many
// the browser has no kernel for, and the names of the others, and ends with status 1 if there are any.

import { readFileSync, readdirSync } from "node:fs";
import path from "node:path";
import { pathToFileURL } from "node:url";

import { launch } from "./browser.mjs";

const [folder] = process.argv.slice(2);

/** Runs graphs in the page; returns what is wrong with each, or null. */
async function run(tests) {
  const arrays = {
    float32: Float32Array, float16: Float16Array, int32: Int32Array, uint32: Uint32Array, int8: Int8Array, uint8: Uint8Array,
    int64: BigInt64Array, uint64: BigUint64Array,
  };
  globalThis.context ??= await navigator.ml.createContext({ deviceType: "cpu" });
  const typed = ({ data, descriptor: { dataType } }) =>
    arrays[dataType].from(data, dataType.endsWith("64") ? BigInt : Number);
  const one = async ({ graph: { inputs, operators: [operator], expectedOutputs } }) => {
    const builder = new MLGraphBuilder(context);
    const operands = Object.fromEntries(Object.entries(inputs).map(([name, input]) =>
      [name, input.constant ? builder.constant(input.descriptor, typed(input)) : builder.input(name, input.descriptor)]));
    const given = operator.arguments.map((argument) => Object.entries(argument)[0])
      .map(([name, value]) => (name === "options" ? value : operands[value]));
    const [[name, expected]] = Object.entries(expectedOutputs);
    const built = builder[operator.name](...given);
    if (JSON.stringify([built.dataType, [...built.shape]]) !== JSON.stringify([expected.descriptor.dataType, expected.descriptor.shape])) {
      return `${built.dataType} ${built.shape}`;
    }
    const graph = await builder.build({ [name]: built });
    const tensors = {};
    for (const [input, value] of Object.entries(inputs).filter(([, value]) => !value.constant)) {
      tensors[input] = await context.createTensor({ ...value.descriptor, writable: true });
      context.writeTensor(tensors[input], typed(value));
    }
    const output = await context.createTensor({ ...expected.descriptor, readable: true });
    context.dispatch(graph, tensors, { [name]: output });
    const found = new arrays[expected.descriptor.dataType](await context.readTensor(output));
    [graph, output, ...Object.values(tensors)].forEach((owned) => owned.destroy());
    const same = typed(expected).every((value, at) => Object.is(value, found[at]));
    return same && found.length === expected.data.length ? null : `gives ${found.slice(0, 8)}`;
  };
  const wrong = [];
  for (const test of tests) wrong.push(await one(test).catch((error) => String(error).split("\n")[0]));
  return wrong;
}

const browser = await launch(["--ignore-gpu-blocklist", "--enable-features=WebMachineLearningNeuralNetwork"]);
const page = await browser.newPage();
await page.goto(pathToFileURL(path.resolve(folder, "manifest.json")).href);
const UNSUPPORTED = /NotSupportedError|Unsupported (data type|rank)|maximum rank/;
const counts = { passed: 0, unsupported: 0, failed: 0 };
for (const file of readdirSync(folder).filter((name) => name !== "manifest.json")) {
  const tests = JSON.parse(readFileSync(path.join(folder, file), "utf8"));
  for (let at = 0; at < tests.length; at += 100) {
    const some = tests.slice(at, at + 100);
    (await page.evaluate(run, some)).forEach((wrong, place) => {
      const kind = wrong === null ? "passed" : UNSUPPORTED.test(wrong) ? "unsupported" : "failed";
      counts[kind]++;
      if (kind === "failed") console.log(`${some[place].name}: ${wrong}`);
    });
  }
}
const said = Object.entries(counts).map(([kind, count]) => `${count} ${kind}`).join(", ");
console.log(`${said}: ${await browser.version()}`);
await browser.close();
process.exit(counts.failed || !counts.passed ? 1 : 0);
