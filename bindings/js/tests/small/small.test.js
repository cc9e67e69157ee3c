// The small build trains the network of the example page, and is small.

import assert from 'node:assert/strict';
import { copyFileSync, existsSync, mkdtempSync, readFileSync, readdirSync, rmSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { gunzipSync, gzipSync } from 'node:zlib';

import * as tenon from 'tenon-runtime';

const DATA = '/usr/share/datasets/fashion-mnist';
const BATCH = 64;
const STEPS = 60;
const MAX_BYTES = 350_000;

const folder = fileURLToPath(new URL('../..', import.meta.url));
const skip = existsSync(DATA) ? false : `there is no ${DATA}`;

/** Returns the elements of a gzipped IDX file. `header` is the size of its header in bytes. */
function readIdx(name, header) {
  return new Uint8Array(gunzipSync(readFileSync(join(DATA, name)))).subarray(header);
}

/** Returns the class Network of the example page, which imports this package. */
async function importNetwork() {
  const page = mkdtempSync(join(folder, 'page-'));
  copyFileSync(join(process.env.TENON_SOURCE, 'examples/page/network.js'), join(page, 'network.mjs'));
  symlinkSync(folder, join(page, 'tenon'));
  try {
    return (await import(pathToFileURL(join(page, 'network.mjs')))).Network;
  } finally {
    rmSync(page, { recursive: true });
  }
}

for (const kind of ['dense', 'conv']) {
  test(`the page's ${kind} network learns`, { skip }, async () => {
    const Network = await importNetwork();
    await tenon.init();
    const images = readIdx('train-images-idx3-ubyte.gz', 16), labels = readIdx('train-labels-idx1-ubyte.gz', 8);
    const batch = (from, count) => ({
      x: tenon.tensor(images.slice(from * 784, (from + count) * 784), { shape: [count, 1, 28, 28] }).cast('float32').mul(1 / 255),
      y: tenon.tensor(labels.slice(from, from + count)).cast('int32'),
    });
    const network = new Network(kind);
    const losses = [];
    for (let step = 1; step <= STEPS; ++step) {
      const loss = tenon.scope(() => {
        const { x, y } = batch((step - 1) * BATCH, BATCH);
        return network.train(x, y, step, 0.002);
      });
      losses.push(await loss.item());
      loss.dispose();
    }
    const share = tenon.scope(() => {
      const { x, y } = batch(10_000, 500); // not used for training
      const logits = network.classify(x);
      assert.ok(Math.abs(logits.softmax(1).sum().itemSync() - 500) < 1e-2);
      return logits.argmax(1).equal(y.cast('int64')).cast('float32').mean();
    });
    network.dispose();
    assert.ok(losses[0] > 2, `the first loss is ${losses[0]}`);
    assert.ok(losses.at(-1) < 1, `the last loss is ${losses.at(-1)}`);
    assert.ok(share.itemSync() > 0.6, `${share.itemSync()} of the images are classified correctly`);
  });
}

test('a call of an op or of a feature that is left out fails', async () => {
  await tenon.init();
  const isExpected = (error) => error instanceof tenon.TenonError && error.code === 'UNIMPLEMENTED' &&
      /the variant simd of the full package has/.test(error.message);
  assert.throws(() => tenon.tensor([3, 1]).sort(), (error) => isExpected(error) && error.op === 'sort');
  assert.throws(() => tenon.tensor([3, 1]).top_k(1), (error) => isExpected(error) && error.op === 'top_k');
  const x = tenon.tensor([3, 1]);
  assert.throws(() => tenon.saveSafetensors({ x }), isExpected);
  await assert.rejects(async () => tenon.saveProgram({ f: tenon.function((v) => v.add(1)).trace(new tenon.TensorSpec([2])) }), isExpected);
  assert.throws(() => x.cast('float64').dataSync(), (error) => isExpected(error) && error.op === 'cast');
  assert.deepEqual(x.add(1).arraySync(), [4, 2]); // Later calls work.
});

test(`the module and the scripts that load it have less than ${MAX_BYTES} bytes after compression`, () => {
  const loaded = new Set();
  const add = (name) => {
    if (loaded.has(name)) return;
    loaded.add(name);
    for (const [, other] of readFileSync(join(folder, 'src', name), 'utf8').matchAll(/(?:from|import)"\.\/(.*?)"/g)) add(other);
  };
  add('index.js');
  const files = [...[...loaded].map((name) => `src/${name}`), ...readdirSync(join(folder, 'dist')).map((name) => `dist/${name}`)];
  assert.ok(files.length >= 4 && files.includes('dist/tenon_simd.wasm'), files.join(' '));
  const bytes = files.reduce((sum, file) => sum + gzipSync(readFileSync(join(folder, file)), { level: 9 }).length, 0);
  assert.ok(bytes < MAX_BYTES, `${bytes} bytes`);
});
