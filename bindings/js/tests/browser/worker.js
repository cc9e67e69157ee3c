// Trains a model in a web worker, and posts the losses.

import * as tenon from '../../src/index.js';

await tenon.init();
const w = new tenon.Variable([[0], [0]], { name: 'w' });
const step = tenon.function((x, y) => {
  const { value, grads } = tenon.variableGrads(() => x.matmul(w).sub(y).square().mean());
  w.assign(tenon.sgd(w, grads.w, 0.05));
  return value;
});
const x = tenon.tensor([[1, 2], [3, 4]]);
const y = tenon.tensor([[5], [11]]);
const losses = [];
for (let i = 0; i < 50; ++i) losses.push(await tenon.scope(() => step(x, y)).item());
postMessage({ losses });
