// The cases of jax-js on WebAssembly. A call consumes its arrays, unless they are passed as
// `x.ref`.

import { BATCH, HIDDEN, LAYERS, SIDE, labels, noise } from './sizes.mjs';

export async function open({ peers }) {
  const jax = await import(`${peers}/@jax-js/jax/dist/index.js`);
  await jax.init('wasm');
  jax.defaultDevice('wasm');
  const { numpy: np, nn } = jax;
  const array = (shape, seed) => np.array(noise(shape.reduce((a, b) => a * b, 1), seed)).reshape(shape);
  const a = array([SIDE, SIDE], 2), b = array([SIDE, SIDE], 3);
  const x = array([BATCH, LAYERS[0]], 4);
  const wanted = nn.oneHot(np.array(labels(), { dtype: np.int32 }), LAYERS.at(-1));
  let weights = [array([LAYERS[0], LAYERS[1]], 5), np.zeros([LAYERS[1]]), array([LAYERS[1], LAYERS[2]], 6), np.zeros([LAYERS[2]])];
  const loss = ([w0, b0, w1, b1], input, target) => {
    const h = nn.relu(np.matmul(input, w0).add(b0));
    return nn.logSoftmax(np.matmul(h, w1).add(b1)).mul(target).sum().mul(-1 / BATCH);
  };
  const train = jax.jit((all, input, target) => {
    const [value, grads] = jax.valueAndGrad(loss)(all.map((w) => w.ref), input, target);
    return [value, all.map((w, i) => w.sub(grads[i].mul(0.01)))];
  });
  const step = jax.jit((input, h, c, w, bias) => {
    const gates = np.matmul(np.concatenate([input, h], 1), w).add(bias);
    const [i, f, g, o] = np.split(gates, 4, 1);
    const cell = nn.sigmoid(f).mul(c).add(nn.sigmoid(i).mul(np.tanh(g)));
    return [nn.sigmoid(o).mul(np.tanh(cell.ref)), cell];
  });
  const stepInputs = [array([1, HIDDEN], 10), array([1, HIDDEN], 11), array([1, HIDDEN], 12),
    array([2 * HIDDEN, 4 * HIDDEN], 13), array([4 * HIDDEN], 14)];
  const ready = async (values) => {
    await jax.blockUntilReady(values);
    for (const value of values) value.dispose();
  };
  const cases = {
    matmul_512: { count: 1, run: () => ready([np.matmul(a.ref, b.ref)]) },
    matmul_512_transposed: { count: 1, run: () => ready([np.matmul(a.ref, b.ref.transpose())]) },
    mlp_train: {
      count: 1,
      async run() {
        const [value, next] = train(weights, x.ref, wanted.ref);
        weights = next;
        await ready([value]);
      },
    },
    lstm_step: { count: 1, run: () => ready(step(...stepInputs.map((value) => value.ref))) },
  };
  return [{ peer: 'jax', cases }];
}
