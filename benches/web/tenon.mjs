// Tenon's cases. Also saves the ONNX models for the cases of onnxruntime-web.

import { BATCH, CHAIN, HIDDEN, LAYERS, NODES, SEQUENCE, SIDE, WIDE, labels, noise } from './sizes.mjs';

export async function open({ tenon: address }) {
  const tenon = await import(`${address}/src/index.js`);
  await tenon.init({ threads: 1 });
  const tensor = (shape, seed) => tenon.keep(tenon.tensor(noise(shape.reduce((a, b) => a * b, 1), seed), { shape }));
  const scoped = (body) => () => {
    tenon.scope(() => void body());
  };

  const one = tensor([1], 1);
  const a = tensor([SIDE, SIDE], 2), b = tensor([SIDE, SIDE], 3);
  const chain = tenon.grad((x) => {
    let y = x;
    for (let i = 0; i < CHAIN; ++i) y = y.add(x);
    return y.sum();
  });

  const x = tensor([BATCH, LAYERS[0]], 4), classes = tenon.keep(tenon.tensor(labels()));
  const weights = [], biases = [];
  for (let i = 0; i + 1 < LAYERS.length; ++i) {
    weights.push(new tenon.Variable(tensor(LAYERS.slice(i, i + 2), 5 + i), { name: `w${i}` }));
    biases.push(new tenon.Variable(new Float32Array(LAYERS[i + 1]), { name: `b${i}` }));
  }
  const variables = [...weights, ...biases];
  const train = tenon.function((inputs, wanted) => {
    const { value, grads } = tenon.variableGrads(() => {
      let h = inputs;
      weights.forEach((w, i) => {
        h = h.matmul(w).add(biases[i]);
        if (i + 1 < weights.length) h = h.relu();
      });
      return tenon.sparse_softmax_cross_entropy(h, wanted).loss.mean();
    }, variables);
    for (const variable of variables) variable.assign(tenon.sgd(variable, grads[variable.name], 0.01));
    return value;
  });

  const step = tenon.function((input, h, c, w, bias) => {
    const gates = tenon.concat([input, h], 1).matmul(w).add(bias);
    const [i, f, g, o] = [0, 1, 2, 3].map((k) => gates.at(null, [k * HIDDEN, (k + 1) * HIDDEN]));
    const cell = f.sigmoid().mul(c).add(i.sigmoid().mul(g.tanh()));
    return [o.sigmoid().mul(cell.tanh()), cell];
  });
  const stepInputs = [tensor([1, HIDDEN], 10), tensor([1, HIDDEN], 11), tensor([1, HIDDEN], 12),
    tensor([2 * HIDDEN, 4 * HIDDEN], 13), tensor([4 * HIDDEN], 14)];

  const sequence = [tensor([SEQUENCE, 1, WIDE], 15), tensor([1, 4 * WIDE, WIDE], 16), tensor([1, 4 * WIDE, WIDE], 17)];
  const lstm = tenon.function((...inputs) => Object.values(tenon.lstm(...inputs))[0]);
  const small = [tensor([4, 4], 18), tensor([4, 4], 19)];
  const nodes = tenon.function((y, w) => {
    for (let i = 0; i < NODES; ++i) y = y.matmul(w);
    return y;
  });
  const product = tenon.function((l, r) => l.matmul(r));
  const model = async (f, inputs) => {
    const trace = f.trace(...inputs.map((t, i) => new tenon.TensorSpec(t.shape, 'float32', { name: `x${i}` })));
    const file = Object.entries(await tenon.saveProgram({ f: trace })).find(([name]) => name.endsWith('.onnx'));
    return { bytes: file[1], inputs: inputs.map((t) => ({ data: t.dataSync(), shape: t.shape })) };
  };
  return [{
    peer: 'tenon',
    models: {
      matmul_512: await model(product, [a, b]),
      lstm_op: await model(lstm, sequence),
      lstm_step: await model(step, stepInputs),
      traced_node: await model(nodes, small),
    },
    cases: {
      eager_add_1: { count: 1000, run() { for (let i = 0; i < 1000; ++i) one.add(one).dispose(); } },
      grad_chain: { count: CHAIN, run: scoped(() => chain(one)) },
      matmul_512: { count: 1, run() { a.matmul(b).dispose(); } },
      matmul_512_transposed: { count: 1, run() { tenon.matmul(a, b, { transpose_b: true }).dispose(); } },
      mlp_train: { count: 1, run: scoped(() => train(x, classes)) },
      lstm_step: { count: 10, run: scoped(() => { for (let i = 0; i < 10; ++i) step(...stepInputs); }) },
      lstm_op: { count: 1, run: scoped(() => lstm(...sequence)) },
      traced_node: { count: NODES, run: scoped(() => nodes(...small)) },
    },
  }];
}
