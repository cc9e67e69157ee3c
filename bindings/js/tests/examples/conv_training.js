// Trains a small convolutional network on Fashion-MNIST, eagerly and as a traced function. Then
// saves the network, loads it and checks it. examples/c/conv_training.c is the same program, with
// the same output.
//
//   node conv_training.js DATA [DEVICE]

import { readFileSync } from 'node:fs';
import { pathToFileURL } from 'node:url';
import { gunzipSync } from 'node:zlib';
import * as tenon from 'tenon-runtime';

const BATCH = 64;
const STEPS = 20;
const SIDE = 28;

/** The network: two convolutions and a dense layer. */
class Network {
  constructor({ conv1, conv2, dense }) {
    this.conv1 = new tenon.Variable(conv1, { name: 'conv1' });
    this.conv2 = new tenon.Variable(conv2, { name: 'conv2' });
    this.dense = new tenon.Variable(dense, { name: 'dense' });
  }

  static random() {
    const generator = new tenon.Generator(7);
    return new Network({
      conv1: generator.normal([8, 1, 3, 3], { scale: 0.3 }),
      conv2: generator.normal([16, 8, 3, 3], { scale: 0.15 }),
      dense: generator.normal([784, 10], { scale: 0.05 }),
    });
  }

  get weights() {
    return [this.conv1, this.conv2, this.dense];
  }

  /** Maps float32 [n, 1, 28, 28] to a row of ten logits for each image. */
  logits(images) {
    let x = images;
    for (const weight of [this.conv1, this.conv2]) {
      const active = x.conv(weight, { pads: [1, 1, 1, 1] }).relu();
      x = active.max_pool({ kernel_shape: [2, 2], strides: [2, 2] }).y;
    }
    return x.flatten(1).matmul(this.dense);
  }
}

function lossOf(logits, labels) {
  return tenon.sparse_softmax_cross_entropy(logits, labels, { reduction: 'mean' }).loss;
}

/** Returns x. The backward pass clips the gradient with respect to x to [-0.01, 0.01]. */
const clipGradient = (x) => tenon.customGradient((v) => v.identity(), (upstream) => upstream.clip(-0.01, 0.01))(x);

/** The learning rate, which is halved after every ten steps. */
function rateAt(step) {
  const [rate] = tenon.whileLoop((r, n) => n.greater_equal(10), (r, n) => [r.mul(0.5), n.sub(10)], [tenon.scalar(0.1), step]);
  return rate;
}

/** Runs one training step, and returns the loss before the step. */
function train(net, images, labels, step) {
  const tape = tenon.tape();
  const loss = tape.run(() => lossOf(clipGradient(net.logits(images)), labels));
  const gradients = tape.gradient(loss, net.weights);
  tape.dispose();
  const rate = rateAt(step);
  net.weights.forEach((weight, i) => weight.assign(tenon.sgd(weight, gradients[i], rate)));
  return loss;
}

/** Returns the elements of a gzipped IDX file. `header` is the size of its header in bytes. */
function readIdx(path, header) {
  return new Uint8Array(gunzipSync(readFileSync(path))).subarray(header);
}

/** Trains `steps` steps eagerly and `steps` steps traced. Calls `print` with each line. */
export async function main(folder, print, steps = STEPS) {
  const images = readIdx(`${folder}/train-images-idx3-ubyte.gz`, 16);
  const labels = readIdx(`${folder}/train-labels-idx1-ubyte.gz`, 8);
  const size = BATCH * SIDE * SIDE;
  const batch = (step) => ({
    x: tenon.tensor(images.slice(step * size, (step + 1) * size), { shape: [BATCH, 1, SIDE, SIDE] }).cast('float32').mul(1 / 255),
    y: tenon.tensor(labels.slice(step * BATCH, (step + 1) * BATCH)).cast('int32'),
  });
  const show = async (what, loss) => print(`${what} ${(await loss.item()).toFixed(12)}`);

  const net = Network.random();
  const traced = tenon.function((x, y, step) => train(net, x, y, step));
  for (let step = 0; step < 2 * steps; ++step) {
    const loss = tenon.scope(() => {
      const { x, y } = batch(step);
      const number = tenon.tensor(step, { dtype: 'int64' });
      return step < steps ? train(net, x, y, number) : traced(x, y, number);
    });
    await show(step < steps ? 'eager' : 'traced', loss);
    loss.dispose();
  }

  const classify = tenon.function((x) => net.logits(x));
  const program = await tenon.saveProgram({
    classify: classify.trace(new tenon.TensorSpec([null, 1, SIDE, SIDE], 'float32', { name: 'images' })),
  });
  const weights = tenon.saveSafetensors(Object.fromEntries(net.weights.map((weight) => [weight.name, weight])));

  const { x, y } = batch(0);
  const opened = await tenon.openProgram(program);
  await show('program', lossOf(opened.function('classify').call([x])[0], y));
  await show('safetensors', lossOf(new Network(await tenon.loadSafetensors(weights)).logits(x), y));
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  await tenon.init({ device: process.argv[3] });
  await main(process.argv[2], console.log);
}
