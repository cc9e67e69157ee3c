// The matrix product of the case matmul_512 on a number of threads.

import { SIDE, noise } from './sizes.mjs';
import { turn } from './measure.mjs';

/** Returns the milliseconds of the product. `where`: as for measure(). */
export async function product(threads, where) {
  const tenon = await import(`${where.tenon}/src/index.js`);
  await tenon.init({ variant: 'simd+threads', threads });
  const [a, b] = [2, 3].map((seed) => tenon.tensor(noise(SIDE * SIDE, seed), { shape: [SIDE, SIDE] }));
  let best = Infinity;
  for (let i = 0; i < 5; ++i) best = Math.min(best, await turn({ run: () => a.matmul(b).dispose() }));
  return best;
}
