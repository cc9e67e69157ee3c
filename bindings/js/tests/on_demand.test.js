// The part of the WebAssembly module that only programs need is loaded when it is needed.

import assert from 'node:assert/strict';
import { copyFileSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { pathToFileURL } from 'node:url';

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
