// The section Classify: a drawing, and the probability of each class.

import { $, guarded, show } from './elements.js';
import { CLASSES, mostProbable, showClasses } from './classes.js';

const SIDE = 280;

export class ClassifySection {
  constructor(trainer) {
    this.trainer = trainer;
    this.pen = $('drawing').getContext('2d', { willReadFrequently: true });
    this.last = null;
    this.isAsking = false;
    this.label = null;
    $('drawing').addEventListener('pointerdown', (event) => this.begin(event));
    $('drawing').addEventListener('pointermove', (event) => this.move(event));
    for (const name of ['pointerup', 'pointercancel']) {
      $('drawing').addEventListener(name, () => { this.last = null; });
    }
    $('clear').addEventListener('click', () => this.clear());
    $('sample').addEventListener('click', () => guarded($('answer'), () => this.sample()));
    this.clear();
  }

  enable() {
    $('sample').disabled = false;
  }

  clear() {
    this.pen.fillStyle = '#000';
    this.pen.fillRect(0, 0, SIDE, SIDE);
    this.hasDrawing = false;
    this.label = null;
    show($('answer'), '');
    showClasses($('classes'), null);
  }

  positionOf(event) {
    const box = $('drawing').getBoundingClientRect();
    return [((event.clientX - box.left) / box.width) * SIDE, ((event.clientY - box.top) / box.height) * SIDE];
  }

  begin(event) {
    $('drawing').setPointerCapture(event.pointerId);
    this.last = this.positionOf(event);
    this.label = null;
  }

  move(event) {
    if (this.last === null) return;
    const next = this.positionOf(event);
    Object.assign(this.pen, { strokeStyle: '#fff', lineWidth: 22, lineCap: 'round' });
    this.pen.beginPath();
    this.pen.moveTo(...this.last);
    this.pen.lineTo(...next);
    this.pen.stroke();
    this.last = next;
    this.hasDrawing = true;
    this.update();
  }

  async sample() {
    const { pixels, label } = await this.trainer.sample();
    drawImage(this.pen, pixels, SIDE);
    this.hasDrawing = true;
    this.label = label;
    await this.update();
  }

  /** Returns the drawing as 784 numbers from 0 to 1: the mean of each square of 10 by 10 pixels. */
  pixels() {
    const { data } = this.pen.getImageData(0, 0, SIDE, SIDE);
    const pixels = new Float32Array(784);
    for (let y = 0; y < SIDE; ++y) {
      for (let x = 0; x < SIDE; ++x) pixels[Math.floor(y / 10) * 28 + Math.floor(x / 10)] += data[4 * (SIDE * y + x)] / 25500;
    }
    return pixels;
  }

  /** Classifies the drawing again, unless an answer is on its way. */
  async update() {
    if (this.isAsking || !this.hasDrawing) return;
    this.isAsking = true;
    await guarded($('answer'), async () => {
      const values = await this.trainer.classify(this.pixels());
      this.isAsking = false;
      if (this.hasDrawing) this.answer(values);
    });
    this.isAsking = false;
  }

  answer(values) {
    const truth = this.label === null ? '' : `The test image shows: ${CLASSES[this.label]}. `;
    showClasses($('classes'), values);
    if (values === null) return show($('answer'), `${truth}Train the network first.`);
    const { name, probability } = mostProbable(values);
    return show($('answer'), `${truth}The network’s answer: ${name}, ${Math.round(100 * probability)} %.`);
  }
}

/** Draws 784 bytes as an image of 28 by 28 pixels. */
export function drawImage(context, pixels, side) {
  const size = side / 28;
  for (let i = 0; i < 784; ++i) {
    context.fillStyle = `rgb(${pixels[i]} ${pixels[i]} ${pixels[i]})`;
    context.fillRect((i % 28) * size, Math.floor(i / 28) * size, size, size);
  }
}
