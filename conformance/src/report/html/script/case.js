
/* An opened case: clauses, call, allowed outcomes, and what every backend gave. */

/** The line that repeats a case on a backend, or the run of it that failed. */
function repeating(model, backend, number, detail) {
  const [before, after] = backend.repeat;
  return before + model.ids[number] + (detail?.run ? model.texts[detail.run] : "") + after;
}

/** Everything that is known of a case. `where` tells two cards of one case apart. */
function card(model, number, where = "") {
  const id = model.ids[number];
  const column = (name) => model.texts[model.cases[name][number]];
  const runs = model.cases.runs[number];
  const groups = outcomes(model, number);
  const tables = elementTables(groups, id + where);
  const [why, example] = [column("why"), column("example")];
  return make("div", { class: "card" },
    make("p", {},
      make("a", { href: address({ case: id }) }, "link to this case"),
      ` · basis ${model.bases[model.cases.basis[number]]}`,
      runs > 1 && ` · ${runs} runs`,
      example && ` · documented example ${example}`),
    why && make("p", {}, prose(why)),
    make("h3", {}, model.sets[model.cases.set[number]].length === 1 ? "Clause" : "Clauses"),
    model.sets[model.cases.set[number]].map((one) => clauseText(model, model.clauses[one])),
    callText(model, number, groups),
    picture(model, groups),
    make("h3", {}, "Outcomes"),
    tables,
    groups.map((group) => outcome(model, group, group.state === "pass" || group.state === "unasked"
      ? null : group.backends.map((backend) => copyable(repeating(model, backend, number, group.detail))))),
    make("h3", {}, "Look closer"),
    copyable(`gatherspec show '${id}'`),
    passing(groups).map((backend) => copyable(repeating(model, backend, number))));
}

/** The backends that pass, whose lines stand last. */
function passing(groups) {
  return groups.filter((group) => group.state === "pass").flatMap((group) => group.backends);
}

/** The calls as sent and what was allowed. They differ where backends declare different dtypes or policies. */
function callText(model, number, groups) {
  const sent = new Map();
  for (const { detail, backends } of groups) {
    if (!detail?.call) continue;
    const key = `${detail.call} ${detail.expected}`;
    if (!sent.has(key)) sent.set(key, { call: model.texts[detail.call], allowed: detail.expected ?? 0, backends: [] });
    sent.get(key).backends.push(...backends.map((backend) => backend.name));
  }
  if (!sent.size && model.cases.call[number]) {
    const { id } = model.cases.operators[model.cases.operator[number]];
    sent.set("", { call: id + model.texts[model.cases.call[number]], allowed: model.cases.allowed[number], backends: [] });
  }
  if (!sent.size) return make("p", { class: "hint" }, "The call is too long to be kept here: see the line at the end.");
  const isFirst = model.cases.runs[number] > 1 && sent.get("") !== undefined;
  const whose = (one) => (sent.size > 1 ? ` (${one.backends.join(", ")})` : isFirst ? " of the first run" : "");
  return [...sent.values()].map((one) => [
    make("h3", {}, `Call${whose(one)}`),
    make("pre", { class: "block" }, one.call),
    make("h3", {}, "Allowed"),
    make("pre", { class: "block" }, model.texts[one.allowed]),
  ]);
}

/** The picture of the call, if the report has one: an image, so that nothing in it is run. */
function picture(model, groups) {
  const drawn = groups.find((group) => group.detail?.picture)?.detail.picture;
  if (!drawn) return null;
  const source = `data:image/svg+xml,${encodeURIComponent(model.texts[drawn])}`;
  return make("img", { class: "picture", src: source, alt: "Which slice of params goes where in the output" });
}

/** A clause with its documents and rulings. */
function clauseText(model, clause) {
  const source = ([document, section]) => {
    const { title, address } = model.documents[document];
    return [outside(address, `${title}, “${section}”`), " "];
  };
  return make("div", { class: "clause" },
    make("a", { class: "id", href: address({ clause: clause.id }) }, clause.id), ` (${clause.basis})`,
    make("p", {}, prose(clause.text)),
    make("p", {}, make("small", {}, "from "), clause.sources.map(source)),
    (clause.rulings ?? []).map((one) => ruling(model.rulings[one])));
}

function ruling({ id, title, says, decision }) {
  return make("details", {},
    make("summary", {}, `Ruling ${id}: ${title}`),
    make("p", {}, make("strong", {}, "The documents: "), prose(says)),
    make("p", {}, make("strong", {}, "The decision: "), prose(decision)));
}
