// The cases of onnxruntime-web on one thread, which run ONNX models that Tenon has saved.

import { NODES } from './sizes.mjs';

export async function open({ peers }, models) {
  const ort = await import(`${peers}/onnxruntime-web/dist/ort.wasm.min.mjs`);
  ort.env.wasm.numThreads = 1;
  ort.env.logLevel = 'error';
  const cases = {};
  for (const [name, { bytes, inputs }] of Object.entries(models)) {
    const session = await ort.InferenceSession.create(bytes);
    const feeds = Object.fromEntries(session.inputNames.map((input, i) =>
      [input, new ort.Tensor('float32', inputs[i].data, inputs[i].shape)]));
    cases[name] = { count: name === 'traced_node' ? NODES : 1, run: () => session.run(feeds) };
  }
  return [{ peer: 'onnxruntime', cases }];
}
