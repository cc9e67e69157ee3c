// Makes the files of a variant of the npm package from a module that Emscripten has linked with
// -O1 and with the names of its functions.
//
//   node shrink.mjs LINKED.mjs PATTERNS FOLDER
//
// Writes to FOLDER the script; NAME.wasm; and NAME_programs.wasm, which has the functions that only
// programs in files and ONNX models need, and which the package loads on demand. PATTERNS is a file
// with one regular expression per line. A function whose symbol matches one of them is moved to the
// second module, and so is every function that is called by moved functions only.

import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';

import { writeScript } from './module_script.mjs';

// The extensions of WebAssembly that every browser has which supports SIMD and exceptions.
const FEATURES = ['simd', 'exception-handling', 'mutable-globals', 'sign-ext', 'bulk-memory', 'nontrapping-float-to-int']
    .map((name) => `--enable-${name}`);

const [, , script, patternsFile, folder] = process.argv;
const linked = script.replace(/\.mjs$/, '.wasm');
const name = basename(script, '.mjs');
const run = (command, ...args) => execFileSync(command, args, { encoding: 'utf8', maxBuffer: 1 << 28, stdio: ['ignore', 'pipe', 'pipe'] });

/** Returns the symbols of the functions to move. */
function moved() {
  const isMoved = new RegExp(readFileSync(patternsFile, 'utf8').split('\n').filter((line) => line && !line.startsWith('#')).join('|'));
  const calls = new Map(); // function -> the functions that it calls directly
  const staying = new Set(['__wasm_call_ctors']);
  for (const line of run('wasm-opt', ...FEATURES, '--print-call-graph', linked, '-o', '/dev/null').split('\n')) {
    const call = line.match(/^ {2}"(.*)" -> "(.*)"; \/\/ call$/);
    if (call) {
      calls.get(call[1]).push(call[2]);
      continue;
    }
    const node = line.match(/^ {2}"(.*)" \[style="(.*)"\];$/);
    if (!node) continue;
    if (!calls.has(node[1])) calls.set(node[1], []);
    // Imported and exported functions, and functions that may be called indirectly.
    const isRoot = /turquoise|gray/.test(node[2]) || (/rounded/.test(node[2]) && !isMoved.test(node[1]));
    if (isRoot) staying.add(node[1]);
  }
  if (calls.size === 0) throw new Error(`wasm-opt printed no call graph of ${linked}`);
  for (const caller of staying) {
    for (const callee of calls.get(caller) ?? []) {
      if (!isMoved.test(callee)) staying.add(callee);
    }
  }
  return [...calls.keys()].filter((symbol) => !staying.has(symbol));
}

const work = dirname(script);
const part = (suffix) => join(work, `${name}${suffix}`);
writeFileSync(part('_moved.txt'), moved().join('\n'));
run('wasm-split', ...FEATURES, linked, '-o1', part('_first.wasm'), '-o2', part('_second.wasm'), `--split-funcs=@${part('_moved.txt')}`);
mkdirSync(folder, { recursive: true });
for (const [from, to] of [['_first.wasm', '.wasm'], ['_second.wasm', '_programs.wasm']]) {
  run('wasm-opt', ...FEATURES, '--low-memory-unused', '-O3', part(from), '-o', join(folder, `${name}${to}`));
}
writeScript(script, join(folder, `${name}.mjs`));
