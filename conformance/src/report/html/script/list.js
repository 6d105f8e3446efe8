
/* The list of cases. Only a window of it is in the page, which grows as it is scrolled. */

/** How many rows are added at a time. */
const STEP = 60;

/** The rows that are in the page: `numbers[start..end]`. */
const list = { numbers: [], start: 0, end: 0 };

/** Shows the chosen cases, from the opened one if it is among them. */
function showCases(model, state) {
  const numbers = chosen(model, state);
  // The id of a run leads to its case.
  const open = state.case === "" ? -1 : model.ids.indexOf(state.case.split("[")[0]);
  const at = open < 0 ? -1 : numbers.indexOf(open);
  const start = Math.max(0, at < STEP ? 0 : at - 5);
  Object.assign(list, { numbers, start, end: Math.min(numbers.length, start + STEP) });
  byId("case-rows").replaceChildren(...rowsOf(model, numbers.slice(list.start, list.end)));
  showEnds();
  const missing = state.case !== "" && at < 0;
  byId("count").textContent = `${counted(numbers.length, "case")} of ${model.count.toLocaleString("en")}`
    + (missing ? `. ${open < 0 ? "This run has no case" : "The filters leave out"} ${state.case}` : "");
  showClause(model, state.clause);
  if (at >= 0) openCase(open);
}

/** Shows or hides the buttons for further rows. */
function showEnds() {
  byId("earlier").hidden = list.start === 0;
  byId("more").hidden = list.end >= list.numbers.length;
}

function showMore(model) {
  const end = Math.min(list.numbers.length, list.end + STEP);
  byId("case-rows").append(...rowsOf(model, list.numbers.slice(list.end, end)));
  list.end = end;
  showEnds();
}

function showEarlier(model) {
  const start = Math.max(0, list.start - STEP);
  byId("case-rows").prepend(...rowsOf(model, list.numbers.slice(start, list.start)));
  list.start = start;
  showEnds();
}

/** The rows of cases. */
function rowsOf(model, numbers) {
  return Array.from(numbers, (number) => caseRow(model, number));
}

/** The row of a case: a button that opens it, and a cell per backend. */
function caseRow(model, number) {
  const id = model.ids[number];
  const folder = model.texts[model.cases.folder[number]];
  const button = make("button", { type: "button", class: "opener", "aria-expanded": "false", "data-case": number },
    folder, make("b", {}, id.slice(folder.length)));
  button.addEventListener("click", () => toggle(model, button, number));
  const cells = model.backends.map((backend) => {
    const state = stateOf(model, backend, number) ?? "unasked";
    return make("td", { class: state }, stated(state, labelOf(model, backend, number)));
  });
  return make("tr", {}, make("th", { scope: "row" }, button), cells);
}

/** Opens or closes a case, and keeps the opened one in the address. */
function toggle(model, button, number) {
  const opens = button.getAttribute("aria-expanded") === "false";
  button.setAttribute("aria-expanded", String(opens));
  const row = button.closest("tr");
  if (opens) {
    const cell = make("td", { colspan: model.backends.length + 1, id: `case-${number}` }, card(model, number));
    row.after(make("tr", { class: "detail" }, cell));
    button.setAttribute("aria-controls", cell.id);
    showFirstDifferences(cell);
  } else {
    row.nextElementSibling.remove();
    button.removeAttribute("aria-controls");
  }
  remember({ case: opens ? model.ids[number] : "" });
}

/** Scrolls each table of elements sideways, to the first that differs. */
function showFirstDifferences(cell) {
  for (const table of cell.querySelectorAll(".elements")) {
    const first = table.querySelector("mark");
    if (first) table.scrollLeft = first.parentElement.offsetLeft - table.clientWidth / 2;
  }
}

/** Opens a case that is in the page, and moves to it. */
function openCase(number) {
  const button = document.querySelector(`[data-case="${number}"]`);
  if (button.getAttribute("aria-expanded") === "false") button.click();
  button.scrollIntoView({ block: "start" });
  button.focus({ preventScroll: true });
}

/** The text of the clause that the cases are filtered by. */
function showClause(model, id) {
  const clause = model.clauses.find((one) => one.id === id);
  byId("chosen-clause").replaceChildren(...(clause ? [clauseText(model, clause)] : []));
}
