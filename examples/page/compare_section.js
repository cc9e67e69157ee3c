// The section Compare: measures libraries in turns, each in a worker of its own.

import { $, element, guarded, show, showBars } from './elements.js';

const ROUNDS = 5; // After a first round that is not measured, because browsers optimise WebAssembly while it runs.
const NAMES = { tenon: 'Tenon', tfjs: 'TensorFlow.js', jax: 'jax-js', onnxruntime: 'onnxruntime-web' };
const CASES = {
  adds: '1000 eager additions of one element',
  matmul: 'Matrix product, 512 × 512',
  train: 'Training step of a dense network, batch of 64',
  model: 'Convolutional network saved as ONNX, 16 images',
};

/** A library in a worker. Answers one request at a time. */
class Library {
  constructor(name) {
    this.name = name;
    this.worker = new Worker(new URL(`./compare/${name}.js`, import.meta.url), { type: 'module' });
  }

  ask(request) {
    return new Promise((resolve, reject) => {
      this.worker.onmessage = ({ data }) => (data.error ? reject(new Error(`${NAMES[this.name]}: ${data.error}`)) : resolve(data));
      this.worker.onerror = ({ message }) => reject(new Error(`${NAMES[this.name]} cannot be loaded: ${message}`));
      this.worker.postMessage(request);
    });
  }

  close() {
    this.worker.terminate();
  }
}

export class CompareSection {
  /** `trainer` provides the model of the case `model`. */
  constructor(trainer) {
    this.trainer = trainer;
    $('measure').addEventListener('click', () => guarded($('compare-status'), () => this.measure()));
  }

  /** Reads which libraries the server has. */
  async enable() {
    const response = await fetch('peers/peers.json');
    this.versions = response.ok ? await response.json() : {};
    $('compare-absent').hidden = Object.keys(this.versions).length > 0;
    $('measure').disabled = false;
  }

  async measure() {
    $('measure').disabled = true;
    const libraries = ['tenon', ...Object.keys(this.versions)].map((name) => new Library(name));
    try {
      show($('compare-status'), 'Loading the libraries.');
      const model = await this.trainer.exampleModel();
      const loaded = [];
      for (const library of libraries) loaded.push([library, (await library.ask({})).names]);
      const times = Object.fromEntries(Object.keys(CASES).map((name) => [name, {}]));
      for (let round = 0; round <= ROUNDS; ++round) {
        show($('compare-status'), round === 0 ? 'Warming up.' : `Measuring: round ${round} of ${ROUNDS}.`);
        for (const name of Object.keys(CASES)) {
          for (const [library, names] of loaded) {
            if (!names.includes(name)) continue;
            const { milliseconds } = await library.ask({ name, model: name === 'model' ? model : undefined });
            if (round > 0) times[name][library.name] = Math.min(times[name][library.name] ?? Infinity, milliseconds);
          }
        }
        if (round > 0) this.showTimes(times);
      }
      show($('compare-status'), 'Finished. Other tabs and programs on this machine influence the times.');
    } finally {
      for (const library of libraries) library.close();
      $('measure').disabled = false;
    }
  }

  showTimes(times) {
    $('compare-results').replaceChildren(...Object.entries(CASES).map(([name, title]) => {
      const found = Object.entries(times[name]);
      const most = Math.max(...found.map(([, time]) => time));
      const list = element('ol', { className: 'bars', ariaLabel: `Times in milliseconds: ${title}` });
      showBars(list, found.map(([library, time]) =>
        [this.titleOf(library), time / most, time.toPrecision(3), library === 'tenon' ? '' : 'other']));
      return element('div', {}, element('h3', { textContent: title }), list);
    }));
  }

  titleOf(library) {
    return this.versions[library] ? `${NAMES[library]} ${this.versions[library]}` : NAMES[library];
  }
}
