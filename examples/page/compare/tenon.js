// Tenon's cases.

import * as tenon from '../tenon/src/index.js';
import { BATCH, LAYERS, SIDE, labels, noise, serveCases } from './sizes.js';

const tensor = (shape, seed) => tenon.tensor(noise(shape.reduce((a, b) => a * b, 1), seed), { shape });
const scoped = (body) => () => { tenon.scope(() => { body(); }); };

serveCases(async () => {
  await tenon.init({ threads: 1 });
  return {
    async adds() {
      const one = tensor([1], 1);
      return () => { for (let i = 0; i < 1000; ++i) one.add(one).dispose(); };
    },
    async matmul() {
      const [a, b] = [2, 3].map((seed) => tensor([SIDE, SIDE], seed));
      return () => a.matmul(b).dispose();
    },
    async train() {
      const x = tensor([BATCH, LAYERS[0]], 4);
      const classes = tenon.tensor(labels());
      const weights = [0, 1].map((i) => new tenon.Variable(tensor(LAYERS.slice(i, i + 2), 5 + i), { name: `w${i}` }));
      const biases = [0, 1].map((i) => new tenon.Variable(new Float32Array(LAYERS[i + 1]), { name: `b${i}` }));
      const variables = [...weights, ...biases];
      const step = tenon.function((inputs, wanted) => {
        const { value, grads } = tenon.variableGrads(() => {
          const hidden = inputs.matmul(weights[0]).add(biases[0]).relu();
          return tenon.sparse_softmax_cross_entropy(hidden.matmul(weights[1]).add(biases[1]), wanted).loss.mean();
        }, variables);
        for (const variable of variables) variable.assign(tenon.sgd(variable, grads[variable.name], 0.01));
        return value;
      });
      return scoped(() => step(x, classes));
    },
    async model({ files, shape }) {
      const classify = (await tenon.openProgram(files)).function('classify');
      const images = tensor(shape, 7);
      return scoped(() => classify.call([images]));
    },
  };
});
