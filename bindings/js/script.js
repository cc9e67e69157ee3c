// For pages without modules: a classic script that defines the global `tenon`. After
// `await tenon.init()`, it has all exports of the package.

(() => {
  const here = document.currentScript.src;
  globalThis.tenon = {
    async init(options) {
      const all = await import(new URL('./src/index.js', here));
      await all.init(options);
      globalThis.tenon = all;
      return all;
    },
  };
})();
