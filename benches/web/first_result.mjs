// Imports a library and computes one sum. run.mjs measures how long this takes in a new process or page.

import { load } from './tfjs.mjs';

/** `peer`: tenon, tfjs_cpu, jax or onnxruntime. `where`: as for measure(). */
export async function firstResult(peer, where) {
  if (peer === 'tenon') {
    const tenon = await import(`${where.tenon}/src/index.js`);
    await tenon.init({ threads: 1 });
    tenon.tensor([1, 2]).add(1).dataSync();
  } else if (peer === 'tfjs_cpu') {
    const tf = await load(where.peers);
    await tf.setBackend('cpu');
    tf.tensor([1, 2]).add(1).dataSync();
  } else if (peer === 'jax') {
    const jax = await import(`${where.peers}/@jax-js/jax/dist/index.js`);
    await jax.init('wasm');
    jax.defaultDevice('wasm');
    await jax.numpy.array([1, 2]).add(1).data();
  } else {
    // Only loads the WebAssembly module, because a session would need a model file.
    const ort = await import(`${where.peers}/onnxruntime-web/dist/ort.wasm.min.mjs`);
    ort.env.wasm.numThreads = 1;
    await ort.InferenceSession.create(new Uint8Array(0)).catch(() => {});
  }
}
