// The page: its form, its charts and the drawing. worker.js does the work.

import { Chart } from './chart.js';

const CLASSES = ['T-shirt', 'trousers', 'pullover', 'dress', 'coat', 'sandal', 'shirt', 'sneaker', 'bag', 'ankle boot'];

const $ = (id) => document.getElementById(id);
const worker = new Worker(new URL('./worker.js', import.meta.url), { type: 'module' });
const send = (message) => worker.postMessage(message);
const lossChart = new Chart($('loss-chart'), { format: (value) => value.toFixed(2), colour: '--accent' });
const accuracyChart = new Chart($('accuracy-chart'), { max: 1, format: (value) => `${Math.round(100 * value)} %`, colour: '--second' });

// ---- training

function setRunning(isRunning) {
  $('start').disabled = isRunning;
  $('stop').disabled = !isRunning;
  $('status').textContent = isRunning ? 'Training.' : 'Stopped.';
}

$('form').addEventListener('submit', (event) => {
  event.preventDefault();
  lossChart.clear();
  accuracyChart.clear();
  setRunning(true);
  send({ type: 'train', network: $('network').value, rate: Number($('rate').value) });
});
$('stop').addEventListener('click', () => {
  setRunning(false);
  send({ type: 'stop' });
});

const handlers = {
  ready({ environment, device }) {
    $('environment').textContent = `Variant ${environment.variant}, device ${device}, ` +
        `${environment.threads} thread${environment.threads === 1 ? '' : 's'}: ${environment.reason}.`;
    $('start').disabled = false;
    $('sample').disabled = false;
  },
  progress({ step, loss, accuracy, imagesPerSecond, memory }) {
    $('step').textContent = step;
    $('loss').textContent = loss.toFixed(4);
    $('speed').textContent = Math.round(imagesPerSecond);
    $('memory').textContent = `${Math.round(memory / 2 ** 20)} MB`;
    lossChart.add(step, loss);
    if (accuracy === null) return;
    $('accuracy').textContent = `${(100 * accuracy).toFixed(1)} %`;
    accuracyChart.add(step, accuracy);
    if (hasDrawing) askForClass();
  },
  probabilities: ({ values }) => showClasses(values),
  sample({ pixels, label }) {
    showPixels(pixels);
    $('answer').textContent = `The test image shows: ${CLASSES[label]}.`;
    askForClass();
  },
  error({ message }) {
    setRunning(false);
    $('status').textContent = `Failed: ${message}`;
  },
};
worker.onmessage = ({ data }) => handlers[data.type](data);
worker.onerror = (event) => handlers.error({ message: event.message || 'the worker did not start' });

// ---- drawing

const drawing = $('drawing');
const pen = drawing.getContext('2d', { willReadFrequently: true });
let hasDrawing = false;
let last = null;

function clear() {
  pen.fillStyle = '#000';
  pen.fillRect(0, 0, 280, 280);
  hasDrawing = false;
  $('answer').textContent = '';
  showClasses(null);
}

function positionOf(event) {
  const box = drawing.getBoundingClientRect();
  return [((event.clientX - box.left) / box.width) * 280, ((event.clientY - box.top) / box.height) * 280];
}

drawing.addEventListener('pointerdown', (event) => {
  drawing.setPointerCapture(event.pointerId);
  last = positionOf(event);
  $('answer').textContent = '';
});
drawing.addEventListener('pointermove', (event) => {
  if (last === null) return;
  const next = positionOf(event);
  pen.strokeStyle = '#fff';
  pen.lineWidth = 22;
  pen.lineCap = 'round';
  pen.beginPath();
  pen.moveTo(...last);
  pen.lineTo(...next);
  pen.stroke();
  last = next;
  hasDrawing = true;
  askForClass();
});
for (const name of ['pointerup', 'pointercancel']) drawing.addEventListener(name, () => { last = null; });
$('clear').addEventListener('click', clear);
$('sample').addEventListener('click', () => send({ type: 'sample' }));

/** The drawing as 784 numbers from 0 to 1: the mean of each square of 10 by 10 pixels. */
function readPixels() {
  const { data } = pen.getImageData(0, 0, 280, 280);
  const pixels = new Float32Array(784);
  for (let y = 0; y < 280; ++y) {
    for (let x = 0; x < 280; ++x) pixels[Math.floor(y / 10) * 28 + Math.floor(x / 10)] += data[4 * (280 * y + x)] / 25500;
  }
  return pixels;
}

function showPixels(pixels) {
  for (let i = 0; i < 784; ++i) {
    pen.fillStyle = `rgb(${pixels[i]} ${pixels[i]} ${pixels[i]})`;
    pen.fillRect((i % 28) * 10, Math.floor(i / 28) * 10, 10, 10);
  }
  hasDrawing = true;
}

let isAsking = false;

function askForClass() {
  if (isAsking) return;
  isAsking = true;
  requestAnimationFrame(() => {
    isAsking = false;
    send({ type: 'classify', pixels: readPixels() });
  });
}

for (const name of CLASSES) {
  const item = document.createElement('li');
  item.innerHTML = '<span></span><span class="bar"></span><span class="number"></span>';
  item.firstChild.textContent = name;
  $('classes').append(item);
}

function showClasses(values) {
  [...$('classes').children].forEach((item, i) => {
    item.children[1].style.width = values ? `${100 * values[i]}%` : '0';
    item.children[2].textContent = values ? `${Math.round(100 * values[i])} %` : '';
  });
}

clear();
