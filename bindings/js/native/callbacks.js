// The JavaScript functions that native/callbacks.c imports. They call `entries` of
// src/callbacks.js, which the loader stores in `Module.tenon`.

const arities = {
  block: 6, tensors: 6, body: 8, backward: 5, done: 2, text: 2, log: 3, infer: 6, compute: 6, decompose: 7,
  custom_backward: 6, destroy: 1, left_out: 0,
};
const without_result = ['done', 'text', 'log', 'destroy', 'left_out'];
const library = {};
for (const [kind, arity] of Object.entries(arities)) {
  const parameters = Array.from({ length: arity }, (_, i) => `a${i}`).join(', ');
  library[`tenon_js_${kind}`] = new Function(parameters, `return Module['tenon'].${kind}(${parameters});`);
  // Dynamic linking needs the types: all are 32-bit integers.
  library[`tenon_js_${kind}__sig`] = (without_result.includes(kind) ? 'v' : 'i') + 'i'.repeat(arity);
}
mergeInto(LibraryManager.library, library);
