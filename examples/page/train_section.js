// The section Train: its form, its charts, and the files of the trained network.

import { storeFiles } from './tenon/src/storage.js';
import { Chart } from './chart.js';
import { $, element, formatBytes, guarded, show } from './elements.js';

const FOLDER = 'fashion_program';
export const STORED = `indexeddb://${FOLDER}`;
const RESULT_BUTTONS = ['open-trained', 'keep', 'download'];

export class TrainSection {
  constructor(trainer, { classify, model }) {
    this.trainer = trainer;
    this.classify = classify;
    this.model = model;
    this.lossChart = new Chart($('loss-chart'), { format: (value) => value.toFixed(2), colour: '--accent' });
    this.accuracyChart = new Chart($('accuracy-chart'), { max: 1, format: (value) => `${Math.round(100 * value)} %`, colour: '--second' });
    $('train-form').addEventListener('submit', (event) => {
      event.preventDefault();
      guarded($('train-status'), () => this.train());
    });
    $('stop').addEventListener('click', () => trainer.stop());
    $('open-trained').addEventListener('click', () => this.open());
    $('keep').addEventListener('click', () => guarded($('train-status'), () => this.keep()));
    $('download').addEventListener('click', () => guarded($('train-status'), () => this.download()));
  }

  enable() {
    this.setRunning(false);
  }

  setRunning(isRunning) {
    $('start').disabled = isRunning;
    $('stop').disabled = !isRunning;
  }

  async train() {
    this.lossChart.clear();
    this.accuracyChart.clear();
    this.setRunning(true);
    show($('train-status'), 'Loading the training images.');
    try {
      await this.trainer.train({ kind: $('network').value, rate: Number($('rate').value) }, (report) => this.report(report));
      show($('train-status'), `Stopped after ${$('step').textContent} steps. ` +
          `Accuracy on test images: ${$('accuracy').textContent}.`);
    } finally {
      this.setRunning(false);
    }
  }

  report({ step, loss, accuracy, imagesPerSecond, memory }) {
    if (step === 1) {
      show($('train-status'), 'Training.');
      for (const id of RESULT_BUTTONS) $(id).disabled = false;
    }
    $('step').textContent = step;
    $('loss').textContent = loss.toFixed(4);
    $('speed').textContent = Math.round(imagesPerSecond).toLocaleString('en');
    $('memory').textContent = formatBytes(memory);
    this.lossChart.add(step, loss);
    if (accuracy === null) return;
    $('accuracy').textContent = `${(100 * accuracy).toFixed(1)} %`;
    this.accuracyChart.add(step, accuracy);
    this.classify.update();
  }

  async open() {
    const files = await this.trainer.save();
    $('model').scrollIntoView();
    await this.model.open('the trained network', files);
  }

  async keep() {
    await storeFiles(STORED, await this.trainer.save());
    show($('train-status'), `Kept as ${STORED}; the section “Open a model” lists it.`);
    await this.model.showStored();
  }

  /** Saves the program to a folder of the visitor's choice, or offers a link for each of its files. */
  async download() {
    const files = await this.trainer.save();
    if (!globalThis.showDirectoryPicker) return this.offer(files);
    let parent;
    try {
      parent = await showDirectoryPicker({ mode: 'readwrite' });
    } catch (error) {
      if (error.name === 'AbortError') return this.offer(files);
      throw error;
    }
    const folder = await parent.getDirectoryHandle(FOLDER, { create: true });
    for (const [name, data] of Object.entries(files)) {
      const stream = await (await folder.getFileHandle(name, { create: true })).createWritable();
      await stream.write(data);
      await stream.close();
    }
    return show($('train-status'), `Saved as ${FOLDER}. Run it with: tenon run ${FOLDER} --input images=images.npy`);
  }

  offer(files) {
    const links = Object.entries(files).map(([name, data]) => element('li', {}, element('a', {
      href: URL.createObjectURL(new Blob([data])), download: name, textContent: name,
    }), ` ${formatBytes(data.length)}`));
    $('downloads').replaceChildren(
        element('p', {}, 'Save these files in one folder ', element('code', { textContent: FOLDER }), '; then ',
            element('code', { textContent: `tenon run ${FOLDER} --input images=images.npy` }), ' runs the network.'),
        element('ul', {}, ...links));
    show($('train-status'), `The ${links.length} files of the program are ready.`);
  }
}
