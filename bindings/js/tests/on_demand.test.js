// The second part of the WebAssembly module is loaded when it is needed.

import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { copyFileSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath, pathToFileURL } from 'node:url';

import * as tenon from 'tenon-runtime';

const dist = new URL('../dist/', import.meta.url);
const isSplit = readdirSync(dist).includes('tenon_simd_programs.wasm');

test('programs load the second file when they need it', { skip: !isSplit && 'the module has one part' }, async () => {
  const folder = mkdtempSync(join(tmpdir(), 'tenon-'));
  try {
    const part = (name) => join(folder, name);
    copyFileSync(new URL('tenon_simd.wasm', dist), part('mine.wasm'));
    await tenon.init({ variant: 'simd', wasmUrl: pathToFileURL(part('mine.wasm')) });
    const traces = { f: tenon.function((x) => x.add(1)).trace(new tenon.TensorSpec([2])) };
    assert.deepEqual(tenon.tensor([1, 2]).add(1).arraySync(), [2, 3]);
    await assert.rejects(tenon.saveProgram(traces), { code: 'ENOENT' });
    copyFileSync(new URL('tenon_simd_programs.wasm', dist), part('mine_programs.wasm'));
    const program = await tenon.openProgram(await tenon.saveProgram(traces)); // tries again
    assert.deepEqual(program.function('f').call([tenon.tensor([1, 2])])[0].arraySync(), [2, 3]);
  } finally {
    rmSync(folder, { recursive: true });
  }
});

test('a call that needs the second file loads it', { skip: !isSplit && 'the module has one part' }, () => {
  const code = `
    import assert from 'node:assert/strict';
    import fs from 'node:fs';
    import * as tenon from 'tenon-runtime';
    const reads = [];
    const read = fs.readFileSync;
    fs.readFileSync = (file, ...args) => {
      reads.push(String(file));
      return read(file, ...args);
    };
    await tenon.init({ variant: 'simd' });
    const x = tenon.tensor([[2, 1], [1, 2]]);
    const slope = tenon.grad((v) => v.sin().sum())(x);
    assert.equal(x.svd().s.shape[0], 2);
    assert.ok(String(slope.add(x)).includes('['));
    assert.deepEqual(reads, []); // None of these calls needs it.
    const saved = tenon.saveSafetensors({ x });
    assert.match(reads.at(-1), /tenon_simd_programs[.]wasm$/);
    assert.equal(reads.length, 1);
    const { x: loaded } = await tenon.loadSafetensors(saved);
    assert.deepEqual(loaded.arraySync(), [[2, 1], [1, 2]]);
    assert.equal(reads.length, 1);
  `;
  execFileSync(process.execPath, ['--no-experimental-fetch', '--input-type=module', '-e', code], { cwd: fileURLToPath(new URL('.', dist)) });
});
