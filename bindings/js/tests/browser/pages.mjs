// What the tests in Chromium share.

import assert from 'node:assert/strict';

/** Opens a page and returns its global variable `result`. Fails if the page reports an error. */
export async function resultOf(browser, url) {
  const page = await browser.newPage();
  const faults = [];
  page.on('pageerror', (error) => faults.push(String(error)));
  await page.goto(url);
  await page.waitForFunction(() => 'result' in window, undefined, { timeout: 120000 });
  const result = await page.evaluate(() => window.result);
  assert.deepEqual(faults, []);
  assert.equal(result.error, undefined);
  await page.close();
  return result;
}
