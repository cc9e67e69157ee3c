// The JavaScript functions that native/callbacks.c imports. They call `entries` of
// src/callbacks.js, which the loader stores in `Module.tenon`.

const arities = {
  block: 6, tensors: 6, body: 8, backward: 5, done: 2, text: 2, log: 3, infer: 6, compute: 6, decompose: 7,
  custom_backward: 6, destroy: 1,
};
const library = {};
for (const [kind, arity] of Object.entries(arities)) {
  const parameters = Array.from({ length: arity }, (_, i) => `a${i}`).join(', ');
  library[`tenon_js_${kind}`] = new Function(parameters, `return Module['tenon'].${kind}(${parameters});`);
}
mergeInto(LibraryManager.library, library);
