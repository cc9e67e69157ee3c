// Makes a WebAssembly module smaller by leaving out the functions that a program does not call.
//
//   node leave_out.mjs instrument LINKED.mjs FOLDER
//   node leave_out.mjs run PACKAGE PROGRAM...
//   node leave_out.mjs apply LINKED.mjs PROFILE KEPT FOLDER
//
// `instrument` writes a module that records which functions are called. `run` copies the files PROGRAM
// to PACKAGE, an npm package with that module, runs the first of them, and writes the record to
// PACKAGE/profile. `apply` replaces the body of each function that was not called by a call of the
// import tenon_js_left_out, which throws, and optimises the result. KEPT is a file with one regular
// expression per line. Functions whose symbol matches one of them stay.

import { execFileSync } from 'node:child_process';
import { copyFileSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';

import { writeScript } from './module_script.mjs';
import { readLeb } from './wasm_binary.mjs';

const FEATURES = ['simd', 'exception-handling', 'mutable-globals', 'sign-ext', 'bulk-memory', 'nontrapping-float-to-int']
    .map((name) => `--enable-${name}`);
const PROFILE_BYTES = 1 << 20;
const IMPORTS = 2, CODE = 10;

const run = (command, ...args) => execFileSync(command, args, { encoding: 'utf8', maxBuffer: 1 << 28, stdio: ['ignore', 'pipe', 'pipe'] });

// ---- the binary format

function leb(value) {
  const bytes = [];
  for (; value > 127; value = Math.floor(value / 128)) bytes.push((value % 128) + 128);
  return Buffer.from([...bytes, value]);
}

/** Returns [{ id, content }, ...]: the sections of a module. */
function sectionsOf(bytes) {
  const sections = [];
  for (let at = 8; at < bytes.length;) {
    const [length, start] = readLeb(bytes, at + 1);
    sections.push({ id: bytes[at], content: bytes.subarray(start, start + length) });
    at = start + length;
  }
  return sections;
}

/** Returns the names of the imported functions. */
function importedFunctions(content) {
  const names = [];
  let [count, at] = readLeb(content, 0);
  const readName = () => {
    const [length, start] = readLeb(content, at);
    at = start + length;
    return content.toString('utf8', start, at);
  };
  const skip = () => {
    [, at] = readLeb(content, at);
  };
  const skipLimits = () => {
    const [flags, next] = readLeb(content, at);
    at = next;
    skip();
    if (flags & 1) skip();
  };
  for (; count > 0; --count) {
    readName();
    const name = readName();
    const kind = content[at++];
    if (kind === 0) names.push(name);
    if (kind === 1) ++at; // A table's type.
    if (kind === 1 || kind === 2) skipLimits();
    else if (kind === 3) at += 2; // A global's type, and whether it is mutable.
    else if (kind === 4) at += 1, skip(); // A tag's attribute and type.
    else skip();
  }
  return names;
}

/** Returns a map from function indices to symbols. */
function symbolsOf(sections) {
  for (const { id, content } of sections) {
    if (id !== 0) continue;
    const [length, start] = readLeb(content, 0);
    if (content.toString('utf8', start, start + length) !== 'name') continue;
    for (let at = start + length; at < content.length;) {
      const kind = content[at];
      const [size, first] = readLeb(content, at + 1);
      at = first + size;
      if (kind !== 1) continue;
      const symbols = new Map();
      let [count, next] = readLeb(content, first);
      for (; count > 0; --count) {
        const [index, name] = readLeb(content, next);
        const [bytes, from] = readLeb(content, name);
        next = from + bytes;
        symbols.set(index, content.toString('utf8', from, next));
      }
      return symbols;
    }
  }
  throw new Error('the module has no names of functions');
}

// ---- the commands

function instrument(script, folder) {
  mkdirSync(folder, { recursive: true });
  copyFileSync(script, join(folder, basename(script)));
  run('wasm-split', ...FEATURES, '--instrument', '--profile-export=tenon_profile', script.replace(/\.mjs$/, '.wasm'),
      '-o', join(folder, basename(script).replace(/\.mjs$/, '.wasm')));
}

async function profile(folder, ...programs) {
  let exports = null;
  const { instantiate } = WebAssembly;
  WebAssembly.instantiate = async (...args) => {
    const result = await instantiate(...args);
    ({ exports } = result.instance);
    return result;
  };
  for (const program of programs) {
    writeFileSync(join(folder, basename(program)), readFileSync(program, 'utf8').replaceAll('./tenon/src/', './src/'));
  }
  await import(pathToFileURL(resolve(folder, basename(programs[0]))));
  const at = exports.malloc(PROFILE_BYTES) >>> 0;
  const length = exports.tenon_profile(at, PROFILE_BYTES);
  writeFileSync(join(folder, 'profile'), new Uint8Array(exports.memory.buffer, at, length));
}

/** Returns the module with functions left out: those that were not called and that do not match `isKept`. */
function leaveOut(bytes, record, isKept) {
  const sections = sectionsOf(bytes);
  const symbols = symbolsOf(sections);
  const imported = importedFunctions(sections.find(({ id }) => id === IMPORTS).content);
  const thrower = imported.indexOf('tenon_js_left_out');
  if (thrower < 0) throw new Error('the module does not import tenon_js_left_out');
  const body = Buffer.concat([Buffer.from([0, 0x10]), leb(thrower), Buffer.from([0x00, 0x0b])]); // call, unreachable, end
  const parts = [bytes.subarray(0, 8)];
  for (const { id, content } of sections) {
    let written = content;
    if (id === CODE) {
      let [count, at] = readLeb(content, 0);
      if (record.length !== 8 + 4 * count) throw new Error('the profile belongs to another module');
      const bodies = [leb(count)];
      for (let i = 0; i < count; ++i) {
        const [length, start] = readLeb(content, at);
        const isCalled = record.readUInt32LE(8 + 4 * i) !== 0;
        const stays = isCalled || isKept.test(symbols.get(imported.length + i) ?? '');
        bodies.push(stays ? content.subarray(at, start + length) : Buffer.concat([leb(body.length), body]));
        at = start + length;
      }
      written = Buffer.concat(bodies);
    }
    parts.push(Buffer.from([id]), leb(written.length), written);
  }
  return Buffer.concat(parts);
}

function apply(script, recordFile, keptFile, folder) {
  const name = basename(script, '.mjs');
  const patterns = readFileSync(keptFile, 'utf8').split('\n').filter((line) => line && !line.startsWith('#'));
  const rest = join(dirname(script), `${name}_rest.wasm`);
  writeFileSync(rest, leaveOut(readFileSync(script.replace(/\.mjs$/, '.wasm')), readFileSync(recordFile), new RegExp(patterns.join('|'))));
  mkdirSync(folder, { recursive: true });
  run('wasm-opt', ...FEATURES, '--low-memory-unused', '-O3', '--converge', rest, '-o', join(folder, `${name}.wasm`));
  writeScript(script, join(folder, `${name}.mjs`));
}

const [, , command, ...args] = process.argv;
await { instrument, run: profile, apply }[command](...args);
