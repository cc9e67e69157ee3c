// The module that worker.test.js loads in a worker.

import * as tenon from 'tenon-runtime';

export function program() {
  const w = new tenon.Variable([1, 2], { name: 'w' });
  const score = tenon.function((x) => x.mul(w).sum([1]));
  return tenon.saveProgram({ score: score.trace(new tenon.TensorSpec([null, 2])) });
}

export async function train(steps, report) {
  const w = new tenon.Variable([2]);
  let last;
  for (let step = 1; step <= steps; ++step) {
    const { value, grads } = tenon.variableGrads(() => w.read().square().sum(), [w]);
    w.assign(tenon.sgd(w, Object.values(grads)[0], 0.1));
    last = await value.item();
    report(step, last);
  }
  return last;
}

export function visit(receive) {
  receive(tenon.tensor([1, 2]));
}
