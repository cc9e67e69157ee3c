// Tensors: creation, reading, printing, ops, indexing and errors.

import assert from 'node:assert/strict';
import { before, test } from 'node:test';
import { inspect } from 'node:util';
import * as tenon from 'tenon-runtime';

before(() => tenon.init({ logLevel: 'error' }));

test('init loads the variant that environment() names', () => {
  const found = tenon.environment();
  assert.equal(found.isReady, true);
  if (process.env.TENON_VARIANT) assert.equal(found.variant, process.env.TENON_VARIANT);
  assert.match(found.reason, /thread|shared memory/);
  assert.match(tenon.version(), /^\d+\.\d+\.\d+$/);
});

test('nested arrays give shape and dtype', () => {
  const x = tenon.tensor([[1, 2], [3, 4]]);
  assert.deepEqual(x.shape, [2, 2]);
  assert.equal(x.dtype, 'float32');
  assert.equal(x.rank, 2);
  assert.equal(x.size, 4);
  assert.equal(x.byteLength, 16);
  assert.deepEqual(x.arraySync(), [[1, 2], [3, 4]]);
  assert.equal(tenon.tensor([true, false]).dtype, 'bool');
  assert.equal(tenon.tensor([1n]).dtype, 'int64');
  assert.deepEqual(tenon.tensor(3).shape, []);
  assert.deepEqual(tenon.tensor([]).shape, [0]);
  assert.deepEqual(tenon.tensor([[], []]).shape, [2, 0]);
});

test('every dtype keeps its elements', () => {
  for (const dtype of tenon.dtypes) {
    if (dtype === 'float8_e8m0fnu') continue; // It has no 0.
    const x = tenon.tensor([0, 1, 1], { dtype });
    assert.equal(x.dtype, dtype);
    assert.deepEqual(x.arraySync(), dtype === 'bool' ? [false, true, true] : [0, 1, 1], dtype);
  }
});

test('typed arrays keep their dtype and take a shape', () => {
  const x = tenon.tensor(Int16Array.of(-1, 2, 3, 4), { shape: [2, 2] });
  assert.equal(x.dtype, 'int16');
  assert.deepEqual(x.arraySync(), [[-1, 2], [3, 4]]);
  const wide = tenon.tensor(BigInt64Array.of(2n ** 40n));
  assert.deepEqual(wide.dataSync(), BigInt64Array.of(2n ** 40n));
  const view = new Float32Array(new Float32Array([9, 1, 2, 9]).buffer, 4, 2);
  assert.deepEqual(tenon.tensor(view).dataSync(), Float32Array.of(1, 2));
  assert.deepEqual(tenon.tensor([new Float32Array([1, 2]), new Float32Array([3, 4])]).shape, [2, 2]);
});

test('data() and dataSync() return the same elements', async () => {
  const x = tenon.tensor([[1.5, -2], [0, 4]]);
  assert.deepEqual(await x.data(), x.dataSync());
  assert.deepEqual(await x.array(), x.arraySync());
  assert.equal(await x.sum().item(), 3.5);
  assert.equal(x.sum().itemSync(), 3.5);
  assert.equal(x.greater(0).any().itemSync(), true);
  assert.deepEqual(await x.transpose().data(), Float32Array.of(1.5, 0, -2, 4));
});

test('data() returns a copy', () => {
  const x = tenon.tensor([1, 2]);
  x.dataSync()[0] = 7;
  assert.deepEqual(x.arraySync(), [1, 2]);
});

test('tensors print as NumPy prints arrays', () => {
  const x = tenon.tensor([[1, 2.5], [3, 4]]);
  assert.equal(x.toString(), '[[1.  2.5]\n [3.  4. ]]');
  assert.equal(String(tenon.tensor([1, 2], { dtype: 'int32' })), '[1 2]');
  assert.equal(tenon.tensor([1 / 3]).toString({ precision: 2 }), '[0.33]');
  assert.match(inspect(x), /^Tensor \[\[1\. .*float32|f32/s);
});

test('ops are functions and methods, and numbers adopt dtypes', () => {
  const x = tenon.tensor([[1, 2], [3, 4]]);
  assert.deepEqual(tenon.mul(2, x).add(x).arraySync(), [[3, 6], [9, 12]]);
  assert.deepEqual(x.sum([1], { keepdims: true }).arraySync(), [[3], [7]]);
  assert.deepEqual(x.sum({ axes: 1 }).arraySync(), [3, 7]);
  assert.deepEqual(x.matmul([[1, 0], [0, 1]]).arraySync(), x.arraySync());
  const ints = tenon.tensor([4, 5], { dtype: 'int32' });
  assert.equal(ints.add(1).dtype, 'int32');
  assert.equal(tenon.add(1, 2).dtype, 'float32');
  assert.equal(tenon.exp(0).itemSync(), 1);
  assert.equal(Object.is(tenon.add(-0, -0).itemSync(), -0), true);
  assert.equal(tenon.tensor([1], { dtype: 'float16' }).mul(0.5).dtype, 'float16');
  assert.deepEqual(tenon.var(x).itemSync(), x.var().itemSync());
});

test('ops broadcast, and have several outputs', () => {
  const x = tenon.tensor([[1, 2], [3, 4]]);
  assert.deepEqual(x.add([10, 20]).arraySync(), [[11, 22], [13, 24]]);
  const { values, indices } = tenon.top_k(x, 1);
  assert.deepEqual(values.arraySync(), [[2], [4]]);
  assert.deepEqual(indices.arraySync(), [[1], [1]]);
  assert.deepEqual(x.split({ axis: 1, num_outputs: 2 }).map((part) => part.shape), [[2, 1], [2, 1]]);
  assert.equal(x.unstack().length, 2);
  assert.deepEqual(tenon.concat([x, x], 1).shape, [2, 4]);
  assert.deepEqual(tenon.einsum([x, x], 'ij,jk->ik').arraySync(), [[7, 10], [15, 22]]);
});

test('options have enumerations, lists, dtypes and optional inputs', () => {
  const x = tenon.tensor([1, 2, 3]);
  assert.deepEqual(x.pad({ pads: [1, 1], mode: 'reflect' }).arraySync(), [2, 1, 2, 3, 2]);
  assert.equal(x.cast('int64').dtype, 'int64');
  assert.deepEqual(tenon.fill(7, { shape: [2] }).arraySync(), [7, 7]);
  const image = tenon.tensor(new Float32Array(16).fill(1), { shape: [1, 1, 4, 4] });
  const w = tenon.tensor(new Float32Array(4).fill(1), { shape: [1, 1, 2, 2] });
  assert.deepEqual(image.conv(w, { strides: [2, 2], b: [10] }).arraySync(), [[[[14, 14], [14, 14]]]]);
  assert.deepEqual(image.conv(w, [10], { strides: [2, 2] }).arraySync(), [[[[14, 14], [14, 14]]]]);
});

test('indexing takes numbers, ranges and null', () => {
  const x = tenon.tensor([[1, 2, 3], [4, 5, 6]]);
  assert.deepEqual(x.at(1).arraySync(), [4, 5, 6]);
  assert.deepEqual(x.at(-1, -1).arraySync(), 6);
  assert.deepEqual(x.at(null, [1, 3]).arraySync(), [[2, 3], [5, 6]]);
  assert.deepEqual(x.at(null, [0, 3, 2]).arraySync(), [[1, 3], [4, 6]]);
  assert.throws(() => x.at(2), { code: 'INVALID_ARGUMENT', message: /index 2 is outside/ });
});

test('errors have code, op and rule', () => {
  const x = tenon.tensor([1, 2]);
  assert.throws(() => x.softmax(5), (error) => {
    assert.ok(error instanceof tenon.TenonError);
    assert.equal(error.code, 'INVALID_ARGUMENT');
    assert.equal(error.op, 'softmax');
    assert.equal(error.rule, 'C2');
    assert.match(error.message, /^softmax: C2: /);
    return true;
  });
  assert.throws(() => tenon.gather([1, 2], tenon.tensor([7], { dtype: 'int64' })), { code: 'OUT_OF_RANGE' });
  assert.throws(() => tenon.tensor([1, 2], { dtype: 'int32' }).add(0.5), { message: /cast/ });
});

test('errors of wrong arguments list what is allowed', () => {
  const x = tenon.tensor([1, 2]);
  assert.throws(() => tenon.tensor([[1], [2, 3]]), { message: /different lengths/ });
  assert.throws(() => tenon.tensor(['a']), { message: /not a number/ });
  assert.throws(() => tenon.tensor([1, 2], { shape: [3] }), { message: /does not fit/ });
  assert.throws(() => tenon.tensor([1], { dtype: 'float8' }), { message: /there is no dtype 'float8'/ });
  assert.throws(() => x.sum({ axis: 1 }), { message: /no option 'axis'; the options are axes, keepdims/ });
  assert.throws(() => x.sum([0], true), { message: /takes 1 inputs and the options/ });
  assert.throws(() => x.sum(0.5), { message: /must be an integer/ });
  assert.throws(() => tenon.add(x), { message: /expected a tensor/ });
  assert.throws(() => tenon.conv(x), { message: /the input w is missing/ });
  assert.throws(() => x.pad({ pads: [1, 1], mode: 'mirror' }), { message: /must be one of constant, reflect/ });
});

test('a disposed tensor cannot be used', () => {
  const x = tenon.tensor([1]);
  const y = x.clone();
  x.dispose();
  x.dispose();
  assert.equal(x.isDisposed, true);
  assert.throws(() => x.add(1), { message: /this Tensor was disposed/ });
  assert.throws(() => x.shape, { message: /disposed/ });
  assert.deepEqual(y.arraySync(), [1]);
});

test('a donated tensor is consumed by the next call', () => {
  const x = tenon.tensor([1, 2]);
  assert.deepEqual(x.donate().add(1).arraySync(), [2, 3]);
  assert.throws(() => x.add(1), { code: 'INVALID_ARGUMENT', message: /donated/ });
});

test('memory grows while tensors are made and read', () => {
  tenon.scope(() => {
    const before = tenon.memory().wasmBytes;
    const x = tenon.tensor(new Float32Array(1 << 23).fill(2));
    const y = x.add(x).mul(x);
    const data = y.dataSync();
    assert.equal(data.length, 1 << 23);
    assert.equal(data[data.length - 1], 8);
    assert.ok(tenon.memory().wasmBytes > before);
  });
});
