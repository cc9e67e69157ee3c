// Tests the package in Chromium: as a module, as a classic script and in a worker, each with and
// without the headers for cross-origin isolation. With these headers, init() uses threads if the
// package has them; results have the same bits.
//
//   node run.mjs PACKAGE PLAYWRIGHT SERVER CHROMIUM

import assert from 'node:assert/strict';
import { createRequire } from 'node:module';
import { pathToFileURL } from 'node:url';
import { resultOf } from './pages.mjs';

const [, , folder, playwright, serverScript, executablePath] = process.argv;
const { chromium } = createRequire(pathToFileURL(`${playwright}/`))('playwright-core');
const { serve } = await import(pathToFileURL(serverScript));
const { variants } = await import(pathToFileURL(`${folder}/dist/variants.js`));
const digests = [];

const browser = await chromium.launch({ executablePath, args: ['--no-sandbox'] });
try {
  for (const isolated of [false, true]) {
    const server = await serve(folder, 0, isolated);
    const base = `http://127.0.0.1:${server.address().port}/tests/browser`;
    const open = (name) => resultOf(browser, `${base}/${name}`);
    const found = await open('module.html');
    assert.deepEqual(found.gradient, [2, 4, 6], found.error);
    assert.ok(found.saved > 12, `the file has ${found.saved} bytes`);
    assert.equal(found.environment.crossOriginIsolated, isolated);
    assert.equal(found.environment.runtime, 'browser');
    const hasThreads = isolated && ('simd+threads' in variants || process.env.TENON_VARIANT === 'simd+threads');
    const variant = hasThreads ? 'simd+threads' : 'simd';
    const computed = await open('bits.html');
    assert.equal(computed.environment.variant, variant);
    assert.equal(computed.environment.threads, hasThreads ? 2 : 1);
    digests.push(computed.digests);
    assert.deepEqual(await open('script.html'), { text: '[[2. 3.]\n [4. 5.]]' });
    const { losses } = await open('worker.html');
    assert.ok(losses.at(-1) < losses[0] / 100, `the losses are ${losses}`);
    server.close();
    assert.deepEqual(digests.at(-1), digests[0]);
    console.log(`${isolated ? 'isolated' : 'plain'}: module, script and worker pass; ${JSON.stringify(found.environment)}`);
  }
} finally {
  await browser.close();
}
