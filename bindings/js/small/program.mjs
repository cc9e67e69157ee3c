// Calls what the small build must contain: trains the networks of the example page, and uses
// tensors, tapes and functions with the ops of ops.txt. The build leaves out all functions that this
// program does not call (tools/js/leave_out.mjs).

import * as tenon from './tenon/src/index.js';
import { Network } from './network.js';

/** Makes a call that fails, at least in the small build, so that the build contains the error's code. */
function fail(call) {
  try {
    call();
  } catch (error) {
    String(error);
  }
}

function batch(count) {
  const bytes = Uint8Array.from({ length: count * 784 }, (_, i) => (i * 7919) % 256);
  return {
    x: tenon.tensor(bytes, { shape: [count, 1, 28, 28] }).cast('float32').mul(1 / 255),
    y: tenon.tensor(Uint8Array.from({ length: count }, (_, i) => i % 10)).cast('int32'),
  };
}

/** Trains a network as trainer.js does, and classifies batches of several sizes. */
async function train(kind) {
  const network = new Network(kind);
  for (const count of [64, 32]) {
    for (let step = 1; step <= 5; ++step) {
      const loss = tenon.scope(() => {
        const { x, y } = batch(count);
        return network.train(x, y, step, 0.01);
      });
      await loss.item();
      loss.dispose();
    }
  }
  for (const count of [500, 1, 16, 500, 1, 500, 1]) {
    const share = tenon.scope(() => {
      const { x, y } = batch(count);
      const logits = network.classify(x);
      logits.softmax(1).dataSync();
      network.classify(tenon.tensor(new Uint8Array(count * 784), { shape: [count, 1, 28, 28] }));
      return logits.argmax(1).equal(y.cast('int64')).cast('float32').mean();
    });
    share.itemSync();
    share.dispose();
  }
  network.dispose();
}

/** The same layers, eagerly, with a tape and plain gradient descent. */
function trainEagerly() {
  tenon.scope(() => {
    const generator = new tenon.Generator(3);
    const weights = [[4, 1, 3, 3], [784, 10]].map((shape, i) =>
      new tenon.Variable(generator.normal(shape, { scale: 0.1 }), { name: `w${i}` }));
    const bias = new tenon.Variable(tenon.fill(0, { shape: [10] }), { name: 'bias' });
    generator.uniform([2, 2]);
    for (let step = 0; step < 3; ++step) {
      const { x, y } = batch(8);
      const { value, grads } = tenon.variableGrads(() => {
        const hidden = x.conv(weights[0].read(), { pads: [1, 1, 1, 1] }).relu();
        const logits = hidden.max_pool({ kernel_shape: [2, 2], strides: [2, 2] }).y.flatten(1).matmul(weights[1].read());
        return tenon.sparse_softmax_cross_entropy(logits.add(bias), y, { reduction: 'mean' }).loss;
      });
      value.itemSync();
      for (const variable of [...weights, bias]) variable.assign(tenon.sgd(variable, grads[variable.name], 0.1));
    }
    const tape = tenon.tape();
    const loss = tape.run(() => weights[1].read().square().sum());
    tape.gradient(loss, weights[1]).dataSync();
  });
}

/** Elementwise ops, reductions and movements of elements, in eager calls and in functions. */
function compute() {
  const f = (x, y, row) => {
    let z = x.add(y).sub(row).mul(0.5).div(y.abs().add(1));
    z = z.add(x.exp().log().sqrt().tanh()).add(y.sigmoid().neg()).add(x.square());
    z = tenon.where(x.greater(y), z, x.maximum(y).minimum(2)).clip(-3, 3);
    z = z.add(x.less(0.5).logical_and(y.not_equal(0).logical_not()).cast('float32'));
    z = z.sub(z.max([1], { keepdims: true })).sub(z.mean([0])).sub(z.sum([1], { keepdims: true }));
    z = tenon.concat([z, z.transpose([0, 1])], { axis: 1 }).slice({ starts: [0, 1], ends: [2, 5] }).reshape([-1]);
    return z.log_softmax(0).sum().add(tenon.stop_gradient(z).min()).add(x.greater_equal(y).cast('float32').less_equal(1).cast('float32').sum());
  };
  const inputs = () => [tenon.tensor([[0.2, 1, 2], [3, 4, 0.5]]), tenon.tensor([[1, 0.5, 0], [2, 5, 1]]), tenon.tensor([1, 2, 3])];
  const traced = tenon.function(f);
  const gradients = tenon.function((x, y, row) => tenon.grad((v) => f(v, y, row))(x));
  tenon.scope(() => {
    for (let i = 0; i < 4; ++i) {
      for (const g of [f, traced, gradients, (x, y, row) => tenon.grad((v) => f(v, y, row))(x)]) g(...inputs()).dataSync();
    }
    const [x] = inputs();
    for (const z of [x.transpose([1, 0]), x.transpose([1, 0]).cast('int32'), x.expand_dims([0]).squeeze([0]), x.broadcast_to([2, 2, 3]),
      x.at(0), x.at(null, 1), x.cast('int64'), x.cast('uint8').cast('float32'), x.greater(1), x.identity(), x.copy()]) {
      z.arraySync();
      String(z);
    }
    String(x.transpose([1, 0]).add(1));
    tenon.tensor([1, 2, 3], { dtype: 'int32' }).add(1).mul(2).sub(3).sum().itemSync();
    tenon.tensor([true, false]).arraySync();
    x.matmul(x.transpose([1, 0])).matmul(tenon.tensor([[1, 2], [3, 4]])).dataSync();
    fail(() => x.matmul(x));
    fail(() => x.add(tenon.tensor([1, 2])));
    fail(() => x.reshape([5]));
    fail(() => x.softmax(7));
    fail(() => x.sort());
    fail(() => traced(x, x));
  });
  traced.dispose();
  gradients.dispose();
}

await tenon.init();
await train('dense');
await train('conv');
trainEagerly();
compute();
tenon.memory();
tenon.environment();
