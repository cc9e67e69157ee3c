// Prints the sizes of the package's files and of the sections of its WebAssembly modules, plain and
// compressed.
//
//   node sizes.mjs PACKAGE

import { existsSync, readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { brotliCompressSync, constants, gzipSync } from 'node:zlib';

import { readLeb } from './wasm_binary.mjs';

const [, , folder] = process.argv;
const SECTIONS = ['custom', 'type', 'import', 'function', 'table', 'memory', 'global', 'export', 'start', 'element',
  'code', 'data', 'data count', 'tag'];

function sizes(bytes) {
  return [bytes.length, gzipSync(bytes, { level: 9 }).length,
    brotliCompressSync(bytes, { params: { [constants.BROTLI_PARAM_SIZE_HINT]: bytes.length } }).length];
}

function row(name, [plain, gzip, brotli]) {
  const kilobytes = (size) => (size / 1000).toFixed(1).padStart(10);
  console.log(`${name.padEnd(34)}${kilobytes(plain)}${kilobytes(gzip)}${kilobytes(brotli)}`);
}

/** Returns [[name, bytes], ...]: the sections of a WebAssembly module. */
function sections(bytes) {
  const found = [];
  for (let at = 8; at < bytes.length;) {
    const id = bytes[at];
    const [length, start] = readLeb(bytes, at + 1);
    found.push([SECTIONS[id] ?? `section ${id}`, bytes.subarray(start, start + length)]);
    at = start + length;
  }
  return found;
}

console.log(`${'kB'.padEnd(34)}${'plain'.padStart(10)}${'gzip'.padStart(10)}${'brotli'.padStart(10)}`);
const scripts = readdirSync(join(folder, 'src')).filter((name) => name.endsWith('.js'));
for (const name of scripts.sort()) row(`src/${name}`, sizes(readFileSync(join(folder, 'src', name))));
for (const file of readdirSync(join(folder, 'dist')).sort()) {
  const bytes = readFileSync(join(folder, 'dist', file));
  row(`dist/${file}`, sizes(bytes));
  if (!file.endsWith('.wasm')) continue;
  for (const [name, content] of sections(bytes)) {
    if (content.length > 1000) row(`  ${name}`, sizes(content));
  }
}

/** Returns the scripts that a page loads when it imports one of them. */
function loadedWith(name, found = new Set()) {
  if (found.has(name)) return found;
  found.add(name);
  for (const [, other] of readFileSync(join(folder, 'src', name), 'utf8').matchAll(/(?:from|import)"\.\/(.*?)"/g)) {
    loadedWith(other, found);
  }
  return found;
}

const total = (files) => {
  const parts = files.map((file) => sizes(readFileSync(join(folder, file))));
  return [0, 1, 2].map((i) => parts.reduce((sum, part) => sum + part[i], 0));
};
const loader = [...loadedWith('index.js')].map((name) => `src/${name}`);
for (const variant of ['simd', 'threads', 'plugins']) {
  const own = ['mjs', 'worker.js', 'wasm'].map((end) => `dist/tenon_${variant}.${end}`).filter((file) => existsSync(join(folder, file)));
  if (own.length > 0) row(`variant ${variant} with its loader`, total([...loader, 'dist/variants.js', ...own]));
}
