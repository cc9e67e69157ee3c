// The section Open a model: opens files, describes the model and runs it.

import { listStored, readStored, removeStored } from './tenon/src/storage.js';
import { $, element, formatBytes, formatTime, guarded, show, showBars, showNumbers } from './elements.js';
import { mostProbable } from './classes.js';
import { drawImage } from './classify_section.js';
import { filesOfDrop, toSource } from './dropped.js';

export class ModelSection {
  constructor(models, trainer) {
    this.models = models;
    this.trainer = trainer;
    this.signatures = [];
    const drop = $('drop');
    drop.addEventListener('dragover', (event) => {
      event.preventDefault();
      drop.classList.add('over');
    });
    drop.addEventListener('dragleave', () => drop.classList.remove('over'));
    drop.addEventListener('drop', (event) => {
      event.preventDefault();
      drop.classList.remove('over');
      this.openFiles(filesOfDrop(event.dataTransfer));
    });
    for (const id of ['files', 'folder']) {
      $(id).addEventListener('change', ({ target }) => {
        this.openFiles([...target.files]);
        target.value = '';
      });
    }
    $('signature').addEventListener('change', () => this.showSignature());
    $('run-form').addEventListener('submit', (event) => {
      event.preventDefault();
      guarded($('run-status'), () => this.run());
    });
  }

  async openFiles(files) {
    await guarded($('model-status'), async () => {
      const { name, source } = toSource(await files);
      await this.open(name, source);
    });
  }

  async open(name, source) {
    await guarded($('model-status'), async () => {
      show($('model-status'), `Opening ${name}.`);
      $('opened').hidden = true;
      const start = performance.now();
      const { signatures, tensors, bytes } = await this.models.open(source);
      this.signatures = signatures;
      show($('model-status'), `Opened ${name} in ${formatTime(performance.now() - start)}.`);
      $('model-name').textContent = name;
      const functions = new Set(signatures.map((signature) => signature.name)).size;
      showNumbers($('model-numbers'), [['Functions', functions], ['Signatures', signatures.length],
        ['Stored tensors', tensors], ['Weights', formatBytes(bytes)]]);
      $('signature').replaceChildren(...signatures.map((signature, i) => element('option', {
        value: i, textContent: `${signature.name}(${signature.inputs.map(({ type }) => type).join(', ')})`,
      })));
      this.showSignature();
      $('opened').hidden = false;
    });
  }

  showSignature() {
    const { inputs, outputs, ops, image, sizes } = this.signatures[$('signature').value];
    const row = (kind) => ({ name, type }) => element('tr', {},
        element('td', {}, `${name} `, element('small', { textContent: kind })), element('td', {}, element('code', { textContent: type })));
    $('types').replaceChildren(...inputs.map(row('input')), ...outputs.map(row('output')));
    const sorted = Object.entries(ops).sort((one, other) => other[1] - one[1]);
    showBars($('ops'), sorted.map(([name, count]) => [name, count / sorted[0][1], String(count)]));
    $('source').querySelector('[value=unit]').disabled = image === null || image === 'uint8';
    $('source').querySelector('[value=bytes]').disabled = image === null;
    $('source').value = image === null ? 'random' : image === 'uint8' ? 'bytes' : 'unit';
    $('sizes').replaceChildren(...sizes.map((name) => element('label', {}, name === '?' ? 'Other sizes' : `Size ${name}`,
        element('input', { type: 'number', name, value: 1, min: 1, max: 1e6, required: true }))));
    $('graph').replaceChildren(element('li', { className: 'hint', textContent: 'The graph appears after the first run.' }));
    show($('run-status'), '');
    $('results').replaceChildren();
  }

  /** Returns the dynamic sizes that the form has, by name. */
  sizes() {
    return Object.fromEntries([...$('sizes').querySelectorAll('input')].map(({ name, value }) => [name, Number(value)]));
  }

  async run() {
    const { name, index, statics } = this.signatures[$('signature').value];
    const source = $('source').value;
    const image = source === 'random' ? null : await this.trainer.sample();
    show($('run-status'), 'Running.');
    $('run').disabled = true;
    try {
      const { first, mean, runs, outputs, graph } = await this.models.run({
        name, index, statics, sizes: this.sizes(), pixels: image?.pixels ?? null,
        scale: source === 'unit' ? 1 / 255 : 1,
      });
      show($('run-status'), `First run: ${formatTime(first)}. Then ${formatTime(mean)} on average of ${runs} runs.`);
      $('results').replaceChildren(...(image ? [pictureOf(image)] : []), ...outputs.map((output) => resultOf(output, image !== null)));
      $('graph').replaceChildren(...graph.map((line) => element('li', {}, element('code', { textContent: line }))));
    } finally {
      $('run').disabled = false;
    }
  }

  /** Lists the models that the browser stores. */
  async showStored() {
    const entries = await listStored();
    if (entries.length === 0) return $('stored').replaceChildren();
    const items = entries.map(({ address, bytes }) => element('li', {}, element('code', { textContent: address }),
        ` ${formatBytes(bytes)} `,
        button('Open', `Open ${address}`, async () => this.open(address, await readStored(address))),
        button('Delete', `Delete ${address}`, async () => {
          await removeStored(address);
          await this.showStored();
        })));
    return $('stored').replaceChildren(element('h3', { textContent: 'Kept in this browser' }), element('ul', {}, ...items));
  }
}

function button(text, label, action) {
  const created = element('button', { type: 'button', textContent: text, ariaLabel: label });
  created.addEventListener('click', () => guarded($('model-status'), action));
  return created;
}

function pictureOf({ pixels }) {
  const canvas = element('canvas', { width: 112, height: 112, role: 'img', ariaLabel: 'The test image that was the input' });
  drawImage(canvas.getContext('2d'), pixels, 112);
  return element('figure', {}, canvas, element('figcaption', { textContent: 'input' }));
}

function resultOf({ name, dtype, shape, text, probabilities }, isOfImage) {
  const lines = [element('figcaption', {}, `${name}: `, element('code', { textContent: `${dtype}[${shape}]` })),
    element('pre', { textContent: text, tabIndex: 0 })];
  if (probabilities && isOfImage) {
    const best = mostProbable(probabilities);
    lines.push(element('p', { textContent: `As logits of Fashion-MNIST: ${best.name}, ${Math.round(100 * best.probability)} %.` }));
  }
  return element('figure', {}, ...lines);
}
