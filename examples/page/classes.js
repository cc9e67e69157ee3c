// The classes of Fashion-MNIST.

import { showBars } from './elements.js';

export const CLASSES = ['T-shirt', 'trousers', 'pullover', 'dress', 'coat', 'sandal', 'shirt', 'sneaker', 'bag', 'ankle boot'];

/** Shows the probability of each class; null for unknown. */
export function showClasses(list, values) {
  showBars(list, CLASSES.map((name, i) => [name, values?.[i] ?? 0, values ? `${Math.round(100 * values[i])} %` : '']));
}

/** Returns the most probable class and its probability. */
export function mostProbable(values) {
  const best = values.indexOf(Math.max(...values));
  return { name: CLASSES[best], probability: values[best] };
}
