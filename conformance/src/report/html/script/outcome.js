
/* What backends answered for one case, side by side. */

/** The outcomes of a case: backends that answered alike stand together, failures first. */
function outcomes(model, number) {
  const groups = new Map();
  for (const backend of model.backends) {
    const label = labelOf(model, backend, number);
    const detail = backend.details.get(number);
    const { actual, stderr, reason, link, at, note, differs, dtypes, run, runs } = detail ?? {};
    const key = JSON.stringify([label, actual, stderr, reason, link, at, note, differs, dtypes, run, runs]);
    if (!groups.has(key)) groups.set(key, { label, detail, state: stateOf(model, backend, number) ?? "unasked", backends: [] });
    groups.get(key).backends.push(backend);
  }
  const rank = ["fail", "known", "pass", "unasked"];
  return [...groups.values()].sort((one, other) => rank.indexOf(one.state) - rank.indexOf(other.state));
}

/** One group of equal outcomes. */
function outcome(model, group, lines) {
  const { detail, state, label } = group;
  const names = group.backends.map((backend) => backend.name).join(", ");
  const title = make("h4", {}, make("span", { class: `state ${state}` }, stated(state, label)), names);
  const text = (key) => (detail?.[key] ? model.texts[detail[key]] : "");
  const fields = [
    ["difference", text("differs")],
    ["gave", !isWhole(detail) && text("actual") && make("pre", {}, text("actual"))],
    ["profile", state === "fail" || state === "known" ? text("profile") : ""],
    ["dtypes", text("dtypes")],
    ["run", text("run")],
    ["runs", text("runs")],
    ["at", text("at")],
    ["note", text("note")],
    ["reason", text("reason") && [text("reason"), " ", text("link") && outside(text("link"))]],
    ["stderr", text("stderr") && make("pre", { class: "block" }, text("stderr"))],
    ["reproduce", lines],
  ];
  return make("div", { class: "outcome" }, title, described(fields));
}

/** Whether the table of elements shows the whole output. */
function isWhole(detail) {
  const elements = detail?.difference?.elements;
  return elements !== undefined && elements.window.expected.length === elements.of;
}

/** A list of fields; those without a value are left out. */
function described(fields) {
  const shown = fields.filter(([, value]) => value && (!Array.isArray(value) || value.length));
  if (!shown.length) return null;
  return make("dl", {}, shown.map(([name, value]) => [make("dt", {}, name), make("dd", {}, value)]));
}

/** The elements that differ in something: one table for all backends that are compared with the same elements. */
function elementTables(groups, what) {
  const tables = new Map();
  for (const group of groups) {
    const elements = group.detail?.difference?.elements;
    if (!elements) continue;
    const waver = group.label.endsWith("nondeterministic");
    const key = JSON.stringify([waver && group.label, elements.dtype, elements.shape, elements.window.start, elements.window.expected]);
    if (!tables.has(key)) tables.set(key, { elements, expected: waver ? "at first" : "expected", rows: [] });
    tables.get(key).rows.push(group);
  }
  return [...tables.values()].map((table) => elementTable(table, what));
}

function elementTable({ elements, expected, rows }, what) {
  const { dtype, shape, window } = elements;
  const wrong = window.expected.map((_, at) => rows.some((row) => differsAt(row, at)));
  const head = window.expected.map((_, at) => make("th", { scope: "col" }, `[${position(shape, window.start + at)}]`));
  const right = window.expected.map((text, at) => make("td", wrong[at] ? { class: "expected-here" } : {}, text));
  const line = (row) => row.detail.difference.elements.window.actual.map((text, at) =>
    make("td", {}, differsAt(row, at) ? make("mark", {}, text) : text));
  const name = (row) => row.backends.map((backend) => backend.name).join(", ");
  const table = make("table", {},
    make("caption", { class: "aside" }, `Elements of ${dtype} [${shape}], those that differ marked`),
    make("thead", {}, make("tr", {}, make("th", { scope: "col" }, `${dtype} [${shape}]`), head)),
    make("tbody", {},
      make("tr", {}, make("th", { scope: "row" }, expected), right),
      rows.map((row) => make("tr", {}, make("th", { scope: "row" }, name(row)), line(row)))));
  return make("div", { class: "elements", tabindex: "0", role: "region", "aria-label": `Elements that differ in ${what}` }, table);
}

function differsAt(row, at) {
  const { window } = row.detail.difference.elements;
  return window.expected[at] !== window.actual[at];
}

/** The multi-index of an element from its row-major number. */
function position(shape, number) {
  const at = [];
  for (const dim of [...shape].reverse()) {
    at.unshift(number % dim);
    number = Math.floor(number / dim);
  }
  return at.join(", ");
}
