
/* The matrix of clauses and backends. */

/** How many rows are shown at first, and how many are added at a time. */
const FIRST_CLAUSES = 8;
const MORE_CLAUSES = 150;

/** By clause and backend, how many cases there are of each state. */
function countClauses(model) {
  const counts = model.clauses.map(() => model.backends.map(() => ({ fail: 0, known: 0, pass: 0, unasked: 0 })));
  model.backends.forEach((backend, at) => {
    for (let number = 0; number < model.count; number++) {
      const state = stateOf(model, backend, number);
      if (state) for (const clause of model.sets[model.cases.set[number]]) counts[clause][at][state]++;
    }
  });
  return counts;
}

/** What matters most of the results under a clause, and the rest. */
function summed({ fail, known, pass, unasked }) {
  const said = [
    ["fail", fail, `${fail.toLocaleString("en")} fail`],
    ["known", known, counted(known, "known deviation")],
    ["pass", pass, `${pass.toLocaleString("en")} pass`],
    ["unasked", unasked, `${unasked.toLocaleString("en")} not asked`],
  ].filter(([, count]) => count > 0);
  if (!said.length) return { state: "unasked", first: "no result", rest: "" };
  const [state, , first] = said[0];
  const rest = said.slice(1).map(([, , text]) => text).join(", ");
  return { state: state === "pass" && unasked ? "part" : state, first, rest };
}

/** Draws the matrix, with clauses that every backend passes only where they are asked for. */
function showClauses(model, counts) {
  const all = byId("all-clauses").checked;
  const isUnusual = (clause) => counts[clause].some((count) => count.fail || count.known);
  const clauses = model.clauses.map((_, clause) => clause);
  const shown = all ? clauses : clauses.filter(isUnusual);
  const rows = byId("clause-rows");
  const more = byId("more-clauses");
  rows.replaceChildren();
  const add = (count) => {
    const from = rows.children.length;
    rows.append(...shown.slice(from, from + count).map((clause) => clauseRow(model, clause, counts[clause])));
    more.hidden = rows.children.length >= shown.length;
  };
  more.onclick = () => add(MORE_CLAUSES);
  add(FIRST_CLAUSES);
  const unusual = clauses.filter(isUnusual).length;
  byId("clauses-hint").textContent = unusual
    ? `Some backend does not pass ${counted(unusual, "clause")} of ${clauses.length.toLocaleString("en")}.`
    : `No failure and no known deviation under any of ${counted(clauses.length, "clause")}.`;
  rows.closest(".wide").hidden = shown.length === 0;
}

function clauseRow(model, clause, counts) {
  const { id, text } = model.clauses[clause];
  const cells = counts.map((count, at) => {
    const { state, first, rest } = summed(count);
    const link = make("a", { href: address({ clause: id, backend: String(at) }) }, stated(state, first), rest && [" ", make("small", {}, rest)]);
    return make("td", { class: state }, link);
  });
  return make("tr", {}, make("th", { scope: "row" }, make("a", { href: address({ clause: id }) }, id), make("p", {}, prose(text))), cells);
}
