// The proxy of tenon-runtime/worker, in a thread of Node.

import assert from 'node:assert/strict';
import { setTimeout as pause } from 'node:timers/promises';
import { after, before, test } from 'node:test';
import { TenonError } from 'tenon-runtime';
import { connect } from 'tenon-runtime/worker';

const module = new URL('./worker_module.js', import.meta.url);
let tenon;

before(async () => { tenon = await connect({ logLevel: 'error' }); });
after(() => tenon.close());

/** Returns the number of tensors in the worker that are not disposed. */
async function countTensors() {
  return (await tenon.memory()).tensors;
}

test('the example of docs/browser.md', async (t) => {
  const report = t.mock.fn();
  const tenon = await connect({ logLevel: 'error' });
  const x = tenon.tensor([[1, 2], [3, 4]]); // a proxy, which is there at once
  const y = tenon.scope(() => x.matmul(x).add(1)); // x.matmul(x) is disposed
  const data = await y.data(); // Float32Array(4) [8, 11, 16, 23]
  const model = await tenon.import(new URL('./worker_module.js', import.meta.url)); // runs in the worker
  const loss = await model.train(100, (step, loss) => report(`${step}: ${loss}`)); // report() runs here
  tenon.close();
  assert.deepEqual([...data], [8, 11, 16, 23]);
  assert.equal(report.mock.callCount(), 100);
  assert.ok(loss < 1e-6);
});

test('calls return proxies at once, and await returns copies of plain data', async () => {
  const x = tenon.tensor([[1, 2], [3, 4]]);
  const y = x.matmul(x).add(1);
  assert.deepEqual(await y.data(), Float32Array.of(8, 11, 16, 23));
  assert.deepEqual(await y.array(), [[8, 11], [16, 23]]);
  assert.deepEqual([await y.shape, await y.dtype, await y.sum().item()], [[2, 2], 'float32', 58]);
  for (const proxy of [x, y]) proxy.dispose();
});

test('the results of ops with several outputs can be destructured', async () => {
  const { values, indices } = tenon.top_k([3, 1, 2], 2);
  assert.deepEqual([await values.array(), await indices.array()], [[3, 2], [0, 2]]);
  const [head, tail] = tenon.split([1, 2, 3], { split: [1, 2] });
  assert.deepEqual([await head.array(), await tail.array()], [[1], [2, 3]]);
});

test('await returns a proxy of a tensor that has no then', async () => {
  const x = await tenon.tensor([1, 2]);
  assert.equal(x.then, undefined);
  assert.deepEqual(await x.neg().array(), [-1, -2]);
  x.dispose();
  await assert.rejects(async () => x.neg(), { message: /was disposed/ });
});

test('a result that was awaited can be awaited again, and passed as an argument', async () => {
  const shape = tenon.tensor([[1, 2, 3]]).shape;
  assert.deepEqual([await shape, await shape], [[1, 3], [1, 3]]);
  assert.deepEqual(await tenon.fill(0, { shape }).array(), [[0, 0, 0]]);
});

test('an error of a call reaches the await of each result that depends on it', async () => {
  const y = tenon.softmax([1, 2], 5).add(1);
  await assert.rejects(async () => y.data(), (error) => {
    assert.ok(error instanceof TenonError);
    assert.deepEqual([error.code, error.op, error.rule], ['INVALID_ARGUMENT', 'softmax', 'C2']);
    return true;
  });
});

test('an error on which nothing waits is reported once', async () => {
  const errors = [];
  const other = await connect({ logLevel: 'error', onError: (error) => errors.push(error) });
  try {
    const y = other.softmax([1, 2], 5).add(1);
    await other.version();
    await other.version();
    assert.deepEqual(errors.map(({ rule }) => rule), ['C2']);
    await assert.rejects(async () => y.data(), { rule: 'C2' });
    assert.equal(errors.length, 1);
  } finally {
    other.close();
  }
});

test('scope() disposes the tensors that were created in it, except its result', async () => {
  const before = await countTensors();
  const x = tenon.tensor([1, 2]);
  const result = tenon.scope(() => {
    const { values } = tenon.top_k(x.add(1).mul(2), 1);
    return { values, kept: x.neg() };
  });
  assert.deepEqual([await result.values.array(), await result.kept.array()], [[6], [-1, -2]]);
  assert.equal(await countTensors(), before + 4); // x, kept, and both outputs of top_k
  for (const proxy of [x, result.kept, result.values]) proxy.dispose();
  assert.equal(await countTensors(), before + 1);
  assert.throws(() => tenon.scope(async () => {}), { message: /must be synchronous/ });
});

test('scope() does not dispose variables or tensors that existed before', async () => {
  const w = new tenon.Variable([1, 2], { name: 'w' });
  const x = tenon.tensor([3, 4]);
  for (let i = 0; i < 3; ++i) {
    tenon.scope(() => {
      w.assign(x);
      tenon.keep(x);
    });
  }
  assert.deepEqual([await w.read().array(), await x.array(), await w.name], [[3, 4], [3, 4], 'w']);
  w.dispose();
});

test('memory in the worker does not grow over 1000 scopes', async () => {
  const x = tenon.tensor(new Float32Array(1000));
  const turn = () => tenon.scope(() => { x.add(1).mul(x).sum(); });
  for (let i = 0; i < 100; ++i) turn();
  const before = await tenon.memory();
  for (let i = 0; i < 1000; ++i) turn();
  const end = await tenon.memory();
  for (const name of ['tensors', 'liveBytes', 'liveBuffers', 'wasmBytes']) assert.equal(end[name], before[name], name);
});

test('proxies that are garbage-collected release their tensors', async () => {
  const before = await countTensors();
  (function lose() {
    tenon.tensor([1, 2, 3]).add(1);
  })();
  for (let i = 0; i < 50 && await countTensors() > before; ++i) {
    globalThis.gc();
    await pause(5);
  }
  assert.ok(await countTensors() <= before);
});

test('a program is opened and trained in the worker', async () => {
  const files = await (await tenon.import(module)).program();
  assert.ok(files['tenon.json'] instanceof Uint8Array);
  const program = tenon.openProgram(files);
  const [scores] = program.function('score').call([[[1, 1], [2, 2]]]);
  assert.deepEqual(await scores.array(), [3, 6]);
  assert.deepEqual(await program.functionNames, ['score']);
  program.dispose();
});

test('the functions of a module report progress to functions of the page', async () => {
  const model = await tenon.import(module);
  const steps = [];
  const last = await model.train(3, (step, loss) => steps.push([step, loss]));
  assert.deepEqual(steps.map(([step]) => step), [1, 2, 3]);
  assert.equal(steps[2][1], last);
  assert.ok(last < steps[0][1]);
});

test('a function may receive tensors, as proxies', async () => {
  const model = await tenon.import(module);
  let received;
  await model.visit((x) => { received = x; });
  assert.deepEqual(await received.add(1).array(), [2, 3]);
});

test('a function of the page is refused where it would have to run in the worker', () => {
  assert.throws(() => tenon.function((x) => x.neg()), { message: /put it into a module/ });
});

test('close() rejects pending awaits and later calls', async () => {
  const other = await connect({ logLevel: 'error' });
  const pending = other.version().then(() => null, (error) => error.code);
  other.close();
  assert.equal(await pending, 'CANCELLED');
  assert.throws(() => other.tensor([1]), { code: 'FAILED_PRECONDITION' });
});

test('an answer that arrives after close() is ignored', async () => {
  const other = await connect({ logLevel: 'error' });
  const pending = other.version().then(() => null, (error) => error.code);
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 300); // The worker answers in this time.
  other.close();
  assert.equal(await pending, 'CANCELLED');
  await pause(20);
});

test('connect() reports the progress of the download, and the errors of init()', async () => {
  const reports = [];
  const other = await connect({ progress: (report) => reports.push(report) });
  other.close();
  const { loaded, total } = reports.at(-1);
  assert.ok(loaded > 1e6 && loaded === total);
  await assert.rejects(connect({ logLevel: 'loud' }), { code: 'INVALID_ARGUMENT', message: /logLevel/ });
});
