// Sizes and numbers that all libraries use in their cases, here and in benches/web.

export const SIDE = 512; // Size of the square matrices of the matrix product.
export const BATCH = 64; // Batch size of the training step.
export const LAYERS = [784, 128, 10]; // Layer sizes of the training step.

/** Returns `size` reproducible numbers in [-0.1, 0.1). */
export function noise(size, seed) {
  const values = new Float32Array(size);
  let state = (seed * 2654435761) >>> 0;
  for (let i = 0; i < size; ++i) {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    values[i] = (state / 2 ** 32 - 0.5) / 5;
  }
  return values;
}

/** Returns a class label for each row of the batch. */
export function labels() {
  return Int32Array.from({ length: BATCH }, (_, i) => (i * 7) % LAYERS[2]);
}
