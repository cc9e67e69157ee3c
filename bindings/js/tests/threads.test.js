// The variant with threads: its choice, and its results, which have the same bits as those of the
// variant without threads.

import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { availableParallelism } from 'node:os';
import { fileURLToPath } from 'node:url';
import { test } from 'node:test';
import { variants } from '../dist/variants.js';

const program = fileURLToPath(new URL('./examples/bits.js', import.meta.url));
const hasThreads = 'simd+threads' in variants;

// Runs the program in a process with these environment variables, and returns what it prints.
function run(variables) {
  const environment = { ...process.env, TENON_VARIANT: '', TENON_THREADS: '', ...variables };
  return spawnSync(process.execPath, [program], { env: environment, encoding: 'utf8', timeout: 300000 });
}

function result(variables) {
  const { status, stdout, stderr } = run(variables);
  assert.equal(status, 0, stderr);
  assert.equal(stderr, '');
  return JSON.parse(stdout);
}

test('the package has the variant that TENON_VARIANT names', () => {
  assert.ok((process.env.TENON_VARIANT || 'simd') in variants);
});

test('init() chooses threads where the package and the machine have them', () => {
  const { environment, units } = result({});
  const threads = hasThreads ? availableParallelism() : 1;
  assert.equal(environment.variant, threads > 1 ? 'simd+threads' : 'simd');
  assert.equal(environment.threads, threads);
  assert.equal(units, threads);
});

test('an unknown variant is refused', () => {
  const { status, stderr } = run({ TENON_VARIANT: 'fast' });
  assert.notEqual(status, 0);
  assert.match(stderr, /init: variant must be one of simd, simd\+threads, simd\+plugins, but is 'fast'/);
});

const reason = hasThreads ? false : './dev wasm threads has not run';
test('each variant and number of threads gives the same bits', { skip: reason }, () => {
  const expected = result({ TENON_VARIANT: 'simd' });
  assert.equal(expected.environment.variant, 'simd');
  for (const threads of [1, 2, 3]) {
    const found = result({ TENON_VARIANT: 'simd+threads', TENON_THREADS: String(threads) });
    assert.equal(found.environment.variant, 'simd+threads');
    assert.equal(found.environment.threads, threads);
    assert.equal(found.units, threads);
    assert.deepEqual(found.digests, expected.digests, `${threads} threads`);
  }
});
