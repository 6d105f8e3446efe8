// Makes pictures of a report: `node screenshots.mjs REPORT.html FOLDER [CASE]`. It writes light.png, dark.png and case.png,
// the last one of the given case, or of the first in the list.

import path from "node:path";
import { pathToFileURL } from "node:url";

import { launch, open } from "./browser.mjs";

const [report, folder, chosen] = process.argv.slice(2);
const url = pathToFileURL(path.resolve(report)).href;
const browser = await launch();

/** Takes a picture of the window. */
async function picture(name, options, hash = "", before = () => {}) {
  const page = await open(browser, options);
  await page.goto(url + hash);
  await page.evaluate(before);
  await page.screenshot({ path: path.join(folder, name) });
  await page.close();
}

await picture("light.png", { theme: "light", height: 900 });
await picture("dark.png", { theme: "dark", height: 900 });
await picture("narrow.png", { theme: "light", width: 480, height: 900 });
await picture("case.png", { theme: "light", height: 1100 }, chosen ? `#case=${chosen}` : "", () => {
  if (!location.hash) document.querySelector(".opener").click();
  document.querySelector(".opener[aria-expanded=true]").scrollIntoView();
});
await browser.close();
