// Tests the proxy of a worker, and files in IndexedDB, in Chromium.
//
//   node proxy.mjs PACKAGE PLAYWRIGHT SERVER CHROMIUM

import assert from 'node:assert/strict';
import { createRequire } from 'node:module';
import { pathToFileURL } from 'node:url';
import { resultOf } from './pages.mjs';

const [, , folder, playwright, serverScript, executablePath] = process.argv;
const { chromium } = createRequire(pathToFileURL(`${playwright}/`))('playwright-core');
const { serve } = await import(pathToFileURL(serverScript));

const browser = await chromium.launch({ executablePath, args: ['--no-sandbox'] });
const server = await serve(folder, 0, true);

const open = (name) => resultOf(browser, `http://127.0.0.1:${server.address().port}/tests/browser/${name}`);

try {
  const proxy = await open('proxy.html');
  assert.equal(proxy.failed, 'C2');
  assert.ok(proxy.value > 0 && proxy.tensors < 10, JSON.stringify(proxy));
  assert.ok(proxy.progress.loaded > 1e6 && proxy.progress.loaded === proxy.progress.total, JSON.stringify(proxy));
  assert.ok(proxy.longest < proxy.busy / 2, `the page did not respond for ${proxy.longest} of ${proxy.busy} ms while the worker computed`);
  console.log(`proxy: the longest pause of the page is ${proxy.longest.toFixed(0)} of ${proxy.busy.toFixed(0)} ms`);
  assert.deepEqual(await open('storage.html'), {
    scores: [3, 6], w: [1, 2], storedBytes: 0,
    listed: [
      ['indexeddb://score', true, ['score.onnx', 'tenon.json', 'weights.safetensors'], true],
      ['indexeddb://weights', true, [], true],
    ],
    removed: [true, false], missing: 'NOT_FOUND', left: ['indexeddb://weights'],
  });
  console.log('storage: programs and tensors are stored, opened, listed and removed');
} finally {
  await browser.close();
  server.close();
}
