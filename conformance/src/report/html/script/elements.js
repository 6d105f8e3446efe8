
/* Elements of the page. Texts become text nodes, never HTML. */

/** Makes an element: `make("a", { href }, "text", child)`. A child that is null or false is left out. */
function make(tag, attributes, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes ?? {})) {
    if (name === "onclick") element.addEventListener("click", value);
    else if (value !== null && value !== false) element.setAttribute(name, value === true ? "" : value);
  }
  element.append(...children.flat(Infinity).filter((child) => child !== null && child !== false));
  return element;
}

const byId = (id) => document.getElementById(id);

const MARKS = { pass: "✓", known: "△", part: "◐", fail: "✗", unasked: "–" };

/** A state as a sign and words, so that it does not rest on colour. */
function stated(state, words) {
  return [make("span", { "aria-hidden": "true" }, MARKS[state]), ` ${words}`];
}

/** A text of the specification: what stands in backquotes is code. */
function prose(text) {
  return text.split("`").map((part, at) => (at % 2 ? make("code", {}, part) : part));
}

/** A link to an address from outside: only to the web, and in words that say where it leads. */
function outside(address, words) {
  if (!/^https?:\/\//.test(address)) return document.createTextNode(words ?? address);
  return make("a", { href: address, rel: "noopener noreferrer" }, words ?? address);
}

const counted = (count, noun) => `${count.toLocaleString("en")} ${noun}${count === 1 ? "" : "s"}`;

/** A line with a button that copies it. */
function copyable(line) {
  const code = make("code", {}, line);
  const button = make("button", { type: "button", "aria-label": `Copy: ${line}` }, "Copy");
  button.addEventListener("click", async () => {
    const done = await copied(line, code);
    button.textContent = done ? "Copied" : "Press Ctrl+C";
    byId("said").textContent = done ? "Copied to the clipboard" : "Selected: press Ctrl+C to copy";
    setTimeout(() => { button.textContent = "Copy"; }, 2000);
  });
  return make("div", { class: "copyable block" }, code, button);
}

/** Copies a text. Where the browser forbids it, selects the element that shows the text. */
async function copied(text, element) {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    getSelection().selectAllChildren(element);
    return false;
  }
}
