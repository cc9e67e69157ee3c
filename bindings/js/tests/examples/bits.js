// Computes ops that use several threads, and digests of the bits of their results. In Node, this
// program prints them; tests/browser/bits.html imports it.
//
//   node bits.js    the environment variables TENON_VARIANT and TENON_THREADS select the variant

/** Returns a digest (FNV-1a) of the bytes of a tensor. */
function digest(tensor) {
  const data = tensor.dataSync();
  let hash = 0x811c9dc5;
  for (const byte of new Uint8Array(data.buffer, data.byteOffset, data.byteLength)) {
    hash = Math.imul(hash ^ byte, 0x01000193);
  }
  return (hash >>> 0).toString(16);
}

// Returns a tensor of numbers in [-1, 1] that are not exact in few bits.
function numbers(tenon, shape, seed) {
  const n = shape.reduce((product, size) => product * size, 1);
  return tenon.tensor(Float32Array.from({ length: n }, (_, i) => Math.sin(seed + 1.7 * i)), { shape });
}

function trainedWeights(tenon) {
  const w = new tenon.Variable(numbers(tenon, [256, 128], 5), { name: 'w' });
  const step = tenon.function((x) => {
    const { value, grads } = tenon.variableGrads(() => x.matmul(w).tanh().square().mean());
    w.assign(tenon.sgd(w, grads.w, 0.5));
    return value;
  });
  const x = numbers(tenon, [512, 256], 6);
  for (let i = 0; i < 10; ++i) step(x);
  return w.read();
}

/** Returns the environment and a digest for each computation, on an initialised package. */
export function bits(tenon) {
  const a = numbers(tenon, [512, 512], 1);
  const images = numbers(tenon, [8, 16, 32, 32], 3);
  const filter = numbers(tenon, [32, 16, 3, 3], 4);
  const long = numbers(tenon, [1 << 20], 7);
  const digests = {
    matmul: digest(a.matmul(numbers(tenon, [512, 512], 2))),
    conv: digest(tenon.conv(images, filter)),
    exp: digest(long.exp()),
    sum: digest(long.sum()),
    softmax: digest(a.softmax()),
    cumsum: digest(long.cumsum({ axis: 0 })),
    sort: digest(long.sort({ axis: 0 })),
    training: digest(trainedWeights(tenon)),
  };
  return { environment: tenon.environment(), digests };
}

if (typeof process === 'object' && process.argv?.[1]?.endsWith('bits.js')) {
  const tenon = await import('tenon-runtime');
  await tenon.init();
  const units = tenon.devices().find((device) => device.name === 'wasm:0').computeUnits;
  console.log(JSON.stringify({ ...bits(tenon), units }));
}
