// Downloads whose progress callers can observe.

import { TenonError } from './errors.js';

/** Requests an address. Throws if the server does not return the file. */
export async function request(address) {
  const response = await fetch(address);
  if (!response.ok) throw new TenonError('UNAVAILABLE', `${address} cannot be read: ${response.status} ${response.statusText}`);
  return response;
}

/** Returns the length of a response's body in bytes; null if it is unknown. */
function lengthOf({ headers }) {
  // Content-Length counts compressed bytes, but the body of a response consists of decompressed ones.
  if (headers.get('Content-Encoding') || !headers.get('Content-Length')) return null;
  return Number(headers.get('Content-Length'));
}

/** Counts the bytes of one or several downloads, and reports each change to `progress`. */
export class Transfer {
  constructor(progress) {
    this.progress = progress;
    this.loaded = 0;
    this.total = 0;
  }

  /** Returns a response with the same body, which this object counts while the body is read. */
  count(response) {
    if (!this.progress || !response.body) return response;
    this.expect(lengthOf(response));
    const counter = new TransformStream({
      transform: (chunk, controller) => {
        this.add(chunk.byteLength);
        controller.enqueue(chunk);
      },
    });
    return new Response(response.body.pipeThrough(counter), { headers: response.headers });
  }

  /** Adds to the expected total; null makes the total unknown. */
  expect(bytes) {
    this.total = this.total === null || bytes === null ? null : this.total + bytes;
  }

  /** Adds bytes that have arrived. */
  add(bytes) {
    this.loaded += bytes;
    if (this.total !== null && this.loaded > this.total) this.total = null;
    this.progress?.({ loaded: this.loaded, total: this.total });
  }
}
