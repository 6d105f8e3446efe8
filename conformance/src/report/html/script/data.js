
/* The data of the page: columns, made ready to be looked up. */

/** Reads the data: see `Data` in html.rs for what it holds. */
function decode(raw) {
  const { cases, texts } = raw;
  const count = cases.name.length;
  const ids = cases.name.map((name, number) => texts[cases.folder[number]] + texts[name]);
  const backends = raw.backends.map((backend) => ({
    ...backend,
    verdicts: expanded(backend.verdicts, count),
    details: new Map(backend.details.map((detail) => [detail.case ?? 0, detail])),
  }));
  const model = { ...raw, backends, count, ids, haystacks: new Array(count) };
  model.order = ordered(model);
  return model;
}

/** What stands for a verdict where the operator is not declared; -1 where there is no result for another reason. */
const UNDECLARED = -2;

/** Verdicts, each with how often it follows itself, as one per case. */
function expanded(runs, count) {
  const verdicts = new Int8Array(count).fill(-1);
  for (let run = 0, at = 0; run < runs.length; run += 2) {
    verdicts.fill(runs[run], at, at + runs[run + 1]);
    at += runs[run + 1];
  }
  return verdicts;
}

/** The state of a result: `fail`, `known`, `unasked`, `pass`, or null without one. */
function stateOf(model, backend, number) {
  const verdict = backend.verdicts[number];
  if (verdict === UNDECLARED) return "unasked";
  return verdict < 0 ? null : model.states[verdict];
}

/** The name of the verdict of a result, with what a known deviation hides. */
function labelOf(model, backend, number) {
  const verdict = backend.verdicts[number];
  if (verdict === UNDECLARED) return "not declared";
  if (verdict < 0) return "no result";
  const state = model.states[verdict];
  const detail = backend.details.get(number);
  if (state === "known" && detail?.observed !== undefined) return `known: ${model.verdicts[detail.observed]}`;
  if (state === "unasked") return "not asked";
  return model.verdicts[verdict];
}

/** How much larger than its elements a call without elements counts: more than any call has. */
const EMPTY = 2 ** 52;

/**
 * The numbers of all cases: failures first, then known deviations, then what was not asked, then the rest. Of those that
 * do not pass, small calls come first, since they are the easiest to understand; those without elements are not.
 */
function ordered(model) {
  const ranks = new Uint8Array(model.count).fill(3);
  const sizes = new Float64Array(model.count);
  const rank = { fail: 0, known: 1, unasked: 2 };
  for (const backend of model.backends) {
    // Whatever does not pass has details.
    for (const [number, { size, empty }] of backend.details) {
      sizes[number] = (size ?? 0) + (empty ? EMPTY : 0);
      ranks[number] = Math.min(ranks[number], rank[stateOf(model, backend, number)] ?? 3);
    }
  }
  const order = Int32Array.from({ length: model.count }, (_, number) => number);
  return order.sort((one, other) => ranks[one] - ranks[other] || sizes[one] - sizes[other] || one - other);
}

/** The text of a case that a search looks into, in lower case. */
function haystack(model, number) {
  const known = model.haystacks[number];
  if (known !== undefined) return known;
  const parts = [model.ids[number], model.texts[model.cases.why[number]]];
  for (const backend of model.backends) {
    const detail = backend.details.get(number);
    if (!detail) continue;
    for (const key of ["actual", "note", "stderr", "reason", "differs"]) {
      if (detail[key]) parts.push(model.texts[detail[key]]);
    }
  }
  return (model.haystacks[number] = parts.join("\n").toLowerCase());
}
