// Runs the training program that exists in all languages. On the plugin ref, its first losses must
// equal those of the other languages on ref, to the last digit. On the plugin wasm, its 42 lines
// must equal those of the C program on cpu, except for digits that depend on the summation order.

import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { test } from 'node:test';
import * as tenon from 'tenon-runtime';
import { main } from './examples/conv_training.js';

const DATA = '/usr/share/datasets/fashion-mnist';

const skip = existsSync(DATA) ? false : `there is no ${DATA}`;

function expected(device) {
  return readFileSync(new URL(`./conv_training.${device}.expected`, import.meta.url), 'utf8').trim().split('\n');
}

async function run(steps) {
  const lines = [];
  await main(DATA, (line) => lines.push(line), steps);
  return lines;
}

test('the first losses on ref equal those of the other languages', { skip }, async (t) => {
  await tenon.init();
  if (!tenon.plugins().some((plugin) => plugin.name === 'ref')) return t.skip('the plugin ref is not in this module');
  tenon.setDevice('ref');
  const lines = await run(1);
  const losses = lines.map((line) => line.split(' ')[1]);
  assert.deepEqual(lines.map((line) => line.split(' ')[0]), ['eager', 'traced', 'program', 'safetensors']);
  assert.deepEqual(losses.slice(0, 2), expected('ref').map((line) => line.split(' ')[1]).slice(0, 2));
  assert.equal(losses[2], losses[3]);
});

test('the 42 losses on wasm are close to those of the C program on cpu', { skip }, async () => {
  await tenon.init();
  tenon.setDevice('wasm');
  const lines = (await run()).map((line) => line.split(' '));
  const wanted = expected('cpu').map((line) => line.split(' '));
  assert.equal(lines.length, 42);
  assert.deepEqual(lines.map(([what]) => what), wanted.map(([what]) => what));
  lines.forEach(([, loss], i) => assert.ok(Math.abs(loss - wanted[i][1]) < 1e-5, `line ${i}: ${loss} for ${wanted[i][1]}`));
  assert.equal(lines[40][1], lines[41][1]);
});
