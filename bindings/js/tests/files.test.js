// Programs and named tensors as bytes, and properties of devices.

import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import { before, test } from 'node:test';
import * as tenon from 'tenon-runtime';

before(() => tenon.init({ logLevel: 'error' }));

test('safetensors are saved to bytes and loaded from them', async () => {
  const data = tenon.saveSafetensors({ x: tenon.tensor([1, 2]), n: tenon.tensor([[3]], { dtype: 'int64' }) }, { by: 'a test' });
  const loaded = await tenon.loadSafetensors(data);
  assert.deepEqual(loaded.x.arraySync(), [1, 2]);
  assert.deepEqual(loaded.n.arraySync(), [[3]]);
  const file = new tenon.Safetensors(data);
  assert.deepEqual([...file.names].sort(), ['n', 'x']);
  assert.deepEqual(file.type('n'), { dtype: 'int64', shape: [1, 1] });
  assert.deepEqual(file.metadata, { by: 'a test' });
  assert.throws(() => file.load('z'), { code: 'NOT_FOUND' });
  assert.deepEqual((await tenon.loadSafetensors(new Blob([data]))).x.arraySync(), [1, 2]);
  assert.deepEqual((await tenon.loadSafetensors(data.buffer.slice(data.byteOffset, data.byteOffset + data.length))).x.arraySync(), [1, 2]);
  await assert.rejects(tenon.loadSafetensors(data.slice(0, 20)), { code: 'DATA_LOSS' });
  await assert.rejects(tenon.loadSafetensors(42), { message: /expected an ArrayBuffer/ });
});

test('a program is saved to files and opened again', async () => {
  const w = new tenon.Variable([1, 2], { name: 'w' });
  const score = tenon.function((x) => x.mul(w).sum([1]));
  const train = tenon.function((x, rate) => {
    const { value, grads } = tenon.variableGrads(() => x.mul(w).sum());
    w.assign(tenon.sgd(w, grads.w, rate));
    return value;
  });
  const rows = new tenon.TensorSpec([null, 2], 'float32', { name: 'rows' });
  const files = await tenon.saveProgram({
    score: score.trace(rows),
    train: train.trace(new tenon.TensorSpec([3, 2]), new tenon.TensorSpec([])),
  });
  assert.deepEqual(Object.keys(files), ['score.onnx', 'tenon.json', 'train.onnx', 'weights.safetensors']);
  const program = await tenon.openProgram(files);
  assert.deepEqual(program.functionNames, ['score', 'train']);
  const ones = tenon.tensor([[1, 1], [1, 1], [1, 1]]);
  assert.deepEqual(program.function('score').call([ones])[0].arraySync(), [3, 3, 3]);
  const [signature] = program.signatures('score');
  assert.deepEqual(signature.inputs[0].shape.slice(1), [2]);
  assert.equal(typeof signature.inputs[0].shape[0] === 'number', false);
  assert.equal(signature.inputs[0].name, 'rows');
  program.function('train').call([ones, tenon.tensor(0.5)]);
  assert.deepEqual(program.variables.map((variable) => variable.name), ['w']);
  assert.deepEqual(program.variables[0].read().arraySync(), [-0.5, 0.5]);
  assert.deepEqual(w.read().arraySync(), [1, 2]);
  assert.equal(program.describe().functions.length, 2);
  const saved = await tenon.saveProgram({ f: tenon.function((x) => x.exp()).trace(tenon.tensor([0])) });
  const model = await tenon.openProgram(saved['f.onnx']);
  assert.deepEqual(model.function().call([tenon.tensor([0])])[0].arraySync(), [1]);
  await assert.rejects(tenon.openProgram(Uint8Array.of(1, 2, 3)), { code: 'DATA_LOSS' });
  await assert.rejects(tenon.openProgram({ 'tenon.json': Uint8Array.of(1), '../x': Uint8Array.of(1) }), { message: /not a valid file name/ });
});

test('strict refuses wrong declared shapes', async () => {
  // Computes y = -x for x: f32[2], but declares y: f32[7].
  const model = Uint8Array.from(Buffer.from(
      '080a420210143a320a0b0a017812017922034e65671201675a0f0a0178120a0a08080112040a020802620f0a0179' +
      '120a0a08080112040a020807', 'hex'));
  const x = tenon.tensor([1, -2]);
  const lenient = await tenon.openProgram(model);
  assert.deepEqual(lenient.function().call([x])[0].arraySync(), [-1, 2]);
  const strict = await tenon.openProgram(model, { strict: true });
  assert.throws(() => strict.function().call([x]), { code: 'DATA_LOSS', message: /declared to be f32\[7\]/ });
});

test('opening and disposing 200 programs does not grow memory', async () => {
  const w = new tenon.Variable(new Float32Array(1 << 16), { name: 'w' });
  const files = await tenon.saveProgram({ f: tenon.function((x) => x.add(w)).trace(new tenon.TensorSpec([1 << 16])) });
  const x = tenon.tensor(new Float32Array(1 << 16));
  const once = async () => {
    const program = await tenon.openProgram(files);
    tenon.scope(() => {
      const f = program.function('f');
      f.call([x]);
      f.dispose();
    });
    program.dispose();
  };
  for (let i = 0; i < 10; ++i) await once();
  const start = tenon.memory();
  for (let i = 0; i < 200; ++i) await once();
  const end = tenon.memory();
  for (const name of ['tensors', 'callbacks', 'liveBytes', 'liveBuffers', 'wasmBytes']) {
    assert.equal(end[name], start[name], name);
  }
});

test('devices, plugins, passes and the profiler are described', async () => {
  const [device] = tenon.devices();
  assert.match(device.name, /^\w+:0$/);
  assert.equal(tenon.currentDevice(), tenon.devices().find((d) => d.name === tenon.currentDevice()).name);
  assert.equal(tenon.plugins().some((plugin) => plugin.state === 'loaded'), true);
  assert.ok(tenon.passes().some((pass) => pass.name === 'fold' && pass.summary));
  tenon.setPass('fold', false);
  tenon.setPass('fold', true);
  assert.throws(() => tenon.setPass('none', true), { code: 'NOT_FOUND' });
  const scope = new tenon.Scope({ device: 'wasm' });
  const x = scope.run(() => tenon.tensor([1, 2]));
  assert.equal(x.device, 'wasm:0');
  assert.equal(x.copyTo(tenon.currentDevice()).device, tenon.currentDevice());
  assert.throws(() => tenon.setDevice('cuda'), { code: 'NOT_FOUND' });
  await tenon.synchronize();
  tenon.synchronizeSync();
  tenon.resetPeak(device.name);
  assert.equal(typeof tenon.trim(device.name), 'number');
  const profiler = new tenon.Profiler();
  tenon.tensor([1]).add(1);
  profiler.stop();
  assert.ok(profiler.rows().some((row) => row.kind === 'op' && row.name === 'add' && row.count === 1));
  assert.match(profiler.table(), /add/);
  assert.ok(JSON.parse(profiler.traceText()).traceEvents.some((event) => event.name === 'add'));
  assert.equal(profiler.droppedEvents, 0);
});

/** Serves files over HTTP while `body` runs. */
async function withServer(files, body) {
  const server = createServer((request, response) => {
    const data = files[request.url.slice(1)];
    response.writeHead(data ? 200 : 404, data ? { 'Content-Length': data.length } : {}).end(data);
  });
  await new Promise((resolve) => { server.listen(0, '127.0.0.1', resolve); });
  try {
    await body(`http://127.0.0.1:${server.address().port}`);
  } finally {
    server.close();
  }
}

test('openProgram reports the progress of downloads', async () => {
  const w = new tenon.Variable(new Float32Array(1 << 18), { name: 'w' });
  const files = await tenon.saveProgram({ f: tenon.function((x) => x.add(w)).trace(new tenon.TensorSpec([1 << 18])) });
  await withServer(files, async (base) => {
    const reports = [];
    const progress = ({ loaded, total }) => reports.push({ loaded, total }); // bytes; total may be null
    const program = await tenon.openProgram(base, { progress });
    program.dispose();
    const total = files['f.onnx'].length + files['weights.safetensors'].length;
    assert.ok(reports.length > 2 && reports.every((report) => report.total === total));
    assert.ok(reports.every(({ loaded }, i) => i === 0 || loaded > reports[i - 1].loaded));
    assert.equal(reports.at(-1).loaded, total);
    const weights = [];
    await tenon.loadSafetensors(`${base}/weights.safetensors`, { progress: (report) => weights.push(report) });
    assert.equal(weights.at(-1).loaded, files['weights.safetensors'].length);
    await assert.rejects(tenon.openProgram(`${base}/none.onnx`), { code: 'UNAVAILABLE', message: /404/ });
    await assert.rejects(tenon.openProgram(base, { progress() { throw new Error('mine'); } }), /mine/);
  });
});

test('an ONNX model may have its weights in other files', async () => {
  const w = new tenon.Variable([1, 2], { name: 'w' });
  const { 'tenon.json': _, ...files } = await tenon.saveProgram({ f: tenon.function((x) => x.add(w)).trace(new tenon.TensorSpec([2])) });
  assert.deepEqual(Object.keys(files), ['f.onnx', 'weights.safetensors']);
  const model = await tenon.openProgram(files);
  assert.deepEqual(model.function().call([tenon.tensor([1, 1])])[0].arraySync(), [2, 3]);
  await assert.rejects(tenon.openProgram({ 'a.txt': Uint8Array.of(1) }), { message: /expected a file tenon.json.*a\.txt/ });
});

test('IndexedDB is reported as missing in Node', async () => {
  await assert.rejects(tenon.storeFiles('indexeddb://x', Uint8Array.of(1)), { code: 'UNAVAILABLE', message: /no IndexedDB/ });
  await assert.rejects(tenon.openProgram('indexeddb://x'), { code: 'UNAVAILABLE' });
  await assert.rejects(tenon.storeFiles('x', Uint8Array.of(1)), { message: /indexeddb:\/\/NAME, but got 'x'/ });
});
