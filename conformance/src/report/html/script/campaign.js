
/* The campaign after the cases: drawn calls and laws, with the kinds of failures that they found. */

function showCampaign(model) {
  const parts = model.backends.flatMap((backend) => backend.campaign.map((part) => campaignPart(model, backend, part)));
  if (!parts.length) return;
  byId("campaign-parts").append(...parts);
  byId("campaign").hidden = false;
  document.querySelector("nav [href='#campaign']").hidden = false;
}

function campaignPart(model, backend, part) {
  const kinds = part.kinds.map((kind) => kindCard(model, backend, kind));
  return make("div", { class: "outcome" },
    make("h3", {}, `${backend.name}: ${part.title}`),
    make("p", {}, part.said),
    kinds,
    part.repeat && make("details", {}, make("summary", {}, "Repeat this campaign"), copyable(part.repeat)));
}

/** A kind of failures, with the smallest call that shows it. */
function kindCard(model, backend, kind) {
  const { detail } = kind;
  const state = model.states[kind.verdict];
  const text = (key) => (detail[key] ? model.texts[detail[key]] : "");
  const group = { label: model.verdicts[kind.verdict], detail, backends: [backend] };
  return make("details", {},
    make("summary", {}, make("span", { class: `state ${state}` }, stated(state, model.verdicts[kind.verdict])), ` ${kind.id}`),
    described([
      ["law", kind.law],
      ["found", kind.often],
      ["reason", text("reason") && [text("reason"), " ", text("link") && outside(text("link"))]],
      ["call", text("call") && make("pre", {}, text("call"))],
      ["expected", text("expected") && make("pre", {}, text("expected"))],
      ["gave", text("actual") && make("pre", {}, text("actual"))],
      ["difference", text("differs")],
      ["reproduce", kind.reproduce.map(copyable)],
    ]),
    elementTables([group], kind.id),
    model.sets[kind.set].map((one) => clauseText(model, model.clauses[one])));
}
