// The browser of the checks and of the screenshots: Debian's Chromium, or the one that CHROMIUM names.

import { spawnSync } from "node:child_process";
import puppeteer from "puppeteer-core";

const NAMES = ["chromium", "chromium-browser", "google-chrome"];

/** The path of a Chromium, or undefined. */
export function chromium() {
  if (process.env.CHROMIUM) return process.env.CHROMIUM;
  const found = spawnSync("which", NAMES, { encoding: "utf8" }).stdout ?? "";
  return found.split("\n").find(Boolean);
}

/** Starts the browser without a network, and with further arguments. As root, Chromium has no sandbox. */
export function launch(further = []) {
  const sandbox = process.getuid?.() === 0 ? ["--no-sandbox"] : [];
  return puppeteer.launch({
    executablePath: chromium(),
    args: [...sandbox, "--disable-gpu", "--disable-dev-shm-usage", "--host-resolver-rules=MAP * ~NOTFOUND", ...further],
  });
}

/** A new tab with a theme and a size. */
export async function open(browser, { theme = "light", width = 1400, height = 1000 } = {}) {
  const page = await browser.newPage();
  await page.setViewport({ width, height });
  await page.emulateMediaFeatures([{ name: "prefers-color-scheme", value: theme }]);
  return page;
}
