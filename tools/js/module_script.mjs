// Writes the script of a WebAssembly module for the npm package.

import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';

/**
 * Minifies a script that Emscripten has linked with -O1. Removes its wrappers of the exported C
 * functions, because src/native.js reads the exports of the WebAssembly instance.
 */
export function writeScript(script, target) {
  const source = readFileSync(script, 'utf8');
  const wrapper = /var (_tenon_\w+) = Module\["\1"\] = function\(\) \{\s*return \(\1 = Module\["\1"\] = Module\["asm"\]\["\w+"\]\)\.apply\(null, arguments\);\s*\};/g;
  const stripped = source.replace(wrapper, '');
  if (stripped === source) throw new Error(`${script} has no wrappers of the form that this script expects`);
  const used = /\b_tenon_(?!js_)\w+/.exec(stripped);
  if (used !== null) throw new Error(`${script} uses the wrapper ${used[0]}`);
  const minified = execFileSync('esbuild', ['--minify', '--format=esm', '--target=es2022'],
                                { input: stripped, encoding: 'utf8', maxBuffer: 1 << 26, stdio: ['pipe', 'pipe', 'pipe'] });
  writeFileSync(target, minified);
}
