// The main road in Firefox, driven over WebDriver BiDi: sign in, judge by keyboard, rule on what is disputed, read the results.
// Arguments: the folder of puppeteer-core, the browser, the server's address, and the password of everybody, as JSON.
import { createRequire } from "node:module";

const { modules, browser: executablePath, address, password, width } = JSON.parse(process.argv[2]);
const puppeteer = createRequire(`${modules}/`)("puppeteer-core");
const odd = [];
const done = { judged: {}, ruled: 0, headings: [], overflow: [] };

const browser = await puppeteer.launch({
  browser: "firefox",
  executablePath,
  headless: true,
  extraPrefsFirefox: { "app.update.enabled": false, "network.captive-portal-service.enabled": false },
});

async function signIn(name) {
  const context = await browser.createBrowserContext();
  const page = await context.newPage();
  await page.setViewport({ width, height: 900 });
  page.on("console", (message) => {
    if (message.type() === "error") odd.push(`${name}: ${message.text()}`);
  });
  page.on("pageerror", (error) => odd.push(`${name}: ${error.message}`));
  page.on("request", (request) => {
    if (!/^(data|blob):/.test(request.url()) && !request.url().startsWith(address)) odd.push(`asked for ${request.url()}`);
  });
  await page.goto(`${address}/sign-in`);
  await page.type("input[name=name]", name);
  await page.type("input[name=password]", password);
  await Promise.all([page.waitForNavigation(), page.keyboard.press("Enter")]);
  return page;
}

const saved = (page) => page.waitForFunction("document.getElementById('save-state')?.dataset.state === 'saved'");

async function seen(page) {
  done.headings.push(await page.$eval("h1", (one) => one.textContent.trim()));
  const wide = await page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth");
  if (wide > 0) {
    const limit = await page.evaluate("document.documentElement.clientWidth");
    const culprits = await page.$$eval("body *", (all, limit) => all
      .filter((one) => one.getBoundingClientRect().right > limit)
      .map((one) => `${one.tagName}.${one.className}#${one.id}`).slice(0, 8), limit);
    done.overflow.push(`${page.url()}: ${wide} px too wide: ${culprits.join(" ")}`);
  }
}

// The verdict depends on the text and the person, so that some are disputed.
async function judge(name, keyOf) {
  const page = await signIn(name);
  await page.goto(`${address}/work`);
  await seen(page);
  await page.evaluate("[...document.querySelectorAll('main a')].find((one) => /judging/i.test(one.textContent)).click()");
  done.judged[name] = [];
  for (;;) {
    await page.waitForSelector(".decision, .notice-done");
    if (await page.$(".notice-done")) break;
    const text = await page.$eval(".answer-string", (one) => one.textContent);
    const before = page.url();
    const key = keyOf(text);
    done.judged[name].push([text, key]);
    await page.keyboard.press(key);
    await page.waitForFunction(
      (address) => location.href !== address || document.querySelector(".notice-done"), {}, before);
  }
  await saved(page);
  await seen(page);
  await page.browserContext().close();
}

async function rule(name) {
  const page = await signIn(name);
  for (;;) {
    await page.goto(`${address}/adjudication`);
    if (!(await page.$("#go-on"))) break;
    await Promise.all([page.waitForNavigation(), page.click("#go-on")]);
    await page.waitForSelector(".verdict");
    await seen(page);
    while (!(await page.$("#onward"))) {
      const before = await page.$eval("#position", (one) => one.textContent);
      await page.keyboard.press("w");
      await page.waitForFunction(
        (before) => (document.getElementById("position")?.textContent ?? before) !== before, {}, before);
      done.ruled += 1;
    }
    await saved(page);
  }
  await page.browserContext().close();
}

try {
  await judge("Ada", () => "1");
  await judge("Ben", (text) => (text.length % 2 ? "1" : "4"));
  await rule("Cleo");
  const page = await signIn("Olga");
  for (const where of ["/", "/results", "/runs", "/people", "/account"]) {
    await page.goto(`${address}${where}`);
    await seen(page);
  }
  await page.browserContext().close();
} finally {
  await browser.close();
}
console.log(JSON.stringify({ ...done, odd }));
