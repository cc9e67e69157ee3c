// The cases of TensorFlow.js on its backend wasm.

import '../peers/tfjs/tf.min.js';
import '../peers/tfjs/tf-backend-wasm.min.js';
import { BATCH, LAYERS, SIDE, labels, noise, serveCases } from './sizes.js';

const { tf } = globalThis;
const tensor = (shape, seed) => tf.tensor(noise(shape.reduce((a, b) => a * b, 1), seed), shape);

serveCases(async () => {
  tf.wasm.setThreadsCount(1);
  tf.wasm.setWasmPaths(new URL('../peers/tfjs/', import.meta.url).href);
  await tf.setBackend('wasm');
  return {
    async adds() {
      const one = tensor([1], 1);
      return () => { for (let i = 0; i < 1000; ++i) tf.add(one, one).dispose(); };
    },
    async matmul() {
      const [a, b] = [2, 3].map((seed) => tensor([SIDE, SIDE], seed));
      return () => tf.matMul(a, b).dispose();
    },
    async train() {
      const x = tensor([BATCH, LAYERS[0]], 4);
      const wanted = tf.oneHot(tf.tensor1d(labels(), 'int32'), LAYERS[2]);
      const weights = [0, 1].map((i) => tf.variable(tensor(LAYERS.slice(i, i + 2), 5 + i)));
      const biases = [0, 1].map((i) => tf.variable(tf.zeros([LAYERS[i + 1]])));
      const optimizer = tf.train.sgd(0.01);
      return () => {
        tf.tidy(() => {
          optimizer.minimize(() => {
            const hidden = tf.relu(tf.add(tf.matMul(x, weights[0]), biases[0]));
            return tf.losses.softmaxCrossEntropy(wanted, tf.add(tf.matMul(hidden, weights[1]), biases[1]));
          });
        });
      };
    },
  };
});
