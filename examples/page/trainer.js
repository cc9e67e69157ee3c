// Trains the network and classifies images. page.js loads this module in a worker.

import * as tenon from './tenon/src/index.js';
import { Network } from './network.js';
import { loadImages, loadLabels } from './data.js';

const BATCH = 64;
const TEST_IMAGES = 500;
const EVALUATE_EVERY = 50;

let training = null;
let test = null;
let network = null;
let isStopping = false;
let running = Promise.resolve();

/** Loads the images and labels of a data set, `train` or `t10k`. */
async function loadSet(name) {
  const addressOf = (kind) => new URL(`./data/${name}-${kind}-ubyte.gz`, import.meta.url);
  return { images: await loadImages(addressOf('images-idx3')), labels: await loadLabels(addressOf('labels-idx1')) };
}

/** Loads the test images. */
export async function load() {
  test = await loadSet('t10k');
}

/** Returns after all pending messages were handled. */
function handleMessages() {
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

/** Returns the share of test images that the network classifies correctly. */
function evaluate() {
  const share = tenon.scope(() => {
    const { x, y } = batchOf(test, 0, TEST_IMAGES);
    return network.classify(x).argmax(1).equal(y.cast('int64')).cast('float32').mean();
  });
  const value = share.itemSync();
  share.dispose();
  return value;
}

/** Trains a new network until stop(), or for `steps` steps. Calls `progress` after each step. */
export async function train({ kind, rate, steps = Infinity }, progress) {
  stop();
  await running;
  isStopping = false;
  running = run(kind, rate, steps, progress);
  await running;
}

async function run(kind, rate, steps, progress) {
  training ??= await loadSet('train');
  network?.dispose();
  network = new Network(kind);
  const batches = Math.floor(training.labels.length / BATCH);
  let seconds = 0;
  for (let step = 1; step <= steps && !isStopping; ++step) {
    const start = performance.now();
    const loss = tenon.scope(() => {
      const { x, y } = batchOf(training, ((step - 1) % batches) * BATCH, BATCH);
      return network.train(x, y, step, rate);
    });
    const value = await loss.item();
    loss.dispose();
    seconds += (performance.now() - start) / 1000;
    progress({
      step, loss: value, accuracy: step === 1 || step % EVALUATE_EVERY === 0 ? evaluate() : null,
      imagesPerSecond: (step * BATCH) / seconds, memory: tenon.memory().wasmBytes,
    });
    await handleMessages();
  }
}

export function stop() {
  isStopping = true;
}

/** Returns the probability of each class for 784 pixels from 0 to 1; null before training. */
export function classify(pixels) {
  if (network === null) return null;
  const probabilities = tenon.scope(
      () => network.classify(tenon.tensor(pixels, { shape: [1, 1, 28, 28] })).softmax(1));
  const values = [...probabilities.dataSync()];
  probabilities.dispose();
  return values;
}

/** Returns a random test image: { pixels, label }. */
export function sample() {
  const at = Math.floor(Math.random() * test.labels.length);
  return { pixels: test.images.slice(at * 784, (at + 1) * 784), label: test.labels[at] };
}

/** Resolves to the files of the trained network as a program. */
export function save() {
  return network.save();
}

/** Resolves to an untrained convolutional network as a program, and the shape of its input, for measurements. */
export async function exampleModel() {
  const example = new Network('conv');
  const files = await example.save();
  example.dispose();
  return { files, shape: [16, 1, 28, 28] };
}
