// Measures the cases of all libraries in one process of Node or in one page. The cases take turns,
// and each reports the time of its fastest run.

const TURN = 60; // Length of a turn in milliseconds.
// Shortest time in milliseconds that is measured. The clock of a page has steps of 0.1 milliseconds.
const SAMPLE = typeof process === 'object' ? 0.5 : 5;

/** Returns the milliseconds of `repeats` runs. */
async function sample(run, repeats) {
  const begin = performance.now();
  for (let i = 0; i < repeats; ++i) {
    const promise = run();
    if (promise) await promise;
  }
  return performance.now() - begin;
}

/** Returns the milliseconds of the fastest run, divided by `count`. */
export async function turn({ run, count = 1 }) {
  let repeats = 1;
  let best = Infinity;
  const end = performance.now() + TURN;
  do {
    const time = await sample(run, repeats);
    if (time < SAMPLE) {
      repeats *= 2;
    } else {
      best = Math.min(best, time / repeats);
    }
  } while (performance.now() < end || best === Infinity);
  return best / count;
}

/** Times of the cases: a map from the case to a map from the library to milliseconds. */
export class Times extends Map {
  note(name, peer, milliseconds) {
    if (!this.has(name)) this.set(name, new Map());
    const row = this.get(name);
    row.set(peer, Math.min(row.get(peer) ?? Infinity, milliseconds));
  }
}

/**
 * Measures the cases whose names match `only`. `where` has the addresses of the package, `tenon`,
 * and of the folder that contains the other libraries, `peers`.
 */
export async function measure(where, only, rounds, times) {
  const loaded = [];
  for (const file of ['tenon', 'onnxruntime', 'tfjs', 'jax']) {
    const { open } = await import(`./${file}.mjs`);
    loaded.push(...await open(where, loaded[0]?.models));
  }
  const names = Object.keys(loaded[0].cases).filter((name) => only.test(name));
  for (let round = 0; round < rounds; ++round) {
    for (const name of names) {
      for (const { peer, cases, select } of loaded) {
        if (!(name in cases)) continue;
        if (select) await select();
        times.note(name, peer, await turn(cases[name]));
      }
    }
  }
}
