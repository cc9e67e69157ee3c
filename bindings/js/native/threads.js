// JavaScript of the variant with threads. Read first: src/loader.js, which sets the properties of
// Module.

mergeInto(LibraryManager.library, {
  // Emscripten's own function fails in versions of Node without `navigator`.
  emscripten_num_logical_cores: function() {
    return Module['cores'] ?? 1;
  },

  // Emscripten's own function warns when a main thread waits. Here it waits only while other threads
  // complete tasks of the same loop (plugins/wasm/parallel_raw.cc).
  emscripten_check_blocking_allowed: function() {},
});
