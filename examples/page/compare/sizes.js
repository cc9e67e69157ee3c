// The sizes and numbers that all libraries use in their cases, and the loop that measures them.

export const SIDE = 512; // Size of the square matrices of the matrix product.
export const BATCH = 64; // Batch size of the training step.
export const LAYERS = [784, 128, 10]; // Layer sizes of the training step.
const TURN = 150; // Length of a turn in milliseconds.

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

async function measure(run) {
  let best = Infinity;
  const end = performance.now() + TURN;
  do {
    const start = performance.now();
    await run();
    best = Math.min(best, performance.now() - start);
  } while (performance.now() < end);
  return best;
}

/**
 * Serves the cases of a library to compare_section.js: { name: async (model) => run }. Each creates
 * its inputs and returns a function that computes once. `begin` loads the library.
 */
export function serveCases(begin) {
  let cases;
  const prepared = new Map();
  self.onmessage = async ({ data: { name, model } }) => {
    try {
      cases ??= await begin();
      if (name === undefined) return postMessage({ names: Object.keys(cases) });
      if (!prepared.has(name)) prepared.set(name, await cases[name](model));
      return postMessage({ milliseconds: await measure(prepared.get(name)) });
    } catch (error) {
      return postMessage({ error: error.message });
    }
  };
}
