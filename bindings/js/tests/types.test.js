// The type declarations agree with the package: each export and each public member is declared, and
// nothing else is declared.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { before, test } from 'node:test';
import * as tenon from 'tenon-runtime';

const read = (name) => readFileSync(new URL(`../src/${name}`, import.meta.url), 'utf8');
const core = ['index', 'devices', 'effects', 'files'].map((name) => read(`${name}.d.ts`)).join('\n');
const ops = read('ops_gen.d.ts');

before(() => tenon.init({ logLevel: 'error' }));

test('every export is declared, and every declared value is exported', () => {
  const declared = new Set();
  for (const source of [core, ops]) {
    for (const [, name] of source.matchAll(/^export (?:function|class|const) (\w+)/gm)) declared.add(name);
    for (const [, name] of source.matchAll(/^export \{ \w+ as (\w+) \}/gm)) declared.add(name);
  }
  assert.deepEqual(Object.keys(tenon).filter((name) => !declared.has(name)), []);
  assert.deepEqual([...declared].filter((name) => !(name in tenon)), []);
  assert.ok(declared.size > 280);
});

/** Returns the members that a class or an interface declares. */
function membersOf(source, name) {
  const start = source.search(new RegExp(`^export (?:class|interface) ${name}\\b[^{]*\\{$`, 'm'));
  assert.ok(start >= 0, `${name} is not declared`);
  const body = source.slice(start, source.indexOf('\n}', start));
  return new Set([...body.matchAll(/^ {2}(?:readonly |static )?(\w+)[?(<:]/gm)].map((found) => found[1]));
}

/** Returns the public members of a class, including inherited ones. */
function publicMembers(type) {
  const found = new Set();
  for (let at = type.prototype; at !== Object.prototype; at = Object.getPrototypeOf(at)) {
    for (const name of Object.getOwnPropertyNames(at)) if (!name.startsWith('_') && name !== 'constructor') found.add(name);
  }
  return [...found];
}

test('every member of a class is declared', () => {
  const inherited = { Tensor: [core, 'Disposable', ops, 'TensorOps'], Generator: [ops, 'GeneratorOps'],
    Trace: [core, 'Disposable'], Program: [core, 'Disposable'] };
  for (const [name, type] of Object.entries(tenon)) {
    if (typeof type !== 'function' || !/^class /.test(Function.prototype.toString.call(type)) || name === 'TenonError') continue;
    const declared = membersOf(core, name);
    const more = inherited[name] ?? [];
    for (let i = 0; i < more.length; i += 2) membersOf(more[i], more[i + 1]).forEach((member) => declared.add(member));
    assert.deepEqual(publicMembers(type).filter((member) => !declared.has(member)), [], name);
  }
});

test('tenon-runtime/worker exports what its types declare', async () => {
  const declared = [...read('worker.d.ts').matchAll(/^export function (\w+)/gm)].map(([, name]) => name);
  assert.deepEqual(Object.keys(await import('tenon-runtime/worker')), declared);
});

test('every op has documentation', () => {
  const functions = [...ops.matchAll(/(\*\/\n)?export function (\w+)\(/g)];
  assert.ok(functions.length > 250);
  assert.deepEqual(functions.filter((found) => !found[1]).map((found) => found[2]), []);
});
