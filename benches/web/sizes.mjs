// The sizes and numbers that all peers compute with.

export const SIDE = 512; // Of the large matrix product.
export const CHAIN = 20; // Additions of the gradient chain.
export const NODES = 100; // Products in the graph of traced_node, each of two 4 by 4 matrices.
export const BATCH = 64; // Of the training step,
export const LAYERS = [784, 128, 10]; // and its layers.
export const HIDDEN = 64; // Of the LSTM step that is built of ops, with batch 1.
export const SEQUENCE = 32; // Steps of the LSTM op,
export const WIDE = 128; // and its size.

/** Reproducible numbers of [-0.1, 0.1). */
export function noise(size, seed) {
  const values = new Float32Array(size);
  let state = seed * 2654435761 >>> 0;
  for (let i = 0; i < size; ++i) {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    values[i] = (state / 2 ** 32 - 0.5) / 5;
  }
  return values;
}

/** Class labels of a batch. */
export function labels() {
  return Int32Array.from({ length: BATCH }, (_, i) => (i * 7) % LAYERS[2]);
}
