// Disposal by scopes and `using`, the debug mode, and memory that must not grow.

import assert from 'node:assert/strict';
import { setTimeout as pause } from 'node:timers/promises';
import { before, test } from 'node:test';
import * as tenon from 'tenon-runtime';

before(() => tenon.init({ logLevel: 'error' }));

test('scope() disposes the tensors that it created, except its result', () => {
  const before = tenon.memory().tensors;
  const result = tenon.scope(() => {
    const x = tenon.tensor([1, 2]);
    const kept = tenon.keep(x.neg());
    return { sum: x.add(1).add(1), parts: [x], kept };
  });
  assert.equal(tenon.memory().tensors, before + 3);
  assert.deepEqual(result.sum.arraySync(), [3, 4]);
  for (const tensor of [result.sum, result.parts[0], result.kept]) tensor.dispose();
  assert.equal(tenon.memory().tensors, before);
});

test('scopes nest, and dispose when the function throws', () => {
  const before = tenon.memory().tensors;
  tenon.scope(() => {
    const inner = tenon.scope(() => tenon.tensor([1]).add(1));
    assert.deepEqual(inner.arraySync(), [2]);
    assert.throws(() => tenon.scope(() => {
      tenon.tensor([1]);
      throw new Error('mine');
    }), /mine/);
  });
  assert.equal(tenon.memory().tensors, before);
});

test('scope() throws if the function is asynchronous', () => {
  const before = tenon.memory().tensors;
  assert.throws(() => tenon.scope(async () => tenon.tensor([1])), { message: /returned a Promise/ });
  assert.equal(tenon.memory().tensors, before);
});

test('a Scope owns tensors across awaits', async () => {
  const before = tenon.memory().tensors;
  const scope = new tenon.Scope();
  const x = scope.run(() => tenon.tensor([1, 2]).add(1));
  await pause(1);
  const y = scope.run(() => x.mul(2));
  assert.equal(scope.size, 3);
  assert.deepEqual(y.arraySync(), [4, 6]);
  scope.dispose();
  assert.equal(y.isDisposed, true);
  assert.equal(tenon.memory().tensors, before);
  assert.throws(() => scope.run(() => 1), { message: /this Scope was disposed/ });
});

test('objects implement Symbol.dispose', () => {
  const x = tenon.tensor([1]);
  x[Symbol.dispose]();
  assert.equal(x.isDisposed, true);
});

test('leaks() lists undisposed tensors with the line that created them', () => {
  tenon.debug(true);
  try {
    const x = tenon.tensor([1, 2]);
    const y = x.add(1);
    y.dispose();
    const found = tenon.leaks();
    assert.equal(found.length, 1);
    assert.match(found[0].stack, /memory\.test\.js/);
    x.dispose();
    assert.equal(tenon.leaks().length, 0);
  } finally {
    tenon.debug(false);
  }
});

test('the debug mode reports tensors that are garbage-collected undisposed', async () => {
  const reports = [];
  tenon.debug(true, (leak) => reports.push(leak));
  try {
    (function lose() {
      tenon.tensor([1, 2, 3]);
    })();
    for (let i = 0; i < 50 && reports.length === 0; ++i) {
      globalThis.gc();
      await pause(5);
    }
    assert.equal(reports.length, 1);
    assert.match(reports[0].stack, /lose/);
  } finally {
    tenon.debug(false);
  }
});

test('memory does not grow over 10,000 training steps', () => {
  const w = new tenon.Variable([[0.5], [-0.5]]);
  const b = new tenon.Variable([0]);
  const x = tenon.tensor([[1, 2], [3, 4], [5, 6]]);
  const y = tenon.tensor([[1], [2], [3]]);
  const step = () => tenon.scope(() => {
    const tape = tenon.tape();
    const loss = tape.run(() => x.matmul(w).add(b).sub(y).square().mean());
    const [dw, db] = tape.gradient(loss, [w, b]);
    tape.dispose();
    w.assign(tenon.sgd(w, dw, 0.01));
    b.assign(tenon.sgd(b, db, 0.01));
    return loss;
  });
  const first = step().itemSync();
  for (let i = 0; i < 200; ++i) step().dispose();
  const start = tenon.memory();
  let last;
  for (let i = 0; i < 10000; ++i) {
    const loss = step();
    last = loss.itemSync();
    loss.dispose();
  }
  const end = tenon.memory();
  assert.ok(last < first / 10, `the loss went from ${first} to ${last}`);
  for (const name of ['tensors', 'callbacks', 'liveBytes', 'heldBytes', 'liveBuffers', 'wasmBytes']) {
    assert.equal(end[name], start[name], name);
  }
});

test('memory does not grow over 10,000 calls of a traced function', () => {
  const w = new tenon.Variable([[0.5], [-0.5]], { name: 'w' });
  const step = tenon.function((x, y) => {
    const { value, grads } = tenon.variableGrads(() => x.matmul(w).sub(y).square().mean());
    w.assign(tenon.sgd(w, grads.w, 0.01));
    return value;
  });
  const x = tenon.tensor([[1, 2], [3, 4], [5, 6]]);
  const y = tenon.tensor([[1], [2], [3]]);
  for (let i = 0; i < 200; ++i) step(x, y).dispose();
  const start = tenon.memory();
  for (let i = 0; i < 10000; ++i) step(x, y).dispose();
  const end = tenon.memory();
  assert.equal(step.traceCount(), 1);
  for (const name of ['tensors', 'callbacks', 'liveBytes', 'liveBuffers', 'wasmBytes']) {
    assert.equal(end[name], start[name], name);
  }
});
