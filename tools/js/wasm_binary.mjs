// Reads the binary format of WebAssembly.

/** Returns the unsigned LEB128 number at an offset, and the offset after it. */
export function readLeb(bytes, at) {
  let value = 0;
  for (let shift = 0; ; shift += 7) {
    const byte = bytes[at++];
    value += (byte & 127) * 2 ** shift;
    if (byte < 128) return [value, at];
  }
}
