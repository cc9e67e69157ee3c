// Loads Fashion-MNIST from gzipped IDX files.

async function readIdx(address, header) {
  const response = await fetch(address);
  if (!response.ok) throw new Error(`${address} cannot be read: ${response.status}`);
  const stream = response.body.pipeThrough(new DecompressionStream('gzip'));
  return new Uint8Array(await new Response(stream).arrayBuffer()).slice(header);
}

/** The pixels of all images, 784 bytes each. */
export function loadImages(address) {
  return readIdx(address, 16);
}

/** The class of each image. */
export function loadLabels(address) {
  return readIdx(address, 8);
}
