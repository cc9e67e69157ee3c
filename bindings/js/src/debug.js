// The debug mode: records where each tensor was created, and reports tensors that are
// garbage-collected without having been disposed. If it is off, nothing is recorded.

export let isDebugging = false;

// Stack lines inside this package are omitted from reports.
const own = new URL('.', import.meta.url).href;
let report = null;
let finalizer = null;
// Maps a token to { stack } for each live tensor. The keys are tokens instead of tensors, so that
// the tensors can be collected.
const alive = new Map();
const tokens = new WeakMap();

/** Turns the debug mode on or off. Tensors that already exist are not tracked. */
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

/** Tracks a new tensor. */
export function trackTensor(tensor) {
  const token = {};
  const stack = new Error('The tensor was created here:').stack.replace(/^Error: /, '');
  const lines = stack.split('\n').filter((line) => !line.includes(own));
  alive.set(token, { stack: lines.join('\n') });
  tokens.set(tensor, token);
  finalizer.register(tensor, token, token);
}

/** Stops tracking a tensor, because it was disposed. */
export function untrackTensor(tensor) {
  const token = tokens.get(tensor);
  if (token === undefined) return;
  alive.delete(token);
  finalizer.unregister(token);
}

/** Returns the stacks of the calls that created the undisposed tensors. */
export function leaks() {
  return [...alive.values()].map((leak) => ({ ...leak }));
}
