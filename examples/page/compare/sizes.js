// The loop that measures the cases, and what all libraries use in them.

export * from './data.mjs';

const TURN = 150; // Length of a turn in milliseconds.

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
