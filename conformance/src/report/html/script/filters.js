
/* Which cases are shown. The filters stand in the part of the address behind `#`, so that a link keeps them. */

const FILTERS = ["text", "verdict", "backend", "operator", "form", "basis", "clause"];

/** What the address says: the filters, and the case to open. */
function fromAddress() {
  const said = new URLSearchParams(location.hash.slice(1).replaceAll("+", "%2B"));
  return Object.fromEntries([...FILTERS, "case"].map((name) => [name, said.get(name) ?? ""]));
}

/** The address of filters and of an opened case: `#operator=numpy.take&case=…`. */
function address(state) {
  const said = Object.entries(state).filter(([, value]) => value !== "");
  // What may stand behind `#` as it is, stays readable.
  const escaped = (text) => encodeURIComponent(text).replace(/%(2F|5B|5D|2C|3D|3A|40)/g, decodeURIComponent);
  return `#${said.map(([name, value]) => `${name}=${escaped(value)}`).join("&")}`;
}

/** The numbers of the cases that the filters let through, those that do not pass first. */
function chosen(model, state) {
  const rows = rowFilter(model, state);
  const wants = verdictFilter(model, state);
  const words = state.text.toLowerCase().split(/\s+/).filter(Boolean);
  const said = (number) => words.every((word) => haystack(model, number).includes(word));
  return model.order.filter((number) => rows[number] && wants(number) && said(number));
}

/** Which cases the filters let through that ask for what does not depend on backends. */
function rowFilter(model, { operator, form, basis, clause }) {
  const { cases } = model;
  const sets = model.sets.map((set) => clause === "" || set.some((one) => isUnder(model.clauses[one].id, clause)));
  const operators = model.cases.operators.map((one) => (operator === "" || one.id === operator) && (form === "" || one.form === form));
  const bases = model.bases.map((one) => basis === "" || one === basis);
  return cases.name.map((_, number) => sets[cases.set[number]] && operators[cases.operator[number]] && bases[cases.basis[number]]);
}

/** Whether a clause is meant: by its id, or by the beginning of it. */
function isUnder(id, prefix) {
  return id.startsWith(prefix);
}

/** Whether a case has a verdict on some backend, or on the chosen one. */
function verdictFilter(model, { verdict, backend }) {
  const one = model.backends[Number(backend)];
  const backends = backend === "" || !one ? model.backends : [one];
  const some = (test) => (number) => backends.some((backend) => test(backend, number));
  const number = model.verdicts.indexOf(verdict);
  switch (verdict) {
    case "": return () => true;
    case "fails": return some((backend, at) => stateOf(model, backend, at) === "fail");
    case "not-pass": return some((backend, at) => ["fail", "known"].includes(stateOf(model, backend, at)));
    case "differ": return (at) => differs(model, at);
    default: return some((backend, at) =>
      backend.verdicts[at] === number || (number >= 0 && backend.details.get(at)?.observed === number));
  }
}

/** Whether a case passes on some backend and not on another that was asked. */
function differs(model, number) {
  const states = model.backends.map((backend) => stateOf(model, backend, number));
  return states.includes("pass") && states.some((state) => state === "fail" || state === "known");
}

/** Fills the lists of the form. */
function fillForm(model) {
  const fill = (id, options) => byId(id).append(...options.map(([value, text]) => make("option", { value }, text)));
  const plain = (names) => names.map((name) => [name, name]);
  const used = new Set();
  for (const backend of model.backends) {
    backend.verdicts.forEach((verdict) => used.add(verdict));
    backend.details.forEach((detail) => used.add(detail.observed));
  }
  fill("verdict", [["", "any"], ["fails", "fails"], ["not-pass", "fails or known deviation"]]);
  if (model.backends.length > 1) fill("verdict", [["differ", "backends differ"]]);
  fill("verdict", plain(model.verdicts.filter((_, number) => used.has(number))));
  fill("backend", [["", "any"], ...model.backends.map((backend, at) => [String(at), backend.name])]);
  fill("operator", [["", "any"], ...plain(model.cases.operators.map((one) => one.id))]);
  fill("form", [["", "any"], ...plain([...new Set(model.cases.operators.map((one) => one.form))])]);
  fill("basis", [["", "any"], ...plain(model.bases)]);
  fill("clause-ids", model.clauses.map((clause) => [clause.id, ""]));
}
