// The package that `npm pack` creates can be installed into an empty folder and used there.

import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { test } from 'node:test';

const root = fileURLToPath(new URL('..', import.meta.url));

test('the packed package installs and runs in a clean folder', () => {
  const folder = mkdtempSync(join(tmpdir(), 'tenon-'));
  const run = (command, ...args) => execFileSync(command, args, { cwd: folder, encoding: 'utf8' });
  try {
    execFileSync('npm', ['pack', '--silent', '--pack-destination', folder], { cwd: root });
    const [archive] = readdirSync(folder);
    assert.match(archive, /^tenon-runtime-.*\.tgz$/);
    const files = run('tar', '-tzf', archive).trim().split('\n');
    for (const name of ['src/index.js', 'src/index.d.ts', 'src/ops_gen.d.ts', 'src/worker.js', 'src/worker_host.js', 'dist/tenon_simd.wasm', 'script.js', 'LICENSE']) {
      assert.ok(files.includes(`package/${name}`), name);
    }
    assert.ok(!files.some((name) => name.includes('tests/')));
    writeFileSync(join(folder, 'package.json'), '{"name": "clean", "private": true, "type": "module"}');
    run('npm', 'install', '--offline', '--no-audit', '--no-fund', '--silent', `./${archive}`);
    writeFileSync(join(folder, 'main.js'), 'import * as tenon from "tenon-runtime";\nawait tenon.init();\n' +
        'console.log(tenon.tensor([1, 2]).add(1).toString());\n');
    assert.equal(run('node', 'main.js'), '[2. 3.]\n');
  } finally {
    rmSync(folder, { recursive: true });
  }
});
