// Traced functions, control flow, lists, effects and custom ops.

import assert from 'node:assert/strict';
import { before, test } from 'node:test';
import * as tenon from 'tenon-runtime';

before(() => tenon.init({ logLevel: 'error' }));

test('a function is traced once for each kind of arguments', () => {
  let traces = 0;
  const scaled = tenon.function((a, b) => {
    ++traces;
    return a.mul(b);
  });
  const x = tenon.tensor([2, 3]);
  assert.deepEqual(scaled(x, x).arraySync(), [4, 9]);
  assert.deepEqual(scaled(x, tenon.tensor([1, 1])).arraySync(), [2, 3]);
  assert.equal(traces, 1);
  scaled(tenon.tensor([1], { dtype: 'float64' }), tenon.tensor([1], { dtype: 'float64' }));
  assert.equal(traces, 2);
  assert.equal(scaled.traceCount(), 2);
  assert.match(scaled.explain(), /f32/);
  assert.match(scaled.traces()[0].text, /mul/);
  assert.match(scaled.findTrace(x, x).text, /mul/);
});

test('arguments and results may be trees, with constants', () => {
  const f = tenon.function(({ x, y }, [z], mode) => (mode === 'sum' ? { total: x.add(y).add(z), parts: [x] } : x));
  const [x, y, z] = [1, 2, 3].map((value) => tenon.tensor([value]));
  const found = f({ y, x }, [z], 'sum');
  assert.deepEqual(found.total.arraySync(), [6]);
  assert.deepEqual(found.parts[0].arraySync(), [1]);
  assert.deepEqual(f({ x, y }, [z], 'first').arraySync(), [1]);
  assert.equal(f.traceCount(), 2);
});

test('an inline scalar may change without a new trace', () => {
  const f = tenon.function((x, rate) => x.mul(rate));
  const x = tenon.tensor([1, 2]);
  assert.deepEqual(f(x, tenon.scalar(2)).arraySync(), [2, 4]);
  assert.deepEqual(f(x, tenon.scalar(3)).arraySync(), [3, 6]);
  assert.equal(f.traceCount(), 1);
});

test('a function may create variables in its first call', () => {
  let w = null;
  const f = tenon.function((x) => {
    w ??= new tenon.Variable([10, 20]);
    w.assign(w.read().add(1));
    return x.add(w);
  });
  assert.deepEqual(f(tenon.tensor([1, 1])).arraySync(), [12, 22]);
  assert.deepEqual(f(tenon.tensor([1, 1])).arraySync(), [13, 23]);
});

test('a signature fixes the types of arguments', () => {
  const f = tenon.function((x) => x.sum([0]), { signature: [new tenon.TensorSpec([null, 2])] });
  assert.deepEqual(f(tenon.tensor([[1, 2], [3, 4]])).arraySync(), [4, 6]);
  assert.deepEqual(f(tenon.tensor([[1, 2]])).arraySync(), [1, 2]);
  assert.equal(f.traceCount(), 1);
  assert.throws(() => f(tenon.tensor([1])), { code: 'INVALID_ARGUMENT' });
  const trace = f.trace();
  assert.deepEqual([trace.inputCount, trace.outputCount], [1, 1]);
  assert.deepEqual(trace.call(tenon.tensor([[5, 5]])).arraySync(), [5, 5]);
  assert.match(trace.stages, /Graph/);
});

test('functions have gradients, under tapes and as functions', () => {
  const f = tenon.function((x) => x.mul(x).sum());
  const x = tenon.tensor([1, 2]);
  assert.deepEqual(tenon.grad(f)(x).arraySync(), [2, 4]);
  assert.deepEqual(f.gradient(x).call([x])[0].arraySync(), [2, 4]);
});

test('a tape inside a function computes gradients in the trace', () => {
  const w = new tenon.Variable([1, 2]);
  const step = tenon.function((x) => {
    const tape = tenon.tape();
    const loss = tape.run(() => x.mul(w).square().sum());
    const gradient = tape.gradient(loss, w);
    tape.dispose();
    w.assign(w.read().sub(gradient.mul(0.25)));
    return loss;
  });
  assert.equal(step(tenon.tensor([1, 1])).itemSync(), 5);
  assert.equal(step(tenon.tensor([1, 1])).itemSync(), 1.25);
  assert.deepEqual(w.read().arraySync(), [0.25, 0.5]);
});

test('exceptions of a body propagate unchanged, and a returned Promise is an error', () => {
  const mine = new RangeError('mine');
  assert.throws(() => tenon.function(() => {
    throw mine;
  })(tenon.tensor(1)), (error) => error === mine);
  assert.throws(() => tenon.function(async (x) => x)(tenon.tensor(1)), { message: /cannot be asynchronous/ });
  assert.throws(() => tenon.function((x) => x)(() => 1), { message: /an argument must be a tensor/ });
  assert.throws(() => tenon.function((x) => x.dataSync())(tenon.tensor(1)), { code: 'FAILED_PRECONDITION' });
});

test('functions may run eagerly', () => {
  let calls = 0;
  const f = tenon.function((x) => {
    ++calls;
    return x.add(1);
  });
  tenon.runFunctionsEagerly(true);
  try {
    f(tenon.tensor(1));
    f(tenon.tensor(1));
    assert.equal(calls, 2);
  } finally {
    tenon.runFunctionsEagerly(false);
  }
});

for (const [mode, wrap] of [['eager', (f) => f], ['traced', (f) => tenon.function(f)]]) {
  test(`cond, switchCase, whileLoop and scan are ${mode}`, () => {
    const choose = wrap((x) => tenon.cond(tenon.greater(x, 0).all(), () => x.neg(), () => x));
    assert.deepEqual(choose(tenon.tensor([1, 2])).arraySync(), [-1, -2]);
    assert.deepEqual(choose(tenon.tensor([-1, 2])).arraySync(), [-1, 2]);
    const pick = wrap((i) => tenon.switchCase(i, [() => i.mul(10), () => i.mul(100)]));
    assert.equal(pick(tenon.tensor(0, { dtype: 'int64' })).itemSync(), 0);
    assert.equal(pick(tenon.tensor(7, { dtype: 'int64' })).itemSync(), 700);
    const double = wrap((x) => tenon.whileLoop((v) => v.less(100), (v) => v.add(v), x));
    assert.equal(double(tenon.tensor(3)).itemSync(), 192);
    const count = wrap((n) => tenon.whileLoop((i, s) => i.less(n), (i, s) => [i.add(1), s.add(i)], [0, 0].map((value) => tenon.tensor(value, { dtype: 'int64' }))));
    assert.equal(count(tenon.tensor(5, { dtype: 'int64' }))[1].itemSync(), 10);
    const sums = wrap((xs) => tenon.scan((s, x) => [s.add(x), s.add(x)], tenon.tensor(0), xs));
    const [last, partial] = sums(tenon.tensor([1, 2, 3]));
    assert.equal(last.itemSync(), 6);
    assert.deepEqual(partial.arraySync(), [1, 3, 6]);
    const [reversed] = tenon.scan((s, x) => [s.mul(2).add(x)], tenon.tensor(0), tenon.tensor([1, 2, 3]), { reverse: true });
    assert.equal(reversed.itemSync(), 17);
  });

  test(`gradients go through ${mode} loops`, () => {
    const f = wrap((x) => tenon.whileLoop((v) => v.less(100), (v) => v.mul(v), x));
    assert.equal(tenon.grad(f)(3).itemSync(), 8 * 3 ** 7);
  });
}

test('errors of loops describe the mismatch', () => {
  assert.throws(() => tenon.whileLoop(() => tenon.tensor(true), (v) => v.add(1), tenon.tensor(0), { maxTrips: 3 }),
      { code: 'INVALID_ARGUMENT' });
  assert.throws(() => tenon.whileLoop((v) => v.less(1), (v) => v, tenon.tensor(0), { policy: 'none' }),
      { message: /policy must be one of/ });
  assert.throws(() => tenon.whileLoop((a, b) => a.less(1), (a, b) => [a], [tenon.tensor(0), tenon.tensor(0)]),
      { message: /the body returned/ });
});

test('lists of tensors work eagerly and in functions', () => {
  let list = tenon.TensorList.create([2]);
  list = list.push([1, 2]).push([3, 4]).set(0, [9, 9]);
  assert.deepEqual(list.stack().arraySync(), [[9, 9], [3, 4]]);
  assert.deepEqual(list.concat().arraySync(), [9, 9, 3, 4]);
  assert.equal(list.length().itemSync(), 2);
  assert.deepEqual(list.get(1).arraySync(), [3, 4]);
  assert.equal(list.tensor.isList, true);
  assert.deepEqual(tenon.TensorList.unstack([[1], [2]]).get(1).arraySync(), [2]);
  assert.equal(tenon.TensorList.like(tenon.tensor([1])).length().itemSync(), 0);
  const collected = tenon.whileLoop((i) => i.less(3), (i, l) => [i.add(1), tenon.asList(l).push(i.cast('float32').reshape([1])).tensor],
      [tenon.tensor(0, { dtype: 'int64' }), tenon.TensorList.create([1]).tensor]);
  assert.deepEqual(tenon.asList(collected[1]).stack().arraySync(), [[0], [1], [2]]);
});

test('custom ops compute in JavaScript or decompose', () => {
  const cube = tenon.customOp({
    name: 'test.cube',
    inputs: 1,
    infer: (x) => x,
    compute: ([x], [y]) => y.data.set(x.data.map((value) => value ** 3)),
    backward: ([cotangent], [x]) => cotangent.mul(x.square()).mul(3),
  });
  assert.deepEqual(cube(tenon.tensor([1, 2])).arraySync(), [1, 8]);
  assert.deepEqual(tenon.grad((x) => cube(x).sum())([1, 2]).arraySync(), [3, 12]);
  assert.deepEqual(tenon.function((x) => cube(x))(tenon.tensor([3])).arraySync(), [27]);
  const twice = tenon.customOp({ name: 'test.twice', inputs: 1, infer: (x) => x, decompose: (x) => x.add(x) });
  assert.deepEqual(tenon.grad((x) => twice(x).sum())([1]).arraySync(), [2]);
  assert.equal(tenon.opName(tenon.findOp('test.twice')), 'test.twice');
  assert.throws(() => tenon.customOp({ name: 'test.cube', inputs: 1, infer: (x) => x, decompose: (x) => x }),
      { code: 'INVALID_ARGUMENT' });
});

test('generators draw the same numbers for the same seed', () => {
  const one = new tenon.Generator(7);
  const other = new tenon.Generator(7n);
  assert.deepEqual(one.normal([2, 3]).arraySync(), other.normal([2, 3]).arraySync());
  const state = one.read();
  const drawn = one.uniform([4], { low: 1, high: 2 });
  assert.ok(drawn.arraySync().every((value) => value >= 1 && value < 2));
  one.assign(state);
  assert.deepEqual(one.random_uniform([4], { low: 1, high: 2 }).arraySync(), drawn.arraySync());
  const { y, mask } = one.dropout(tenon.tensor([1, 1, 1, 1]), 0.5);
  assert.deepEqual(y.shape, mask.shape);
  one.seed(7);
  assert.deepEqual(one.read().arraySync(), new tenon.Generator(7).read().arraySync());
  assert.throws(() => new tenon.Generator(-1), { message: /seed must be/ });
});

test('sizes may be tensors in a function', () => {
  const f = tenon.function((x) => x.reshape([tenon.shape(x).at(0), 1]), { signature: [new tenon.TensorSpec([null])] });
  assert.deepEqual(f(tenon.tensor([1, 2])).shape, [2, 1]);
  assert.deepEqual(f(tenon.tensor([1, 2, 3])).shape, [3, 1]);
  assert.equal(tenon.isTracing(), false);
});
