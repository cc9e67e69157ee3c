// The networks of the page, trained with Adam by a traced function.

import * as tenon from './tenon/src/index.js';

// Each parameter: name, shape, and the number of inputs of each unit (0 for a bias).
const PARAMETERS = {
  dense: [['dense1.weight', [784, 64], 784], ['dense1.bias', [64], 0], ['dense2.weight', [64, 10], 64], ['dense2.bias', [10], 0]],
  conv: [
    ['conv1.weight', [16, 1, 3, 3], 9], ['conv1.bias', [16], 0], ['conv2.weight', [32, 16, 3, 3], 144], ['conv2.bias', [32], 0],
    ['dense1.weight', [1568, 128], 1568], ['dense1.bias', [128], 0], ['dense2.weight', [128, 10], 128], ['dense2.bias', [10], 0],
  ],
};

export class Network {
  constructor(kind, seed = 7) {
    this.kind = kind;
    this.parameters = {};
    this.moments = {};
    tenon.scope(() => {
      const generator = new tenon.Generator(seed);
      for (const [name, shape, inputs] of PARAMETERS[kind]) {
        const zeros = tenon.fill(0, { shape });
        const initial = inputs === 0 ? zeros : generator.normal(shape, { scale: Math.sqrt(2 / inputs) });
        this.parameters[name] = new tenon.Variable(initial, { name });
        this.moments[name] = [0, 1].map(() => new tenon.Variable(zeros, { trainable: false }));
      }
      generator.dispose();
    });
    this.step = tenon.function((x, y, step, rate) => this.trainStep(x, y, step, rate), { name: 'train_step' });
    this.classify = tenon.function((x) => this.logits(x), { name: 'classify' });
  }

  /**
   * Maps images, [n, 1, 28, 28], to a row of ten logits each. Pixels are floats from 0 to 1, or bytes.
   */
  logits(images) {
    const at = (name) => this.parameters[name];
    let x = images.dtype === 'uint8' ? images.cast('float32').mul(1 / 255) : images;
    if (this.kind === 'conv') {
      for (const layer of ['conv1', 'conv2']) {
        x = x.conv(at(`${layer}.weight`), at(`${layer}.bias`), { pads: [1, 1, 1, 1] }).relu();
        x = x.max_pool({ kernel_shape: [2, 2], strides: [2, 2] }).y;
      }
    }
    const hidden = x.flatten(1).matmul(at('dense1.weight')).add(at('dense1.bias')).relu();
    return hidden.matmul(at('dense2.weight')).add(at('dense2.bias'));
  }

  /** One step of Adam. Returns the loss before it. */
  trainStep(x, y, step, rate) {
    const { value, grads } = tenon.variableGrads(
        () => tenon.sparse_softmax_cross_entropy(this.logits(x), y, { reduction: 'mean' }).loss);
    for (const [name, gradient] of Object.entries(grads)) {
      const [first, second] = this.moments[name];
      const { new_p: next, new_m: m, new_v: v } = tenon.adam(this.parameters[name], gradient, first, second, step, rate);
      this.parameters[name].assign(next);
      first.assign(m);
      second.assign(v);
    }
    return value;
  }

  train(x, y, step, rate) {
    return this.step(x, y, tenon.scalar(step), tenon.scalar(rate));
  }

  /** Resolves to the files of a program with the function `classify`, for images of bytes and of floats. */
  async save() {
    const specs = ['uint8', 'float32'].map((dtype) => new tenon.TensorSpec(['n', 1, 28, 28], dtype, { name: 'images' }));
    const traces = specs.map((spec) => this.classify.trace(spec));
    const files = await tenon.saveProgram({ classify: traces });
    for (const trace of traces) trace.dispose();
    return files;
  }

  dispose() {
    this.step.dispose();
    this.classify.dispose();
    for (const variable of [...Object.values(this.parameters), ...Object.values(this.moments).flat()]) variable.dispose();
  }
}
