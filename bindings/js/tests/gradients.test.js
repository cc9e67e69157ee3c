// Tapes and gradients of functions, including tapes of concurrent asynchronous tasks.

import assert from 'node:assert/strict';
import { setTimeout as pause } from 'node:timers/promises';
import { before, test } from 'node:test';
import * as tenon from 'tenon-runtime';

before(() => tenon.init({ logLevel: 'error' }));

test('a tape gives the gradients of what it recorded', () => {
  const w = new tenon.Variable([1, 2]);
  const tape = tenon.tape();
  const loss = tape.run(() => tenon.mul(w, w).sum());
  assert.deepEqual(tape.gradient(loss, w).arraySync(), [2, 4]);
  assert.throws(() => tape.gradient(loss, w), { code: 'FAILED_PRECONDITION' });
});

test('sources may be a tree, and targets several with cotangents', () => {
  const x = tenon.tensor([1, 2]);
  const y = tenon.tensor([3, 4]);
  const tape = tenon.tape({ persistent: true }).watch(x, [y]);
  const [a, b] = tape.run(() => [x.mul(y), x.add(y)]);
  const found = tape.gradient([a, b], { x, inner: { y } }, { cotangents: [[1, 1], [10, 10]] });
  assert.deepEqual(found.x.arraySync(), [13, 14]);
  assert.deepEqual(found.inner.y.arraySync(), [11, 12]);
  assert.equal(tape.watched.length, 2);
  assert.deepEqual(tape.jacobian(a, x).arraySync(), [[3, 0], [0, 4]]);
  const z = tenon.tensor([1]);
  assert.equal(tape.gradient(a, z, { unreached: 'null' }), null);
  assert.throws(() => tape.gradient(a, x, { unreached: 'none' }), { message: /'zeros' or 'null'/ });
});

test('a tape records nothing outside run', () => {
  const w = new tenon.Variable(3);
  const tape = tenon.tape({ persistent: true });
  const inside = tape.run(() => w.read().mul(2));
  const outside = inside.mul(5);
  assert.equal(tape.isRecording, false);
  assert.equal(tape.gradient(inside, w).itemSync(), 2);
  assert.equal(tape.gradient(outside, w).itemSync(), 0);
  tape.reset();
  const again = tape.run(() => w.read().mul(7));
  assert.equal(tape.gradient(again, w).itemSync(), 7);
});

test('tapes nest for second derivatives', () => {
  const x = tenon.tensor(3);
  const outer = tenon.tape().watch(x);
  const slope = outer.run(() => {
    const inner = tenon.tape().watch(x);
    const y = inner.run(() => x.mul(x).mul(x));
    return inner.gradient(y, x);
  });
  assert.equal(slope.itemSync(), 27);
  assert.equal(outer.gradient(slope, x).itemSync(), 18);
});

test('tapes of two interleaved tasks do not record each other', async () => {
  const task = async (start, waits) => {
    const w = new tenon.Variable([start]);
    const tape = tenon.tape();
    let value = tape.run(() => w.read());
    for (const ms of waits) {
      await pause(ms);
      value = tape.run(() => value.mul(w));
      await value.data();
    }
    const gradient = tape.gradient(value, w);
    tape.dispose();
    return (await gradient.data())[0];
  };
  const results = await Promise.all([task(2, [1, 5, 1]), task(3, [2, 1, 3]), task(5, [0, 0, 0])]);
  assert.deepEqual(results, [4 * 8, 4 * 27, 4 * 125]);
});

test('Tape.run throws if the function is asynchronous', () => {
  const tape = tenon.tape();
  assert.throws(() => tape.run(async () => tenon.tensor(1)), { message: /await between calls/ });
});

test('grad, grads, valueAndGrad and valueAndGrads return the same gradients', () => {
  assert.equal(tenon.grad((x) => x.mul(x))(3).itemSync(), 6);
  assert.deepEqual(tenon.grads((x, y) => x.mul(y))([2, 3]).map((g) => g.itemSync()), [3, 2]);
  const { value, grad } = tenon.valueAndGrad((x) => x.exp())(0);
  assert.deepEqual([value.itemSync(), grad.itemSync()], [1, 1]);
  const both = tenon.valueAndGrads((x, y) => x.sub(y))([5, 3]);
  assert.deepEqual([both.value.itemSync(), ...both.grads.map((g) => g.itemSync())], [2, 1, -1]);
  assert.equal(tenon.grad(tenon.grad((x) => x.mul(x).mul(x)))(2).itemSync(), 12);
});

test('variableGrads gives gradients by name', () => {
  const a = new tenon.Variable(2, { name: 'a' });
  const b = new tenon.Variable(3, { name: 'b' });
  const frozen = new tenon.Variable(5, { name: 'frozen', trainable: false });
  const f = () => tenon.mul(a, b).mul(frozen);
  const { value, grads } = tenon.variableGrads(f);
  assert.equal(value.itemSync(), 30);
  assert.deepEqual(Object.keys(grads), ['a', 'b']);
  assert.deepEqual([grads.a.itemSync(), grads.b.itemSync()], [15, 10]);
  assert.deepEqual(Object.keys(tenon.variableGrads(f, [b]).grads), ['b']);
  const twin = new tenon.Variable(1, { name: 'a' });
  assert.throws(() => tenon.variableGrads(() => tenon.mul(a, twin)), { message: /two variables are called 'a'/ });
});

test('exceptions of differentiated functions propagate unchanged', () => {
  class Mine extends Error {}
  const mine = new Mine('out of patience');
  assert.throws(() => tenon.grad(() => {
    throw mine;
  })(1), (error) => error === mine);
  assert.throws(() => tenon.tensor([1]).softmax(9), { code: 'INVALID_ARGUMENT' });
});

test('a custom gradient replaces the derivative', () => {
  const clip = tenon.customGradient((x) => x.identity(), (cotangent) => cotangent.clip(-0.5, 0.5));
  assert.deepEqual(tenon.grad((x) => clip(x).mul([3, 0.25]).sum())([1, 1]).arraySync(), [0.5, 0.25]);
});

test('tapes and gradients leak no tensors or callbacks', () => {
  const before = tenon.memory();
  tenon.scope(() => {
    const w = new tenon.Variable([1, 2]);
    for (let i = 0; i < 20; ++i) {
      const tape = tenon.tape();
      tape.gradient(tape.run(() => w.read().square().sum()), w);
      tape.dispose();
      tenon.variableGrads(() => w.read().square().sum());
    }
    w.dispose();
  });
  const after = tenon.memory();
  assert.equal(after.tensors, before.tensors);
  assert.equal(after.callbacks, before.callbacks);
});
