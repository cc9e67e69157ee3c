// The debug mode: remembers where each tensor was made, and reports those that are collected as garbage
// without having been disposed. Without it nothing is remembered and nothing is finalised.

export let isDebugging = false;

// The lines of a stack that are inside this package say nothing about a leak.
const own = new URL('.', import.meta.url).href;
let report = null;
let finalizer = null;
// From a tensor's token to what is known of it. The token is not the tensor, which may be collected.
const alive = new Map();
const tokens = new WeakMap();

/** Turns the debug mode on or off. Tensors that were made before are not known to it. */
export function setDebug(on, onLeak) {
  isDebugging = on;
  report = onLeak ?? ((leak) => console.warn(`tenon: a tensor was not disposed. ${leak.stack}`));
  if (!on) return alive.clear();
  finalizer ??= new FinalizationRegistry((token) => {
    const leak = alive.get(token);
    if (!leak) return;
    alive.delete(token);
    if (isDebugging) report(leak);
  });
}

/** Notes a new tensor. */
export function born(tensor) {
  const token = {};
  const stack = new Error('It was made here:').stack.replace(/^Error: /, '');
  const lines = stack.split('\n').filter((line) => !line.includes(own));
  alive.set(token, { stack: lines.join('\n') });
  tokens.set(tensor, token);
  finalizer.register(tensor, token, token);
}

/** Notes that a tensor was disposed. */
export function buried(tensor) {
  const token = tokens.get(tensor);
  if (token === undefined) return;
  alive.delete(token);
  finalizer.unregister(token);
}

/** Where the tensors that are not disposed were made. */
export function leaks() {
  return [...alive.values()].map((leak) => ({ ...leak }));
}
