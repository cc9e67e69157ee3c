// The cases of jax-js on WebAssembly. A call consumes its arrays, unless they are passed as `x.ref`.

import { BATCH, LAYERS, SIDE, labels, noise, serveCases } from './sizes.js';

serveCases(async () => {
  delete globalThis.SharedArrayBuffer; // jax-js then computes on one thread.
  const jax = await import('../peers/jax/index.js');
  await jax.init('wasm');
  jax.defaultDevice('wasm');
  const { numpy: np, nn } = jax;
  const array = (shape, seed) => np.array(noise(shape.reduce((a, b) => a * b, 1), seed)).reshape(shape);
  const finish = async (value) => {
    await jax.blockUntilReady([value]);
    value.dispose();
  };
  return {
    async matmul() {
      const [a, b] = [2, 3].map((seed) => array([SIDE, SIDE], seed));
      return () => finish(np.matmul(a.ref, b.ref));
    },
    async train() {
      const x = array([BATCH, LAYERS[0]], 4);
      const wanted = nn.oneHot(np.array(labels(), { dtype: np.int32 }), LAYERS[2]);
      let all = [array(LAYERS.slice(0, 2), 5), np.zeros([LAYERS[1]]), array(LAYERS.slice(1), 6), np.zeros([LAYERS[2]])];
      const loss = ([w0, b0, w1, b1], input, target) => {
        const hidden = nn.relu(np.matmul(input, w0).add(b0));
        return nn.logSoftmax(np.matmul(hidden, w1).add(b1)).mul(target).sum().mul(-1 / BATCH);
      };
      const step = jax.jit((weights, input, target) => {
        const [value, grads] = jax.valueAndGrad(loss)(weights.map((w) => w.ref), input, target);
        return [value, weights.map((w, i) => w.sub(grads[i].mul(0.01)))];
      });
      return async () => {
        const [value, next] = step(all, x.ref, wanted.ref);
        all = next;
        await finish(value);
      };
    },
  };
});
