// For pages without modules: a classic script that defines `tenon`. After `await tenon.init()` it has every
// name of the package.

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
