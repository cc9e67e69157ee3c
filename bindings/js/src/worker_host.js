// The worker of worker.js: executes the calls that the page posts.
//
// A slot holds the result of a call: { value }, or { error, origin } if the call failed or needed a
// slot that failed. While the result is not there yet, the slot has a Promise, `pending`. Calls that
// need no pending slot run at once, in the order of their messages.

import * as tenon from './index.js';

const isNode = typeof process === 'object' && Boolean(process.versions?.node);
const port = isNode ? (await import('node:worker_threads')).parentPort : globalThis;

/** The package, and what the proxy adds to it. */
const root = { ...tenon, import: (url) => import(url) };
const slots = new Map([[0, { value: root }]]);
/** Maps a tensor to the number of slots that hold it. The last of them disposes it. */
const holders = new Map();
let lastOwn = 0;

const PLAIN = [ArrayBuffer, Date];

function isBranch(value) {
  return Array.isArray(value) || Object.getPrototypeOf(value) === Object.prototype;
}

/** Returns whether a value is data that can be copied to the page. */
function isPlain(value) {
  if (typeof value === 'function') return false;
  if (typeof value !== 'object' || value === null) return typeof value !== 'symbol';
  if (ArrayBuffer.isView(value) || PLAIN.some((type) => value instanceof type)) return true;
  return isBranch(value) && value !== root && Object.values(value).every(isPlain);
}

function tensorsIn(value, found = new Set()) {
  if (value instanceof tenon.Tensor) {
    found.add(value);
  } else if (typeof value === 'object' && value !== null && value !== root && isBranch(value)) {
    for (const item of Object.values(value)) tensorsIn(item, found);
  }
  return found;
}

// ---- slots

function fill(slot, value) {
  slot.value = value;
  for (const tensor of tensorsIn(value)) holders.set(tensor, (holders.get(tensor) ?? 0) + 1);
}

function describeError(error) {
  return {
    name: error?.name ?? 'Error', message: error?.message ?? String(error), stack: error?.stack,
    code: error instanceof tenon.TenonError ? error.code : '',
    details: { op: error?.op, argument: error?.argument, device: error?.device, location: error?.location },
  };
}

function fillError(number, slot, error) {
  slot.error = describeError(error);
  slot.origin = number;
  port.postMessage({ type: 'failed', slot: number, error: slot.error });
}

function slotOf(number) {
  const slot = slots.get(number);
  if (!slot) throw new tenon.TenonError('INVALID_ARGUMENT', 'this value in the worker was disposed');
  return slot;
}

/**
 * Ends the use of a slot by the page. A tensor is disposed if no other slot holds it. `how`:
 *   left       The scope() ended in which the call was made. Keeps values that have no tensors, such
 *              as variables, as scopes do.
 *   collected  The proxies were garbage-collected.
 *   disposed   The page called dispose(), which also disposes values that are no tensors.
 */
function drop(number, how) {
  const slot = slots.get(number);
  if (!slot) return;
  if (slot.pending || slot.users > 0) {
    slot.dropped = slot.dropped === 'disposed' ? slot.dropped : how;
    return;
  }
  const tensors = tensorsIn(slot.value);
  if (how === 'left' && tensors.size === 0 && !slot.error && !isPlain(slot.value)) return;
  slots.delete(number);
  for (const tensor of tensors) {
    const count = holders.get(tensor) - 1;
    if (count > 0) holders.set(tensor, count);
    else holders.delete(tensor);
    if (count === 0 || how === 'disposed') tensor.dispose();
  }
  if (how === 'disposed') slot.value?.dispose?.();
}

function dropIfDue(number) {
  const slot = slots.get(number);
  if (slot?.dropped && !slot.pending && slot.users === 0) drop(number, slot.dropped);
}

// ---- calls

/** Follows a path of properties. Returns { self, value }, where `self` is the object of the last one. */
function follow(value, path) {
  let self;
  for (const key of path) {
    if (value === undefined || value === null) throw new TypeError(`${path.join('.')}: ${key} is a property of ${value}`);
    self = value;
    value = value[key];
  }
  return { self, value };
}

/** Collects the numbers of the slots that arguments name. */
function slotsIn(value, found) {
  if (typeof value !== 'object' || value === null) return;
  if (value.$tenon === 'slot') found.add(value.slot);
  else if (isBranch(value)) Object.values(value).forEach((item) => slotsIn(item, found));
}

function decode(value) {
  if (typeof value !== 'object' || value === null) return value;
  if (value.$tenon === 'slot') return follow(slotOf(value.slot).value, value.path).value;
  if (value.$tenon === 'callback') return callbackOf(value.callback);
  if (Array.isArray(value)) return value.map(decode);
  if (!isBranch(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, decode(item)]));
}

function callbackOf(callback) {
  return (...args) => port.postMessage({ type: 'callback', callback, args: args.map((value) => {
    if (isPlain(value)) return { value };
    const slot = { users: 0 };
    slots.set(--lastOwn, slot);
    fill(slot, value);
    return { slot: lastOwn };
  }) });
}

/** Runs `body` when the slots that it needs have values, and stores its result in a new slot. */
function runInto(number, needed, callbacks, body) {
  const slot = { users: 0 };
  slots.set(number, slot);
  const used = [...needed].filter((at) => slots.has(at));
  for (const at of used) ++slots.get(at).users;
  const finish = () => {
    delete slot.pending;
    for (const at of used) {
      --slots.get(at).users;
      dropIfDue(at);
    }
    if (callbacks.length > 0) port.postMessage({ type: 'finished', callbacks });
    dropIfDue(number);
  };
  const start = () => {
    const failed = [...needed].map(slotOf).find(({ error }) => error);
    if (!failed) return body();
    Object.assign(slot, { error: failed.error, origin: failed.origin });
    return undefined;
  };
  const store = (value) => { if (!slot.error) fill(slot, value); };
  const finishLater = (promise) => {
    slot.pending = promise.then(store).catch((error) => fillError(number, slot, error)).then(finish);
  };
  const pending = used.map((at) => slots.get(at).pending).filter(Boolean);
  if (pending.length > 0) return finishLater(Promise.all(pending).then(start));
  try {
    const result = start();
    if (typeof result?.then === 'function') return finishLater(result);
    store(result);
  } catch (error) {
    fillError(number, slot, error);
  }
  return finish();
}

const handlers = {
  call({ slot, target, path, args, isNew, callbacks }) {
    const needed = new Set([target]);
    slotsIn(args, needed);
    runInto(slot, needed, callbacks, () => {
      const { self, value } = follow(slotOf(target).value, path);
      if (typeof value !== 'function') throw new TypeError(`${path.join('.') || 'the value'} is not a function`);
      return isNew ? Reflect.construct(value, decode(args)) : Reflect.apply(value, self, decode(args));
    });
  },
  get({ slot, target, path }) {
    runInto(slot, new Set([target]), [], () => follow(slotOf(target).value, path).value);
  },
  async settle({ slot: number }) {
    const slot = slots.get(number) ?? { error: describeError(new Error('this value in the worker was disposed')), origin: number };
    if (slot.pending) await slot.pending;
    if (slot.error) return port.postMessage({ type: 'settled', slot: number, error: slot.error, origin: slot.origin });
    const isProxy = !isPlain(slot.value);
    port.postMessage({ type: 'settled', slot: number, isProxy, value: isProxy ? undefined : slot.value });
    if (!isProxy) drop(number, 'collected');
  },
  release({ slots: numbers, how }) {
    for (const number of numbers) drop(number, how);
  },
  fence({ slot }) {
    port.postMessage({ type: 'fence', slot });
  },
};

function receive(message) {
  handlers[message.type](message);
}

if (isNode) port.on('message', receive);
else port.onmessage = ({ data }) => receive(data);
