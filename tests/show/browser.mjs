// What axe finds on pages, wide and narrow, light and dark, and what Tab reaches: a line of JSON each.
// node browser.mjs FOLDER PAGE…: the folder has the node_modules puppeteer-core, @sparticuz/chromium and axe-core.
import { createRequire } from "node:module";
import { readFileSync } from "node:fs";
const [folder, ...pages] = process.argv.slice(2);
const require = createRequire(`${folder}/`);
const load = async name => (await import(require.resolve(name))).default;
const chromium = await load("@sparticuz/chromium");
const puppeteer = await load("puppeteer-core");
const axe = readFileSync(require.resolve("axe-core"), "utf8");
const browser = await puppeteer.launch({ args: chromium.args, executablePath: await chromium.executablePath(), headless: "shell" });
for (const address of pages) for (const width of [1400, 390]) for (const scheme of ["light", "dark"]) {
  const page = await browser.newPage();
  await page.setViewport({ width, height: 900 });
  await page.emulateMediaFeatures([{ name: "prefers-color-scheme", value: scheme }]);
  await page.goto(address);
  await page.evaluate(axe);
  const serious = await page.evaluate(async () => (await axe.run()).violations
    .filter(it => ["serious", "critical"].includes(it.impact)).map(it => it.id));
  const beyond = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
  const focusable = "main a[href], main button, main [tabindex='0'], main summary";
  const all = await page.evaluate(words => [...document.querySelectorAll(words)].filter(it => it.checkVisibility()).length, focusable);
  const reached = new Set();
  for (let i = 0; i < 99; i++) {
    await page.keyboard.press("Tab");
    reached.add(await page.evaluate(() => {
      const at = document.activeElement;
      return at.closest("main") && getComputedStyle(at).outlineStyle !== "none" ? [...document.querySelectorAll("*")].indexOf(at) : -1;
    }));
  }
  console.log(JSON.stringify({ width, scheme, serious, beyond, all, reached: reached.size - reached.has(-1) }));
  await page.close();
}
await browser.close();
