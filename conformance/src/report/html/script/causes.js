
/* Failures by cause, as the terminal and report.md group them: the most telling case in full, and links to the others. */

/** How many causes of a backend are shown at first, and how many are added at a time. */
const CAUSES = 12;

function showCauses(model) {
  const failing = model.backends.filter((backend) => backend.causes.length);
  if (!failing.length) return;
  byId("cause-parts").append(...failing.map((backend) => causesOf(model, backend)));
  byId("causes").hidden = false;
  document.querySelector("nav [href='#causes']").hidden = false;
}

function causesOf(model, backend) {
  const { causes } = backend;
  const failures = causes.reduce((sum, { cases }) => sum + cases.length, 0);
  const shown = make("div", {});
  const more = make("button", { type: "button" }, "Show more causes");
  const add = () => {
    const from = shown.children.length;
    shown.append(...causes.slice(from, from + CAUSES).map((cause) => causeCard(model, backend, cause)));
    more.hidden = shown.children.length >= causes.length;
  };
  more.addEventListener("click", add);
  add();
  return make("div", { class: "outcome" },
    make("h3", {}, `${backend.name}: ${counted(failures, "failure")} of ${counted(causes.length, "likely cause")}`), shown, more);
}

/** One cause. Its case is drawn when it is opened. */
function causeCard(model, backend, { shared, cases: [first, ...others] }) {
  const verdict = labelOf(model, backend, first);
  const also = others.length ? [" ", make("small", {}, `and ${others.length.toLocaleString("en")} more`)] : null;
  const box = make("details", { class: "cause" },
    make("summary", {}, make("span", { class: "state fail" }, stated("fail", verdict)), ` ${model.ids[first]}`, also));
  box.addEventListener("toggle", () => {
    if (!box.open || box.children.length > 1) return;
    box.append(card(model, first, `, on ${backend.name}`), ...otherCases(model, shared, others));
  });
  return box;
}

/** Links to the other cases of a cause. */
function otherCases(model, shared, others) {
  if (!others.length) return [];
  const links = others.map((number) => make("li", {}, make("a", { href: address({ case: model.ids[number] }) }, model.ids[number])));
  return [make("details", {}, make("summary", {}, `${others.length.toLocaleString("en")} more of this verdict and ${shared}`), make("ul", {}, links))];
}
