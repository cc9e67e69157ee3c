// The examples of docs/browser.md and README.md.

import assert from 'node:assert/strict';
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { before, test } from 'node:test';
import * as tenon from 'tenon-runtime';

before(() => tenon.init({ logLevel: 'error' }));

test('the README\'s program', async (t) => {
  const readme = readFileSync(new URL('../README.md', import.meta.url), 'utf8');
  const [, source] = /```js\n(.*?)```/s.exec(readme);
  const file = new URL('./readme.mjs', import.meta.url);
  writeFileSync(file, source);
  const log = t.mock.method(console, 'log', () => {});
  try {
    await import(file);
  } finally {
    rmSync(file);
    log.mock.restore();
  }
  assert.deepEqual(log.mock.calls[0].arguments, ['14.0', '[2. 4. 6.]']);
});

test('tensors', async () => {
  const x = tenon.tensor([[1, 2.5], [3, 4]]); // float32
  const n = tenon.tensor([1, 2], { dtype: 'int64' });
  const pixels = tenon.tensor(new Uint8Array(784), { shape: [28, 28] }); // uint8
  const column = x.at(null, 0); // an index, [start, end, step] or null for each axis
  const data = await x.data(); // Float32Array(4) [1, 2.5, 3, 4]
  assert.deepEqual([column.arraySync(), data.length, n.dtype, pixels.shape], [[1, 3], 4, 'int64', [28, 28]]);
});

test('ops', () => {
  const x = tenon.tensor([3, 1, 2]);
  const total = x.sum([0], { keepdims: true }); // the same as tenon.sum(x, { axes: [0], keepdims: true })
  const { values, indices } = tenon.top_k(x, 2);
  assert.deepEqual([total, values, indices].map((y) => y.arraySync()), [[6], [3, 2], [0, 2]]);
});

test('errors', () => {
  try {
    tenon.softmax([1, 2], 5);
    assert.fail();
  } catch (error) {
    assert.ok(error instanceof tenon.TenonError);
    assert.deepEqual([error.code, error.op, error.rule], ['INVALID_ARGUMENT', 'softmax', 'C2']);
  }
});

test('disposal', async () => {
  const x = tenon.tensor([1, 2]);
  const y = tenon.scope(() => x.add(1).mul(x)); // x.add(1) is disposed
  const scope = new tenon.Scope(); // for code that awaits
  const z = scope.run(() => y.neg());
  await z.data();
  scope.dispose(); // also disposes z
  assert.equal(z.isDisposed, true);
  assert.deepEqual(y.arraySync(), [2, 6]);
});

test('leaks', () => {
  const x = tenon.tensor([1]);
  tenon.debug(true); // also reports tensors that are garbage-collected without being disposed
  const y = x.add(1);
  console.assert(tenon.leaks().length === 1);
  const [{ stack }] = tenon.leaks(); // the call that created y
  tenon.debug(false);
  assert.match(stack, /page\.test\.js/);
  y.dispose();
});

test('gradients', () => {
  const slope = tenon.grad((x) => x.mul(x))(3); // 6
  const w = new tenon.Variable([1, 2], { name: 'w' });
  const { value, grads } = tenon.variableGrads(() => w.read().square().sum());
  w.assign(tenon.sgd(w, grads.w, 0.1));
  assert.deepEqual([slope.itemSync(), value.itemSync()], [6, 5]);
});

test('tapes', async () => {
  const w = new tenon.Variable([1, 2]);
  const fetched = async () => tenon.tensor([3, 4]);
  const tape = tenon.tape();
  const squares = tape.run(() => w.read().square());
  const weights = await fetched(); // calls of other tasks, even under another tape, are not recorded meanwhile
  const loss = tape.run(() => squares.mul(weights).sum());
  const gradient = tape.gradient(loss, w);
  assert.deepEqual(gradient.arraySync(), [6, 16]);
});

test('functions', () => {
  const w = new tenon.Variable([[0.5], [0.5]], { name: 'w' });
  const step = tenon.function((x, y, rate) => {
    const { value, grads } = tenon.variableGrads(() => x.matmul(w).sub(y).square().mean());
    w.assign(tenon.sgd(w, grads.w, rate));
    return value;
  });
  const x = tenon.tensor([[1, 2], [3, 4]]);
  const y = tenon.tensor([[1], [2]]);
  for (let i = 0; i < 100; ++i) tenon.scope(() => step(x, y, tenon.scalar(0.1 / (1 + i))));
  assert.equal(step.traceCount(), 1);
});

test('control', () => {
  const x = tenon.tensor(-2);
  const size = tenon.cond(x.greater(0), () => x, () => x.neg());
  const last = tenon.whileLoop((v) => v.less(100), (v) => v.mul(2), size);
  const [total, partial] = tenon.scan((sum, v) => [sum.add(v), sum.add(v)], 0, tenon.tensor([1, 2]));
  assert.deepEqual([last.itemSync(), total.itemSync(), partial.arraySync()], [128, 3, [1, 3]]);
});

test('programs', async () => {
  const w = new tenon.Variable([1, 2], { name: 'w' });
  const score = tenon.function((x) => x.mul(w).sum([1]));
  const rows = new tenon.TensorSpec([null, 2], 'float32', { name: 'x' });
  const files = await tenon.saveProgram({ score: score.trace(rows) }); // { 'score.onnx': Uint8Array, ... }
  const program = await tenon.openProgram(files); // or the URL of a folder, or the bytes of an ONNX file
  const [scores] = program.function('score').call([[[1, 1], [2, 2]]]);
  const saved = tenon.saveSafetensors({ w }); // Uint8Array
  const loaded = await tenon.loadSafetensors(saved);
  assert.deepEqual([scores.arraySync(), loaded.w.arraySync()], [[3, 6], [1, 2]]);
});

test('environment', () => {
  const { variant, threads, reason } = tenon.environment();
  assert.ok(variant && threads >= 1 && reason);
});
