// Measures the npm package and the libraries that web developers use instead, in Node or in Chromium.
//
//   node run.mjs ROOT CHROMIUM [--browser] [--only PATTERN] [--rounds N] [--json FILE]
//
// ROOT is the project's folder; the package and the libraries are in build/js and build/web_peers.
// CHROMIUM is the program that --browser runs; otherwise all run in Node.
// `ratio CASE PEER VALUE` is the peer's time over Tenon's: above 1, Tenon is faster. The peer
// one_thread is Tenon on one thread; the ratio is the speedup by a second thread.

import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { serve } from '../../tools/js/serve.mjs';
import { Times, measure } from './measure.mjs';

const [root, chromium, ...options] = process.argv.slice(2);
const here = dirname(fileURLToPath(import.meta.url));
const option = (name, otherwise) => {
  const at = options.indexOf(`--${name}`);
  return at < 0 ? otherwise : options[at + 1];
};
const only = new RegExp(option('only', ''));
const rounds = Number(option('rounds', 9));
const times = new Times();
const { variants } = await import(pathToFileURL(join(root, 'build/js/dist/variants.js')));

/** Measures in this process, and runs tasks in child processes. */
function inNode() {
  const where = Object.fromEntries(
      [['tenon', 'build/js'], ['peers', 'build/web_peers/node_modules']].map(([name, path]) => [name, pathToFileURL(join(root, path)).href]));
  return {
    measure: () => measure(where, only, rounds, times),
    run: (task, argument) =>
      Number(execFileSync(process.execPath, [join(here, 'task.mjs'), task, argument, JSON.stringify(where)], { encoding: 'utf8' })),
    close() {},
  };
}

/** Measures in a page of Chromium, and runs tasks in new pages. */
async function inBrowser() {
  const playwright = createRequire(`${pathToFileURL(join(root, 'build/browser'))}/`)('playwright-core');
  // Only the task `product` needs threads. Without isolation, all libraries run on one thread.
  const servers = { plain: await serve(root), isolated: await serve(root, 0, true) };
  const browser = await playwright.chromium.launch({ executablePath: chromium, args: ['--no-sandbox'] });
  const outcome = async (parameters) => {
    const context = await browser.newContext();
    const page = await context.newPage();
    const { port } = servers[parameters.task === 'product' ? 'isolated' : 'plain'].address();
    await page.goto(`http://127.0.0.1:${port}/benches/web/page.html?${new URLSearchParams(parameters)}`);
    const handle = await page.waitForFunction(() => globalThis.result, null, { timeout: 600_000 });
    const { value, error } = await handle.jsonValue();
    await context.close();
    if (error) throw new Error(error);
    return value;
  };
  return {
    async measure() {
      for (const [name, row] of await outcome({ task: 'measure', only: only.source, rounds })) {
        for (const [peer, time] of row) times.note(name, peer, time);
      }
    },
    run: (task, argument) => outcome({ task, argument }),
    async close() {
      await browser.close();
      Object.values(servers).forEach((server) => server.close());
    },
  };
}

const place = options.includes('--browser') ? await inBrowser() : inNode();
await place.measure();
for (let round = 0; round < 5; ++round) {
  if (only.test('import_to_first_result')) {
    for (const peer of ['tenon', 'tfjs_cpu', 'jax', 'onnxruntime']) {
      times.note('import_to_first_result', peer, await place.run('first_result', peer));
    }
  }
  if (only.test('matmul_512_two_threads') && 'simd+threads' in variants) {
    times.note('matmul_512_two_threads', 'tenon', await place.run('product', '2'));
    times.note('matmul_512_two_threads', 'one_thread', await place.run('product', '1'));
  }
}
await place.close();

const rows = [];
for (const [name, row] of times) {
  const own = row.get('tenon');
  for (const [peer, time] of row) {
    console.log(`${name.padEnd(24)} ${peer.padEnd(14)} ${(time * 1000).toFixed(3).padStart(12)} us`);
    rows.push({ case: name, peer, us: time * 1000 });
  }
  for (const [peer, time] of row) {
    if (peer !== 'tenon') console.log(`ratio ${name} ${peer} ${(time / own).toFixed(2)}`);
  }
}
if (option('json')) writeFileSync(option('json'), `${JSON.stringify(rows, null, 1)}\n`);
process.exit(0);
