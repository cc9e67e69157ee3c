// Trains and classifies in a worker, so that the page stays responsive. Handles messages between
// training steps.

import * as tenon from './tenon/src/index.js';
import { Network } from './network.js';
import { loadImages, loadLabels } from './data.js';

const BATCH = 64;
const TEST_IMAGES = 500;
const EVALUATE_EVERY = 50;

let training = null;
let test = null;
let network = null;
let generation = 0;

/** Returns after all pending messages were handled. */
function yield_to_messages() {
  return new Promise((resolve) => {
    const { port1, port2 } = new MessageChannel();
    port1.onmessage = resolve;
    port2.postMessage(null);
  });
}

function batchOf({ images, labels }, from, count) {
  const x = tenon.tensor(images.slice(from * 784, (from + count) * 784), { shape: [count, 1, 28, 28] });
  return { x: x.cast('float32').mul(1 / 255), y: tenon.tensor(labels.slice(from, from + count)).cast('int32') };
}

/** The share of test images that the network classifies correctly. */
function evaluate() {
  return tenon.scope(() => {
    const { x, y } = batchOf(test, 0, TEST_IMAGES);
    return network.classify(x).argmax(1).equal(y.cast('int64')).cast('float32').mean();
  });
}

async function train({ network: kind, rate }) {
  const mine = ++generation;
  training ??= { images: await loadImages('data/train-images-idx3-ubyte.gz'), labels: await loadLabels('data/train-labels-idx1-ubyte.gz') };
  network?.dispose();
  network = new Network(kind);
  const batches = Math.floor(training.labels.length / BATCH);
  let seconds = 0;
  for (let step = 1; mine === generation; ++step) {
    const start = performance.now();
    const loss = tenon.scope(() => {
      const { x, y } = batchOf(training, ((step - 1) % batches) * BATCH, BATCH);
      return network.train(x, y, step, rate);
    });
    const value = await loss.item();
    loss.dispose();
    seconds += (performance.now() - start) / 1000;
    const accuracy = step === 1 || step % EVALUATE_EVERY === 0 ? evaluate() : null;
    postMessage({
      type: 'progress', step, loss: value, accuracy: accuracy && accuracy.itemSync(),
      imagesPerSecond: (step * BATCH) / seconds, memory: tenon.memory().wasmBytes,
    });
    accuracy?.dispose();
    await yield_to_messages();
  }
}

function classify({ pixels }) {
  if (network === null) return;
  const probabilities = tenon.scope(
      () => network.classify(tenon.tensor(pixels, { shape: [1, 1, 28, 28] })).softmax(1));
  postMessage({ type: 'probabilities', values: [...probabilities.dataSync()] });
  probabilities.dispose();
}

function sample() {
  const at = Math.floor(Math.random() * test.labels.length);
  postMessage({ type: 'sample', pixels: test.images.slice(at * 784, (at + 1) * 784), label: test.labels[at] });
}

const handlers = { train, classify, sample, stop: () => { ++generation; } };

/** Runs `body` and sends its error, if any, to the page. */
async function guarded(body) {
  try {
    await body();
  } catch (error) {
    postMessage({ type: 'error', message: error.message });
  }
}

self.onmessage = ({ data }) => guarded(() => handlers[data.type](data));
guarded(async () => {
  await tenon.init();
  test = { images: await loadImages('data/t10k-images-idx3-ubyte.gz'), labels: await loadLabels('data/t10k-labels-idx1-ubyte.gz') };
  postMessage({ type: 'ready', environment: tenon.environment(), device: tenon.currentDevice() });
});
