
/* Starts the page: reads the data, draws what the address asks for, and listens. */

/** Shows one theme, and keeps it for other reports if the browser lets it. */
function switchTheme(theme, isChoice) {
  const button = byId("theme");
  document.documentElement.dataset.theme = theme;
  button.textContent = theme === "dark" ? "Light theme" : "Dark theme";
  try {
    if (isChoice) localStorage.setItem("gatherspec-theme", theme);
  } catch { /* A page from disk may have no storage. */ }
}

function firstTheme() {
  try {
    const kept = localStorage.getItem("gatherspec-theme");
    if (kept === "light" || kept === "dark") return kept;
  } catch { /* As above. */ }
  return matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light";
}

let state = {};

/** Puts a change of the state into the address, without a step of its own in the history. */
function remember(change) {
  state = { ...state, ...change };
  history.replaceState(null, "", address(state));
}

function start() {
  const model = decode(JSON.parse(byId("data").textContent));
  document.documentElement.classList.add("runs");
  switchTheme(firstTheme(), false);
  byId("theme").addEventListener("click", () =>
    switchTheme(document.documentElement.dataset.theme === "dark" ? "light" : "dark", true));
  fillForm(model);
  // Whatever stands above the cases comes first: a link to a case scrolls to where it stays.
  const counts = countClauses(model);
  byId("all-clauses").addEventListener("change", () => showClauses(model, counts));
  showClauses(model, counts);
  showCauses(model);
  showCampaign(model);

  const read = () => {
    state = fromAddress();
    for (const name of FILTERS) byId(name).value = state[name];
    showCases(model, state);
  };
  const filter = () => {
    remember({ ...Object.fromEntries(FILTERS.map((name) => [name, byId(name).value.trim()])), case: "" });
    showCases(model, state);
  };
  read();
  addEventListener("hashchange", () => {
    // A link to a section is no filter.
    if (location.hash !== "" && !location.hash.includes("=")) return;
    read();
    if (state.case === "") byId("cases").scrollIntoView();
  });
  byId("filters").addEventListener("input", filter);
  byId("filters").addEventListener("reset", () => setTimeout(filter));
  byId("filters").addEventListener("submit", (event) => event.preventDefault());
  byId("more").addEventListener("click", () => showMore(model));
  byId("earlier").addEventListener("click", () => showEarlier(model));
  new IntersectionObserver((seen) => {
    if (seen.some((one) => one.isIntersecting)) showMore(model);
  }, { rootMargin: "600px" }).observe(byId("more"));
}

start();
