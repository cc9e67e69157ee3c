// Imports a library and computes one sum. run.mjs measures how long this process takes.
//
//   node first_result.mjs PEER PACKAGE PEERS
//
// PEER is tenon, tfjs_cpu, jax or onnxruntime. PACKAGE and PEERS are the folders of the libraries.

import { createRequire } from 'node:module';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

const [, , peer, packageFolder, peersFolder] = process.argv;
const require = createRequire(pathToFileURL(join(peersFolder, 'package.json')));
if (peer === 'tenon') {
  const tenon = await import(pathToFileURL(join(packageFolder, 'src/index.js')));
  await tenon.init();
  tenon.tensor([1, 2]).add(1).dataSync();
} else if (peer === 'tfjs_cpu') {
  const tf = require('@tensorflow/tfjs');
  await tf.setBackend('cpu');
  tf.tensor([1, 2]).add(1).dataSync();
} else if (peer === 'jax') {
  const jax = await import(pathToFileURL(join(peersFolder, 'node_modules/@jax-js/jax/dist/index.js')));
  await jax.init('wasm');
  jax.defaultDevice('wasm');
  await jax.numpy.array([1, 2]).add(1).data();
} else {
  // Only loads the WebAssembly module, because a session would need a model file.
  const ort = await import(pathToFileURL(join(peersFolder, 'node_modules/onnxruntime-web/dist/ort.wasm.min.mjs')));
  ort.env.wasm.numThreads = 1;
  await ort.InferenceSession.create(new Uint8Array(0)).catch(() => {});
}
process.exit(0);
