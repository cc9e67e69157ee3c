// Printing, assertions and host calls.

import assert from 'node:assert/strict';
import { before, test } from 'node:test';
import * as tenon from 'tenon-runtime';

before(() => tenon.init({ logLevel: 'error' }));

/** Returns the lines that print() writes while `body` runs. */
function printed(body) {
  const lines = [];
  tenon.setPrint((line) => lines.push(line));
  try {
    body();
  } finally {
    tenon.setPrint(null);
  }
  return lines;
}

test('print, assert and hostCall work eagerly', () => {
  const lines = printed(() => {
    tenon.print('x = {}', tenon.tensor([1, 2]));
    tenon.print(tenon.tensor(3), 4);
    const x = tenon.tensor(2);
    tenon.assert(x.greater(0), 'x is {}', x);
    assert.equal(tenon.hostCall((v) => v.add(v.itemSync()), [x], x).itemSync(), 4);
    assert.throws(() => tenon.assert(x.less(0), 'x is {}', x), { code: 'FAILED_PRECONDITION', message: /x is 2/ });
  });
  assert.deepEqual(lines, ['x = [1. 2.]\n', '3.0 4.0\n']);
});

test('print, assert and hostCall work in functions', () => {
  let f;
  const lines = printed(() => {
    f = tenon.function((x) => {
      tenon.print('in {}', x);
      tenon.assert(x.greater(0), 'x is {}', x);
      return tenon.hostCall((v) => v.add(v.itemSync()), [x], x);
    });
    assert.equal(f(tenon.tensor(2)).itemSync(), 4);
    assert.equal(f(tenon.tensor(3)).itemSync(), 6);
    assert.throws(() => f(tenon.tensor(-1)), { code: 'FAILED_PRECONDITION', message: /x is -1/ });
  });
  assert.deepEqual(f.traces()[0].effects, ['print', 'assert', 'host_call']);
  assert.deepEqual(lines, ['in 2.0\n', 'in 3.0\n', 'in -1.0\n']);
});
