// The cases of TensorFlow.js on its backends cpu and wasm.

import { BATCH, CHAIN, HIDDEN, LAYERS, SIDE, labels, noise } from './sizes.mjs';

const isNode = typeof process === 'object';

/** Loads TensorFlow.js and its backend for WebAssembly. */
export async function load(peers) {
  if (isNode) {
    const { createRequire } = await import('node:module');
    const require = createRequire(`${peers}/`);
    const [tf, wasm] = ['tfjs', 'tfjs-backend-wasm'].map((name) => require(`@tensorflow/${name}`));
    wasm.setWasmPaths(new URL(`${peers}/@tensorflow/tfjs-backend-wasm/dist/`).pathname);
    return tf;
  }
  for (const file of ['tfjs/dist/tf.min.js', 'tfjs-backend-wasm/dist/tf-backend-wasm.min.js']) {
    const script = Object.assign(document.createElement('script'), { src: `${peers}/@tensorflow/${file}` });
    document.head.append(script);
    await new Promise((done, fail) => Object.assign(script, { onload: done, onerror: fail }));
  }
  const { tf } = globalThis;
  tf.wasm.setWasmPaths(`${peers}/@tensorflow/tfjs-backend-wasm/dist/`);
  return tf;
}

export async function open({ peers }) {
  console.warn = () => {}; // Suppresses TensorFlow.js's advertisements for its native package.
  const tf = await load(peers);
  const found = [];
  for (const backend of ['cpu', 'wasm']) {
    await tf.setBackend(backend);
    const tensor = (shape, seed) => tf.tensor(noise(shape.reduce((a, b) => a * b, 1), seed), shape);
    const one = tensor([1], 1);
    const a = tensor([SIDE, SIDE], 2), b = tensor([SIDE, SIDE], 3);
    const chain = tf.grad((x) => {
      let y = x;
      for (let i = 0; i < CHAIN; ++i) y = tf.add(y, x);
      return tf.sum(y);
    });
    const x = tensor([BATCH, LAYERS[0]], 4);
    const wanted = tf.oneHot(tf.tensor1d(labels(), 'int32'), LAYERS.at(-1));
    const weights = [], biases = [];
    for (let i = 0; i + 1 < LAYERS.length; ++i) {
      weights.push(tf.variable(tensor(LAYERS.slice(i, i + 2), 5 + i)));
      biases.push(tf.variable(tf.zeros([LAYERS[i + 1]])));
    }
    const optimizer = tf.train.sgd(0.01);
    const train = () => optimizer.minimize(() => {
      let h = x;
      weights.forEach((w, i) => {
        h = tf.add(tf.matMul(h, w), biases[i]);
        if (i + 1 < weights.length) h = tf.relu(h);
      });
      return tf.losses.softmaxCrossEntropy(wanted, h);
    });
    const forget = tf.scalar(0), kernel = tensor([2 * HIDDEN, 4 * HIDDEN], 13), bias = tensor([4 * HIDDEN], 14);
    const [input, h, c] = [10, 11, 12].map((seed) => tensor([1, HIDDEN], seed));
    const tidy = (body) => () => {
      tf.tidy(() => void body());
    };
    const cases = {
      eager_add_1: { count: 1000, run() { for (let i = 0; i < 1000; ++i) tf.add(one, one).dispose(); } },
      grad_chain: { count: CHAIN, run: tidy(() => chain(one)) },
      mlp_train: { count: 1, run: tidy(train) },
      lstm_step: { count: 1, run: tidy(() => tf.basicLSTMCell(forget, kernel, bias, input, c, h)) },
    };
    if (backend === 'wasm') { // The backend cpu is skipped, because these cases take seconds on it.
      cases.matmul_512 = { count: 1, run: tidy(() => tf.matMul(a, b)) };
      cases.matmul_512_transposed = { count: 1, run: tidy(() => tf.matMul(a, b, false, true)) };
    }
    // In Node, TensorFlow.js defines Worker, so jax-js would mistake Node for a browser.
    if (isNode) delete globalThis.Worker;
    found.push({ peer: `tfjs_${backend}`, cases, select: () => tf.setBackend(backend) });
  }
  return found;
}
