// docs/languages.md: twenty tasks in JavaScript. docs/snippets/languages.c is the same in C. Each
// task is the code between the comments [name] and [end].

import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as tenon from 'tenon-runtime';

test('contexts', async () => {
  // [context]
  await tenon.init();
  // [end]
  assert.equal(tenon.environment().isReady, true);
});

test('values and ops', () => {
  // [make]
  const x = tenon.tensor([[1, 2], [3, 4]]);
  // [end]

  // [arithmetic]
  const y = tenon.mul(2, x).add(x);
  // [end]
  assert.deepEqual(y.arraySync(), [[3, 6], [9, 12]]);

  // [attributes]
  const rows = x.sum({ axes: 1, keepdims: true });
  // [end]
  assert.deepEqual(rows.arraySync(), [[3], [7]]);

  // [outputs]
  const { values, indices } = tenon.top_k(x, { k: 1 });
  // [end]
  assert.deepEqual([values.arraySync(), indices.arraySync()], [[[2], [4]], [[1], [1]]]);

  // [index]
  const lastRow = x.at([1, 2]);
  // [end]
  assert.deepEqual(lastRow.arraySync(), [[3, 4]]);
});

test('reading', async (t) => {
  const x = tenon.tensor([[1, 2], [3, 4]]);
  // [shape]
  const { shape } = x;
  // [end]
  assert.deepEqual(shape, [2, 2]);

  // [item]
  const number = await x.sum().item();
  // [end]
  assert.equal(number, 10);

  // [read]
  const host = await x.data();
  // [end]
  assert.equal(host[3], 4);

  const log = t.mock.method(console, 'log', () => {});
  // [print]
  console.log(x.toString());
  // [end]
  log.mock.restore();
  assert.deepEqual(log.mock.calls[0].arguments, ['[[1. 2.]\n [3. 4.]]']);

  // [device]
  const there = x.copyTo('wasm');
  // [end]
  assert.equal(there.device, 'wasm:0');
});

test('random numbers and errors', (t) => {
  // [random]
  const generator = new tenon.Generator(7);
  const noise = generator.normal([2, 2]);
  // [end]
  assert.deepEqual(noise.shape, [2, 2]);

  const x = noise;
  const log = t.mock.method(console, 'log', () => {});
  // [error]
  try {
    x.softmax(5);
  } catch (error) {
    console.log(error.message);
  }
  // [end]
  log.mock.restore();
  assert.match(log.mock.calls[0].arguments[0], /^softmax: C2: /);
});

test('gradients', () => {
  const x = tenon.tensor([1, 2]);
  // [variable]
  const w = new tenon.Variable(x);
  w.assign(w.read());
  // [end]

  // [gradient]
  const tape = tenon.tape();
  const loss = tape.run(() => w.read().square().sum());
  const gradient = tape.gradient(loss, w);
  // [end]
  assert.deepEqual(gradient.arraySync(), [2, 4]);
});

test('functions and control', (t) => {
  const x = tenon.tensor([2, 3]);
  // [function]
  const scaled = tenon.function((a, b) => a.mul(b));
  const product = scaled(x, x);
  // [end]
  assert.deepEqual(product.arraySync(), [4, 9]);

  // [cond]
  const chosen = tenon.cond(x.greater(0).all(), () => x.neg(), () => x);
  // [end]
  assert.deepEqual(chosen.arraySync(), [-2, -3]);

  // [while_loop]
  const last = tenon.whileLoop((v) => v.less(100), (v) => v.add(v), tenon.tensor(3));
  // [end]
  assert.equal(last.itemSync(), 192);

  const log = t.mock.method(console, 'log', () => {});
  // [host_call]
  const printIt = (value) => {
    console.log('host:', value.itemSync());
    return value;
  };
  const printed = tenon.hostCall(printIt, [last], last);
  // [end]
  log.mock.restore();
  assert.equal(printed.itemSync(), 192);
  assert.deepEqual(log.mock.calls[0].arguments, ['host:', 192]);
});

test('files', async () => {
  const x = tenon.tensor([1]);
  // [safetensors]
  const bytes = tenon.saveSafetensors({ x });
  const loaded = (await tenon.loadSafetensors(bytes)).x;
  // [end]
  assert.deepEqual(loaded.arraySync(), [1]);
});
