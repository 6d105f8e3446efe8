// Checks the HTML report in Chromium: `node check.mjs FOLDER GATHERSPEC`. The folder holds the reports that browser.rs
// makes. Prints a line per check, and ends with status 1 if one fails.

import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { readFileSync, statSync } from "node:fs";
import { createRequire } from "node:module";
import path from "node:path";
import { pathToFileURL } from "node:url";

import { launch, open } from "./browser.mjs";

const [folder, gatherspec] = process.argv.slice(2);
const axe = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
const report = (name) => path.join(folder, name, "report.html");
const url = (name, hash = "") => pathToFileURL(report(name)).href + hash;

/** The median of a list of numbers. */
const median = (list) => [...list].sort((one, other) => one - other)[Math.floor(list.length / 2)];

const texts = (page, selector) => page.$$eval(selector, (all) => all.map((one) => one.textContent.trim()));
const count = async (page) => Number((await page.$eval("#count", (one) => one.textContent)).split(" ")[0].replaceAll(",", ""));
/** Chooses an option, and waits until the list follows. */
const choose = (page, id, value) => page.select(`#${id}`, value);

/** Opens a report, notes what goes wrong, runs the check, and demands that nothing did. */
async function on(browser, name, hash, check, options) {
  const page = await open(browser, options);
  const wrong = [];
  page.on("console", (said) => ["error", "warn"].includes(said.type()) && wrong.push(said.text()));
  page.on("pageerror", (error) => wrong.push(error.message));
  page.on("request", (request) => !/^(file|data):/.test(request.url()) && wrong.push(`loads ${request.url()}`));
  await page.goto(url(name, hash));
  await check(page);
  assert.deepEqual(wrong, []);
  await page.close();
}

const checks = {
  async "a report opens from disk, and its sentences are those of the run"(browser) {
    await on(browser, "wrong", "", async (page) => {
      const run = JSON.parse(readFileSync(path.join(folder, "wrong", "report.json"), "utf8"));
      assert.deepEqual(await texts(page, ".overview p"), run.backends.map((backend) => backend.summary.sentence));
      assert.equal(await count(page), run.backends[0].results.length);
      const first = await texts(page, "#case-rows tr:first-child td");
      assert.match(first[0], /wrong-output|wrong-error|rejected|accepted/);
    });
  },

  async "failures stand by cause, and a cause opens to its case"(browser) {
    await on(browser, "wrong", "", async (page) => {
      const run = JSON.parse(readFileSync(path.join(folder, "wrong", "report.json"), "utf8"));
      const fails = ({ verdict }) => !["pass", "unsupported", "known-deviation"].includes(verdict);
      const heads = await texts(page, "#cause-parts h3");
      assert.equal(heads.length, run.backends.length);
      run.backends.forEach(({ results }, at) => {
        assert.ok(heads[at].includes(`: ${results.filter(fails).length} failures of `), heads[at]);
      });
      await page.click("#cause-parts summary");
      await page.waitForSelector("#cause-parts .card .outcome");
    });
    await on(browser, "large", "", async (page) => {
      const [first, causes] = await page.evaluate(() => {
        const [{ causes, details }] = decode(JSON.parse(document.getElementById("data").textContent)).backends;
        const empty = causes.map(({ cases }) => cases.map((number) => Boolean(details.get(number).empty)));
        return [empty, document.querySelectorAll("#cause-parts .outcome:first-child .cause").length];
      });
      assert.ok(first.some((cases) => cases.length > 1) && first.length > causes && causes === 12, `${first.length} causes`);
      // What only calls without elements show comes last, of causes and inside each.
      assert.ok(first.every((cases) => cases.every((empty, at) => !empty || cases.slice(at).every(Boolean))));
      assert.ok(first.every(([empty], at) => !empty || first.slice(at).every(([other]) => other)));
    });
  },

  async "filters choose cases, and the address keeps them"(browser) {
    await on(browser, "large", "", async (page) => {
      const all = await count(page);
      await choose(page, "verdict", "fails");
      const failing = await count(page);
      assert.ok(failing > 0 && failing < all, `${failing} of ${all}`);
      const rows = await page.$$eval("#case-rows tr", (all) => all.map((row) => row.textContent));
      assert.ok(rows.every((row) => row.includes("✗")));
      await choose(page, "form", "window");
      const windows = await count(page);
      assert.ok(windows > 0 && windows < failing, `${windows} of ${failing}`);
      await choose(page, "backend", "3");
      const of = await count(page);
      assert.ok(of > 0 && of < windows, `${of} of ${windows}`);
      await page.reload();
      assert.equal(await count(page), of);
      assert.equal(await page.$eval("#form", (one) => one.value), "window");
      await page.click("button[type=reset]");
      await page.waitForFunction((count) => document.getElementById("count").textContent.startsWith(count), {}, all.toLocaleString("en"));
      await page.type("#text", "no such text anywhere");
      assert.equal(await count(page), 0);
    });
  },

  async "a link opens its case, wherever it stands in the list"(browser) {
    const ids = await onIds(browser);
    for (const id of [ids[0], ids[Math.floor(ids.length / 2)], ids.at(-1)]) {
      await on(browser, "large", `#case=${id}`, async (page) => {
        const open = await texts(page, ".opener[aria-expanded=true]");
        assert.deepEqual(open, [id]);
        assert.ok(await page.$eval(".opener[aria-expanded=true]", (one) => {
          const { top } = one.getBoundingClientRect();
          return document.activeElement === one && top >= 0 && top < innerHeight;
        }));
        const card = await page.$eval(".card", (one) => one.textContent);
        assert.ok(card.includes(`gatherspec show '${id}'`), card);
      });
    }
  },

  async "a link to a clause shows it and its cases"(browser) {
    await on(browser, "wrong", "", async (page) => {
      const [id] = await texts(page, "#clause-rows th a");
      await page.click("#clause-rows th a");
      await page.waitForSelector("#chosen-clause .clause");
      assert.equal((await texts(page, "#chosen-clause .id"))[0], id);
      assert.equal(await page.evaluate(() => location.hash), `#clause=${id}`);
      assert.ok((await count(page)) > 0);
    });
  },

  async "a line is copied, and it repeats the failure"(browser) {
    await on(browser, "wrong", "", async (page) => {
      await browser.defaultBrowserContext().overridePermissions("file://", ["clipboard-read", "clipboard-write", "clipboard-sanitized-write"]).catch(() => {});
      await page.bringToFront();
      await page.click("#case-rows .opener");
      const id = (await texts(page, ".opener"))[0];
      const shown = (await texts(page, ".outcome .copyable code"))[0];
      await page.click(".outcome .copyable button");
      await page.waitForFunction(() => document.querySelector(".outcome .copyable button").textContent === "Copied");
      const line = await page.evaluate(() => navigator.clipboard.readText());
      assert.equal(line, shown);
      const cwd = path.join(import.meta.dirname ?? path.dirname(new URL(import.meta.url).pathname), "..");
      const env = { ...process.env, PATH: `${path.dirname(gatherspec)}:${process.env.PATH}` };
      const run = spawnSync("sh", ["-c", `${line} --out '${path.join(folder, "again")}'`], { cwd, env, encoding: "utf8" });
      assert.equal(run.status, 1, run.stderr);
      assert.ok(run.stdout.includes(id) && run.stdout.includes("1 of 1 case asked: 1 verdict does not conform"), run.stdout);
    });
  },

  async "the elements that differ are marked, and nothing else"(browser) {
    await on(browser, "wrong", "#case=tf.gather_nd/wrong/another-output", async (page) => {
      assert.deepEqual(await texts(page, ".elements mark"), ["6.0"]);
      assert.deepEqual(await texts(page, ".elements .expected-here"), ["nan(0x7fc00001)"]);
    });
  },

  async "the first element that differs is in sight"(browser) {
    let far;
    await on(browser, "large", "", async (page) => {
      far = await page.evaluate(() => {
        const model = decode(JSON.parse(document.getElementById("data").textContent));
        const first = ({ expected, actual }) => expected.findIndex((one, at) => one !== actual[at]);
        const isFar = ([, { difference }]) => difference?.elements && first(difference.elements.window) > 30;
        return model.backends.flatMap((one) => [...one.details].filter(isFar).map(([number]) => model.ids[number]));
      });
    });
    assert.ok(far.length > 2, `${far.length} cases`);
    for (const id of far.slice(0, 3)) {
      await on(browser, "large", `#case=${id}`, async (page) => {
        const [scrolled, left, mark, right] = await page.$eval(".elements", (table) => {
          const { left, right } = table.getBoundingClientRect();
          return [table.scrollLeft, left, table.querySelector("mark").getBoundingClientRect().left, right];
        });
        assert.ok(scrolled > 0 && left < mark && mark < right, `${scrolled}: ${left} ${mark} ${right}`);
      });
    }
  },

  async "the theme follows the system, and the switch changes it"(browser) {
    const dark = (page) => page.evaluate(() => getComputedStyle(document.body).backgroundColor);
    let [light, switched] = [];
    await on(browser, "wrong", "", async (page) => {
      await page.evaluate(() => localStorage.clear());
      await page.reload();
      light = await dark(page);
      await page.click("#theme");
      switched = await dark(page);
      await page.reload();
      assert.equal(await dark(page), switched);
      await page.evaluate(() => localStorage.clear());
    });
    assert.notEqual(light, switched);
    await on(browser, "wrong", "", async (page) => assert.equal(await dark(page), switched), { theme: "dark" });
  },

  async "a case opens and closes by keyboard alone"(browser) {
    await on(browser, "wrong", "", async (page) => {
      await page.keyboard.press("Tab");
      assert.equal(await page.evaluate(() => document.activeElement.className), "skip");
      await page.focus("#case-rows .opener");
      await page.keyboard.press("Enter");
      assert.equal((await texts(page, ".opener[aria-expanded=true]")).length, 1);
      await page.keyboard.press("Space");
      assert.equal((await texts(page, ".opener[aria-expanded=true]")).length, 0);
    });
  },

  async "the call of a case that fails is drawn"(browser) {
    await on(browser, "wrong", "#case=tf.gather_nd/wrong/another-output", async (page) => {
      await page.waitForFunction(() => document.querySelector(".picture")?.naturalWidth > 100);
    });
  },

  async "no text of a backend is obeyed"(browser) {
    await on(browser, "large", "#text=onerror&verdict=fails", async (page) => {
      assert.ok((await count(page)) > 0);
      await page.evaluate(() => [...document.querySelectorAll(".opener")].slice(0, 30).forEach((one) => one.click()));
      assert.equal(await page.evaluate(() => window.obeyed), undefined);
      assert.equal(await page.$("img:not(.picture)"), null);
      assert.ok((await page.$eval("#case-rows", (one) => one.textContent)).includes("<img src=x onerror="));
    });
  },

  async "without JavaScript, the sentences and the matrix of operators are there"(browser) {
    const page = await open(browser);
    await page.setJavaScriptEnabled(false);
    await page.goto(url("wrong"));
    const visible = await page.$$("main > section");
    const shown = [];
    for (const one of visible) if (await one.isVisible()) shown.push(await one.evaluate((one) => one.id).catch(() => "?"));
    assert.equal(shown.length, 2, shown);
    assert.ok(await (await page.$("noscript p")).isVisible());
    await page.close();
  },

  async "axe-core finds nothing, in light and in dark, on a narrow and on a wide page"(browser) {
    for (const options of [{ theme: "light" }, { theme: "dark", width: 480 }]) {
      await on(browser, "wrong", "", async (page) => {
        await page.evaluate(() => {
          document.querySelectorAll("#case-rows .opener").forEach((one) => one.click());
          document.querySelectorAll("details").forEach((one) => { one.open = true; });
        });
        // The policy of the page forbids scripts from elsewhere, so this one comes through the debugger.
        await page.evaluate(axe);
        const { violations, passes } = await page.evaluate(() => axe.run());
        const found = violations.map(({ id, impact, nodes }) => `${impact} ${id}: ${nodes[0].html}`);
        assert.deepEqual(found, []);
        assert.ok(passes.length > 20, `${passes.length} rules applied`);
      }, options);
    }
  },

  async "7,000 cases of 10 backends stay fluid"(browser) {
    const megabytes = statSync(report("large")).size / 1e6;
    await on(browser, "large", "", async (page) => {
      const first = await page.evaluate(() => {
        const [load] = performance.getEntriesByType("navigation");
        const paint = performance.getEntriesByName("first-contentful-paint")[0];
        return { load: load.domContentLoadedEventEnd, paint: paint?.startTime };
      });
      assert.equal(await count(page), 7000);
      const strokes = [];
      for (const key of "onerror in ba") {
        strokes.push(await page.evaluate(async (key) => {
          const text = document.getElementById("text");
          const start = performance.now();
          text.value += key;
          text.dispatchEvent(new Event("input", { bubbles: true }));
          await new Promise((done) => requestAnimationFrame(() => setTimeout(done)));
          return performance.now() - start;
        }, key));
      }
      const scroll = await page.evaluate(async () => {
        document.querySelector("button[type=reset]").click();
        const start = performance.now();
        for (let step = 0; step < 20; step++) {
          scrollTo(0, document.body.scrollHeight);
          await new Promise((done) => requestAnimationFrame(() => setTimeout(done)));
        }
        return (performance.now() - start) / 20;
      });
      const worst = Math.max(...strokes);
      console.log(`   ${megabytes.toFixed(1)} MB; ready after ${first.load.toFixed(0)} ms; a keystroke takes ${median(strokes).toFixed(0)} ms, `
        + `at most ${worst.toFixed(0)} ms; a page of scrolling ${scroll.toFixed(0)} ms`);
      assert.ok(megabytes < 10, `${megabytes} MB`);
      assert.ok(first.load < 10000 && worst < 2500 && scroll < 1500);
    });
  },
};

/** The ids of the cases of the large report, in the order of its list. */
async function onIds(browser) {
  let ids;
  await on(browser, "large", "", async (page) => {
    ids = await page.evaluate(() => {
      const model = decode(JSON.parse(document.getElementById("data").textContent));
      return Array.from(model.order, (number) => model.ids[number]);
    });
  });
  return ids;
}

const browser = await launch();
console.log(await browser.version());
let failed = 0;
for (const [name, check] of Object.entries(checks)) {
  try {
    await check(browser);
    console.log(`ok ${name}`);
  } catch (error) {
    failed += 1;
    console.log(`FAILED ${name}\n${error.stack}`);
  }
}
await browser.close();
process.exit(failed ? 1 : 0);
