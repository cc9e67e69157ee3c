// Measures the npm package and the libraries that web developers use instead. All run in one
// process of Node. The cases take turns, and each reports the time of its fastest run.
//
//   node run.mjs PACKAGE PEERS [--only PATTERN] [--rounds N] [--json FILE]
//
// `ratio CASE PEER VALUE` is the peer's time over Tenon's: above 1, Tenon is faster.

import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const [packageFolder, peersFolder, ...options] = process.argv.slice(2);
const here = dirname(fileURLToPath(import.meta.url));
const option = (name, otherwise) => {
  const at = options.indexOf(`--${name}`);
  return at < 0 ? otherwise : options[at + 1];
};
const only = new RegExp(option('only', ''));
const rounds = Number(option('rounds', 9));
const TURN = 60; // Length of a turn in milliseconds.

async function turn({ run, count }) {
  let best = Infinity;
  const end = performance.now() + TURN;
  do {
    const begin = performance.now();
    const promise = run();
    if (promise) await promise;
    best = Math.min(best, performance.now() - begin);
  } while (performance.now() < end);
  return best / count;
}

/** Returns the milliseconds from the start of a process to its first result. */
function startUp(peer) {
  const begin = performance.now();
  execFileSync(process.execPath, [join(here, 'first_result.mjs'), peer, packageFolder, peersFolder], { stdio: 'ignore' });
  return performance.now() - begin;
}

const times = new Map(); // case -> Map(peer -> milliseconds)
function note(name, peer, milliseconds) {
  if (!times.has(name)) times.set(name, new Map());
  const row = times.get(name);
  row.set(peer, Math.min(row.get(peer) ?? Infinity, milliseconds));
}

const loaded = [];
for (const file of ['tenon', 'onnxruntime', 'tfjs', 'jax']) {
  const { open } = await import(`./${file}.mjs`);
  loaded.push(...await open(packageFolder, peersFolder, loaded[0]?.models));
}
const names = Object.keys(loaded[0].cases).filter((name) => only.test(name));
for (let round = 0; round < rounds; ++round) {
  for (const name of names) {
    for (const { peer, cases, select } of loaded) {
      if (!(name in cases)) continue;
      if (select) await select();
      note(name, peer, await turn(cases[name]));
    }
  }
  if (only.test('import_to_first_result') && round < 5) {
    for (const peer of ['tenon', 'tfjs_cpu', 'jax', 'onnxruntime']) note('import_to_first_result', peer, startUp(peer));
  }
}

const rows = [];
for (const [name, row] of times) {
  const own = row.get('tenon');
  for (const [peer, time] of row) {
    console.log(`${name.padEnd(24)} ${peer.padEnd(14)} ${(time * 1000).toFixed(3).padStart(12)} us`);
    rows.push({ case: name, peer, us: time * 1000 });
  }
  for (const [peer, time] of row) {
    if (peer !== 'tenon') console.log(`ratio ${name} ${peer} ${(time / own).toFixed(2)}`);
  }
}
if (option('json')) writeFileSync(option('json'), `${JSON.stringify(rows, null, 1)}\n`);
process.exit(0);
