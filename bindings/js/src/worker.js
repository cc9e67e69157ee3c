// Runs the package in a worker, and gives the page proxies of it. worker.d.ts has the types and the
// documentation; worker_host.js is the other side.
//
// A proxy stands for a slot of the worker, which holds a value, or for a property of that value.
// Calling a proxy posts a message and returns the proxy of the result at once, so that calls need no
// round trips. `await` posts a message that the worker answers with the value.

import './symbols.js';
import { TenonError, invalid } from './errors.js';

const STATE = Symbol('state');
const MAX_ITEMS = 256;

const isNode = typeof process === 'object' && Boolean(process.versions?.node);

/** Starts the worker. Returns the functions with which a Connection uses it. */
async function startWorker(receive, fail) {
  if (isNode) {
    const { Worker: NodeWorker } = await import('node:worker_threads');
    const worker = new NodeWorker(new URL('./worker_host.js', import.meta.url));
    worker.on('message', receive);
    worker.on('error', fail);
    return worker;
  }
  const worker = new Worker(new URL('./worker_host.js', import.meta.url), { type: 'module' });
  worker.onmessage = ({ data }) => receive(data);
  worker.onerror = (event) => fail(new Error(event.message || 'the worker did not start'));
  return worker;
}

function toError({ name, message, code, details, stack }) {
  const error = code ? new TenonError(code, message, details) : new Error(message);
  error.name = name;
  error.stack = stack;
  return error;
}

function stateOf(value) {
  return typeof value === 'function' ? value[STATE] : undefined;
}

class Connection {
  constructor({ onError = globalThis.reportError ?? ((error) => setTimeout(() => { throw error; })), ...options }) {
    this.onError = onError;
    this.options = options;
    this.lastSlot = 0;
    this.lastCallback = 0;
    this.callbacks = new Map();
    this.waiting = new Map(); // Maps a slot to the { resolve, reject } of its `await`.
    this.failures = new Map(); // Maps a slot to the error of its call, until an `await` throws it.
    this.made = null; // The slots that the innermost scope() releases; null outside.
    this.isClosed = false;
    // Releases the slots of results whose proxies were all garbage-collected.
    this.finalizer = new FinalizationRegistry((slot) => this.release([slot], 'collected'));
  }

  async open() {
    this.worker = await startWorker((message) => this.receive(message), (error) => this.fail(error));
    const state = { slot: 0, path: [], isUser: false, isSettled: true };
    await this.call({ ...state, path: ['init'] }, [this.options]);
    return this.remote(state);
  }

  post(message) {
    if (this.isClosed) throw new TenonError('FAILED_PRECONDITION', 'the connection to the worker is closed');
    this.worker.postMessage(message);
  }

  /** Ends all pending awaits with an error. */
  fail(error) {
    this.isClosed = true;
    for (const { reject } of this.waiting.values()) reject(error);
    this.waiting.clear();
  }

  close() {
    if (this.isClosed) return;
    this.worker.terminate();
    this.fail(new TenonError('CANCELLED', 'the connection to the worker was closed'));
  }

  // ---- messages from the worker

  receive(message) {
    if (this.isClosed) return; // Messages that the worker posted before close() still arrive.
    this[`on_${message.type}`](message);
  }

  on_settled({ slot, value, isProxy, error, origin }) {
    const { resolve, reject, state } = this.waiting.get(slot);
    this.waiting.delete(slot);
    if (error) {
      this.failures.delete(origin);
      return reject(toError(error));
    }
    if (isProxy) return resolve(this.settledOf(state, slot));
    state.plain = { value };
    return resolve(value);
  }

  /**
   * A call failed. The answer to `fence` arrives after the answers to all awaits so far. If none of
   * these threw the error, nothing waits for it.
   */
  on_failed({ slot, error }) {
    this.failures.set(slot, error);
    if (!this.isClosed) this.post({ type: 'fence', slot });
  }

  on_fence({ slot }) {
    const error = this.failures.get(slot);
    this.failures.delete(slot);
    if (error) this.onError(toError(error));
  }

  on_callback({ callback, args }) {
    this.callbacks.get(callback)?.(...args.map(({ value, slot }) =>
      (slot === undefined ? value : this.settledOf({ isUser: false }, slot))));
  }

  on_finished({ callbacks }) {
    for (const callback of callbacks) this.callbacks.delete(callback);
  }

  // ---- proxies

  remote(state) {
    const target = function remote() {}; // A Proxy can be called and constructed only if its target can.
    return new Proxy(target, {
      get: (_, key) => this.member(state, key),
      apply: (_, self, args) => this.call(state, args),
      construct: (_, args) => this.call(state, args, true),
    });
  }

  /** Returns the proxy that `await` returns. It is not awaitable itself. */
  settledOf(state, slot) {
    if (state.slot === slot) return this.remote({ slot, path: [], isUser: state.isUser, isSettled: true, base: state });
    const settled = { slot, path: [], isUser: state.isUser, isSettled: true };
    this.finalizer.register(settled, slot);
    return this.remote(settled);
  }

  member(state, key) {
    if (key === STATE) return state;
    if (state.slot === 0 && state.path.length === 0) {
      if (key === 'scope') return (body) => this.scope(body);
      if (key === 'close' || key === 'dispose' || key === Symbol.dispose) return () => this.close();
    }
    if (key === 'dispose' || key === Symbol.dispose) return () => this.dispose(state);
    if (key === Symbol.iterator) return () => this.items(state);
    if (['then', 'catch', 'finally'].includes(key)) {
      return state.isSettled ? undefined : (...handlers) => this.settle(state)[key](...handlers);
    }
    if (typeof key === 'symbol') return undefined;
    // `base` keeps the state that `finalizer` observes alive.
    return this.remote({ slot: state.slot, path: [...state.path, key], isUser: state.isUser, base: state });
  }

  * items(state) {
    for (let i = 0; i < MAX_ITEMS; ++i) yield this.member(state, String(i));
    throw invalid(`a result in the worker has more than ${MAX_ITEMS} items, or is not awaited: it cannot be iterated over`);
  }

  newSlot() {
    const slot = ++this.lastSlot;
    this.made?.push(slot);
    return slot;
  }

  call(state, args, isNew = false) {
    const callbacks = [];
    const encoded = args.map((arg) => this.encode(arg, state.isUser, callbacks));
    const slot = this.newSlot();
    this.post({ type: 'call', slot, target: state.slot, path: state.path, args: encoded, isNew, callbacks });
    const isImport = state.slot === 0 && state.path[0] === 'import';
    const result = { slot, path: [], isUser: state.isUser || isImport };
    this.finalizer.register(result, slot);
    return this.remote(result);
  }

  /** Returns a Promise of the value: a copy of plain data, otherwise a proxy. */
  settle(state) {
    state.promise ??= new Promise((resolve, reject) => {
      let { slot } = state;
      if (state.path.length > 0) {
        slot = this.newSlot();
        this.post({ type: 'get', slot, target: state.slot, path: state.path });
      }
      this.waiting.set(slot, { resolve, reject, state });
      this.post({ type: 'settle', slot });
    });
    return state.promise;
  }

  /** Replaces proxies and functions in an argument by their numbers. */
  encode(value, allowsFunctions, callbacks) {
    const state = stateOf(value);
    if (state) return state.plain ? state.plain.value : { $tenon: 'slot', slot: state.slot, path: state.path };
    if (typeof value === 'function') {
      if (!allowsFunctions) {
        throw invalid('a function of this thread cannot run in the worker; put it into a module, and load the ' +
                      'module with import()');
      }
      this.callbacks.set(++this.lastCallback, value);
      callbacks?.push(this.lastCallback);
      return { $tenon: 'callback', callback: this.lastCallback };
    }
    if (value instanceof URL) return value.href;
    if (Array.isArray(value)) return value.map((item) => this.encode(item, allowsFunctions, callbacks));
    if (typeof value !== 'object' || value === null || Object.getPrototypeOf(value) !== Object.prototype) return value;
    // The context calls `log` after init() has finished. Other functions are released after the call.
    return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, key === 'log' ?
      this.encode(item, true, null) : this.encode(item, allowsFunctions || key === 'progress', callbacks)]));
  }

  // ---- release

  /** Releases slots; `how` is one of those that `drop` in worker_host.js describes. */
  release(slots, how) {
    if (!this.isClosed && slots.length > 0) this.post({ type: 'release', slots, how });
  }

  dispose(state) {
    if (state.path.length > 0) {
      this.call({ ...state, path: [...state.path, 'dispose'] }, []);
    } else {
      this.release([state.slot], 'disposed');
    }
  }

  scope(body) {
    const outside = this.made;
    const mine = this.made = [];
    let result;
    try {
      result = body();
      if (result instanceof Promise) throw invalid('scope: the function returned a Promise, but must be synchronous');
    } catch (exception) {
      this.release(mine, 'left');
      throw exception;
    } finally {
      this.made = outside;
    }
    const kept = new Set();
    collectSlots(result, kept);
    outside?.push(...mine.filter((slot) => kept.has(slot)));
    this.release(mine.filter((slot) => !kept.has(slot)), 'left');
    return result;
  }
}

function collectSlots(value, into) {
  const state = stateOf(value);
  if (state) {
    into.add(state.slot);
  } else if (typeof value === 'object' && value !== null) {
    for (const item of Object.values(value)) collectSlots(item, into);
  }
}

/** Starts a worker and initializes the package there. Types: worker.d.ts. */
export async function connect(options = {}) {
  const connection = new Connection(options);
  try {
    return await connection.open();
  } catch (exception) {
    connection.close();
    throw exception;
  }
}
