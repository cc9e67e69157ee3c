// Drives the page of examples/page in Chromium, and takes screenshots of it.
//
//   node page.mjs ROOT PACKAGE PLAYWRIGHT CHROMIUM [PICTURE]
//
// ROOT is the repository. The page and the screenshots are written to build/page_test. With PICTURE,
// also writes the picture of the documentation to that file.

import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

const [, , root, packageFolder, playwright, executablePath, picture] = process.argv;
const { chromium } = createRequire(pathToFileURL(`${playwright}/`))('playwright-core');
const { serve } = await import(pathToFileURL(join(root, 'tools/js/serve.mjs')));
const tenon = await import(pathToFileURL(join(packageFolder, 'src/index.js')));

const work = join(root, 'build/page_test');
const peers = join(root, 'build/web_peers');
rmSync(work, { recursive: true, force: true });
mkdirSync(join(work, 'shots'), { recursive: true });
execFileSync(process.execPath, [join(root, 'tools/js/page.mjs'), join(root, 'examples/page'), packageFolder,
  '/usr/share/datasets/fashion-mnist', peers, join(work, 'page')]);

/** Saves a program that classifies images, as the demo does. */
async function saveProgram(folder) {
  await tenon.init({ threads: 1, logLevel: 'error' });
  const w = new tenon.Variable(new tenon.Generator(1).normal([784, 10]), { name: 'w' });
  const classify = tenon.function((images) => images.cast('float32').mul(1 / 255).flatten(1).matmul(w));
  const files = await tenon.saveProgram({
    classify: classify.trace(new tenon.TensorSpec(['n', 1, 28, 28], 'uint8', { name: 'images' })),
  });
  mkdirSync(folder);
  for (const [name, data] of Object.entries(files)) writeFileSync(join(folder, name), data);
}

const program = join(work, 'saved_program');
await saveProgram(program);
const model = Buffer.from( // Computes y = -x for x: f32[2].
    '080a420210143a320a0b0a017812017922034e65671201675a0f0a0178120a0a08080112040a020802620f0a0179' +
    '120a0a08080112040a020802', 'hex');

const browser = await chromium.launch({ executablePath, args: ['--no-sandbox'] });
// The server sets no headers for cross-origin isolation: the service worker must add them.
const server = await serve(join(work, 'page'));
const context = await browser.newContext({ viewport: { width: 1280, height: 900 }, reducedMotion: 'reduce' });
const page = await context.newPage();
const faults = [];
page.on('pageerror', (error) => faults.push(String(error)));
page.on('console', (message) => message.type() === 'error' && faults.push(message.text()));
page.on('response', (response) => response.status() >= 400 && faults.push(`${response.status()} ${response.url()}`));

const text = (id) => page.locator(`#${id}`).innerText();
/** Waits until an element's text matches a pattern. Fails if it reports another failure. */
async function waitFor(id, pattern) {
  const found = await page.waitForFunction(([name, source]) => {
    const { textContent } = document.getElementById(name);
    return new RegExp(`${source}|^Failed: `).test(textContent) && textContent;
  }, [id, pattern.source], { timeout: 120000 });
  assert.match(await found.jsonValue(), pattern);
}

const shot = (name) => page.screenshot({ path: join(work, 'shots', `${name}.png`), fullPage: true });

async function loads() {
  await page.waitForSelector('#start:enabled', { timeout: 120000 });
  assert.equal(await page.evaluate(() => crossOriginIsolated), true);
  assert.match(await text('environment'), /Variant simd.*, device wasm/);
}

async function trains(kind, steps) {
  await page.selectOption('#network', kind);
  await page.focus('#start');
  await page.keyboard.press('Enter');
  await waitFor('train-status', /^Training/);
  const first = Number(await text('loss'));
  await page.waitForFunction((count) => Number(document.getElementById('step').textContent) >= count, steps, { timeout: 120000 });
  await page.click('#stop');
  await waitFor('train-status', /Stopped after \d+ steps/);
  const last = Number(await text('loss'));
  assert.ok(last < 0.6 * first, `the loss went from ${first} to ${last}`);
  assert.ok(parseFloat(await text('accuracy')) > 60, await text('accuracy'));
  const step = await text('step');
  await page.waitForTimeout(300);
  assert.equal(await text('step'), step, 'training continues after Stop');
  return { kind, steps: Number(step), imagesPerSecond: await text('speed'), first, last };
}

/** Returns how many of 20 test images are classified correctly. */
async function classifies() {
  let right = 0;
  for (let i = 0; i < 20; ++i) {
    await page.click('#clear');
    await page.click('#sample');
    await waitFor('answer', /shows: .*answer: /);
    const [, truth, answer] = /shows: (.*?)\. .*answer: (.*?),/.exec(await text('answer'));
    right += truth === answer;
  }
  assert.ok(right >= 8, `${right} of 20 test images are classified correctly`);
  await page.click('#clear');
  const box = await page.locator('#drawing').boundingBox();
  await page.mouse.move(box.x + 60, box.y + 60);
  await page.mouse.down();
  await page.mouse.move(box.x + 60, box.y + 180, { steps: 5 });
  await page.mouse.up();
  await waitFor('answer', /^The network/);
  return right;
}

async function opensModels() {
  await page.setInputFiles('#folder', program);
  await waitFor('model-status', /Opened saved_program/);
  assert.match(await text('types'), /images.*u8\[n,1,28,28\]/s);
  assert.match(await text('ops'), /MatMul/);
  await page.fill('#sizes input[name=n]', '3');
  await page.click('#run');
  await waitFor('run-status', /on average of \d+ runs/);
  assert.match(await text('results'), /float32\[3,10\]/);
  assert.match(await text('graph'), /matmul/);
  await page.setInputFiles('#files', { name: 'neg.onnx', mimeType: '', buffer: model });
  await waitFor('model-status', /Opened neg\.onnx/);
  await page.click('#run');
  await waitFor('run-status', /on average of \d+ runs/);
  assert.match(await text('results'), /\[-0\.\d+ -0\.\d+\]/);
  await page.setInputFiles('#files', { name: 'wrong.onnx', mimeType: '', buffer: Buffer.from('wrong') });
  await waitFor('model-status', /Failed: /);
  await page.evaluate((bytes) => {
    const transfer = new DataTransfer();
    transfer.items.add(new File([Uint8Array.from(bytes)], 'dropped.onnx'));
    document.querySelector('#drop').dispatchEvent(new DragEvent('drop', { dataTransfer: transfer, bubbles: true }));
  }, [...model]);
  await waitFor('model-status', /Opened dropped\.onnx/);
}

/** The trained network is opened, kept in IndexedDB and opened from there, saved to a folder, and downloaded. */
async function keepsTheNetwork() {
  await page.click('#open-trained');
  await waitFor('model-status', /Opened the trained network/);
  await page.click('#keep');
  await waitFor('train-status', /Kept as indexeddb:/);
  await page.click('#stored button:has-text("Open")');
  await waitFor('model-status', /Opened indexeddb:\/\/fashion_program/);
  for (const signature of ['0', '1']) { // for bytes, and for floats
    await page.selectOption('#signature', signature);
    await page.click('#run');
    await waitFor('results', /As logits of Fashion-MNIST/);
  }
  const names = ['classify.2.onnx', 'classify.onnx', 'tenon.json', 'weights.safetensors'];
  // Without a head, Chromium shows no dialog: chooses a folder of the origin's private file system.
  await page.evaluate(() => { globalThis.showDirectoryPicker = () => navigator.storage.getDirectory(); });
  await page.click('#download');
  await waitFor('train-status', /Saved as fashion_program/);
  assert.deepEqual(await page.evaluate(async () => {
    const folder = await (await navigator.storage.getDirectory()).getDirectoryHandle('fashion_program');
    const found = [];
    for await (const [name, file] of folder.entries()) if ((await file.getFile()).size > 100) found.push(name);
    return found.sort();
  }), names);
  await page.evaluate(() => { delete globalThis.showDirectoryPicker; });
  await page.click('#download');
  await waitFor('train-status', /The 4 files/);
  const folder = join(work, 'downloaded');
  for (const link of await page.locator('#downloads a').all()) {
    const [download] = await Promise.all([page.waitForEvent('download'), link.click()]);
    await download.saveAs(join(folder, download.suggestedFilename()));
  }
  const opened = await tenon.openProgram(
      Object.fromEntries(readdirSync(folder).map((name) => [name, readFileSync(join(folder, name))])));
  const [logits] = opened.function('classify').call([tenon.tensor(new Uint8Array(784), { shape: [1, 1, 28, 28] })]);
  assert.deepEqual(logits.shape, [1, 10]);
}

/** Measures Tenon, and the other libraries that are installed. */
async function compares() {
  await page.click('#measure');
  await waitFor('compare-status', /Finished/);
  const results = await text('compare-results');
  assert.equal(results.match(/^Tenon$/gm).length, 4);
  const installed = existsSync(join(peers, 'packages'));
  assert.equal(await page.locator('#compare-absent').isVisible(), !installed);
  if (installed) for (const name of ['TensorFlow.js', 'jax-js', 'onnxruntime-web']) assert.ok(results.includes(name), name);
  return results.replace(/\n/g, ' ');
}

/** All controls have names, and text has a contrast of 4.5 or more. */
async function isAccessible() {
  const unnamed = [];
  const visit = (node) => {
    if (/button|textbox|combobox|spinbutton|link|img|progressbar/.test(node.role) && !node.name) unnamed.push(node.role);
    node.children?.forEach(visit);
  };
  visit(await page.accessibility.snapshot());
  assert.deepEqual(unnamed, []);
  const poor = await page.evaluate(() => {
    const style = getComputedStyle(document.documentElement);
    const luminance = (name) => {
      const parts = style.getPropertyValue(name).trim().match(/[\da-f]{2}/gi).map((part) => parseInt(part, 16) / 255);
      const [r, g, b] = parts.map((part) => (part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4));
      return 0.2126 * r + 0.7152 * g + 0.0722 * b;
    };
    const pairs = [['--ink', '--card'], ['--ink', '--paper'], ['--quiet', '--card'], ['--quiet', '--paper'], ['--accent', '--card'],
      ['--second', '--card'], ['--failed', '--card'], ['--on-accent', '--accent'], ['--ink', '--track']];
    return pairs.filter(([one, other]) => {
      const [low, high] = [luminance(one), luminance(other)].sort((a, b) => a - b);
      return (high + 0.05) / (low + 0.05) < 4.5;
    });
  });
  assert.deepEqual(poor, []);
  const overflow = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
  assert.ok(overflow <= 0, `the page is ${overflow} pixels too wide`);
}

async function takePicture() {
  await page.click('#clear');
  await page.click('#sample');
  await waitFor('answer', /answer: /);
  await page.evaluate(() => scrollTo(0, 0));
  await page.screenshot({ path: picture, fullPage: true, clip: { x: 60, y: 0, width: 1160, height: 880 } });
}

async function looks() {
  await isAccessible();
  await page.evaluate(() => scrollTo(0, 0));
  await shot('light');
  await page.emulateMedia({ colorScheme: 'dark' });
  await isAccessible();
  await shot('dark');
  await page.setViewportSize({ width: 390, height: 844 });
  await isAccessible();
  await shot('phone_dark');
  await page.emulateMedia({ colorScheme: 'light' });
  await shot('phone');
  await page.setViewportSize({ width: 1280, height: 900 });
}

async function forgetsTheNetwork() {
  await page.click('#stored button:has-text("Delete")');
  await page.waitForSelector('#stored:empty', { state: 'attached' });
}

/** The page works without its server. */
async function worksOffline() {
  await waitFor('offline', /works offline/);
  server.close();
  server.closeAllConnections();
  await page.reload();
  await loads();
  await page.click('#sample');
  await waitFor('answer', /Train the network first/);
}

try {
  await page.goto(`http://127.0.0.1:${server.address().port}/`);
  await loads();
  console.log(`trains: ${JSON.stringify(await trains('conv', 60))}`);
  console.log(`trains: ${JSON.stringify(await trains('dense', 200))}`);
  console.log(`classifies: ${await classifies()} of 20`);
  if (picture) await takePicture();
  await opensModels();
  await keepsTheNetwork();
  console.log(`compares: ${await compares()}`);
  await page.click('#clear');
  await page.click('#sample');
  await looks();
  await forgetsTheNetwork();
  assert.deepEqual(faults, []);
  await worksOffline();
  console.log(`the page passes; the screenshots are in ${join(work, 'shots')}`);
} catch (error) {
  await shot('failed');
  console.error(faults.join('\n'));
  throw error;
} finally {
  await browser.close();
  server.close();
}
