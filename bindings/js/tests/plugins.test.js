// Plugins that are loaded at run time: the example in plain C (examples/plugins/plain_c), compiled to a
// side module. TENON_TEST_PLUGIN is its path.

import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { test } from 'node:test';
import * as tenon from 'tenon-runtime';

const file = process.env.TENON_TEST_PLUGIN;
const skip = file ? false : 'TENON_TEST_PLUGIN is not set';

test('other variants refuse to load plugins', { skip: process.env.TENON_VARIANT === 'simd+plugins' }, async () => {
  await tenon.init({ logLevel: 'error' });
  await assert.rejects(tenon.loadPlugin(new URL(import.meta.url)), { code: 'UNIMPLEMENTED', message: /variant: 'simd\+plugins'/ });
});

test('a file that is no plugin is refused, with the reason', { skip }, async () => {
  await tenon.init({ logLevel: 'error', variant: 'simd+plugins' });
  const folder = mkdtempSync(join(tmpdir(), 'tenon-'));
  const refused = async (name, bytes, message) => {
    writeFileSync(join(folder, name), bytes);
    await assert.rejects(tenon.loadPlugin(pathToFileURL(join(folder, name))), { code: 'UNAVAILABLE', message });
  };
  try {
    await refused('text.wasm', 'text', /is not a WebAssembly module/);
    await refused('empty.wasm', Uint8Array.of(0, 97, 115, 109, 1, 0, 0, 0), /is not a side module/);
    // An empty section `dylink.0`, and no export.
    const dylink = [0, 9, 8, ...new TextEncoder().encode('dylink.0')];
    await refused('no_entry.wasm', Uint8Array.of(0, 97, 115, 109, 1, 0, 0, 0, ...dylink), /does not export tenon_plugin_query_v1/);
  } finally {
    rmSync(folder, { recursive: true });
  }
});

test('the example in plain C computes what the device wasm computes', { skip }, async () => {
  await tenon.init({ logLevel: 'error', variant: 'simd+plugins' });
  assert.equal(tenon.environment().variant, 'simd+plugins');
  assert.deepEqual(await tenon.loadPlugin(pathToFileURL(file)), ['plain_c:0']);
  assert.ok(tenon.devices().some(({ name }) => name === 'plain_c:0'));
  const train = (device) => {
    tenon.setDevice(device);
    const numbers = (shape, seed) => tenon.tensor(
        Float32Array.from({ length: shape[0] * shape[1] }, (_, i) => Math.sin(seed + i)), { shape });
    const w = new tenon.Variable(numbers([8, 4], 1), { name: 'w' });
    const x = numbers([16, 8], 2);
    assert.equal(x.device, device);
    const losses = [];
    for (let i = 0; i < 20; ++i) {
      const { value, grads } = tenon.variableGrads(() => x.matmul(w).relu().sub(1).square().mean());
      assert.equal(value.device, device);
      w.assign(tenon.sgd(w, grads.w, 0.5));
      losses.push(value.itemSync());
    }
    return losses;
  };
  const expected = train('wasm:0');
  const found = train('plain_c:0');
  assert.ok(found.at(-1) < 0.9 * found[0], `the losses are ${found}`);
  found.forEach((loss, i) => assert.ok(Math.abs(loss - expected[i]) < 1e-5 * Math.abs(expected[i]), `step ${i}: ${loss}, ${expected[i]}`));
});
