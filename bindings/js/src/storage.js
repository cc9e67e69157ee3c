// Files in the browser's database IndexedDB, addressed as indexeddb://NAME.
//
// The database `tenon` has two object stores, both keyed by NAME: `files` has the contents, and
// `entries` has their descriptions, so that listing does not read the contents.

import { TenonError, invalid } from './errors.js';

const SCHEME = 'indexeddb://';
const STORES = ['files', 'entries'];

/** Returns whether a source is an address of this database. */
export function isStored(source) {
  return (typeof source === 'string' || source instanceof URL) && String(source).startsWith(SCHEME);
}

function nameOf(address) {
  const name = isStored(address) ? String(address).slice(SCHEME.length) : '';
  if (name === '') throw invalid(`expected an address such as indexeddb://NAME, but got '${address}'`);
  return name;
}

/** Returns a Promise for the result of an IDBRequest. */
function resultOf(operation, event = 'onsuccess') {
  return new Promise((resolve, reject) => {
    operation[event] = () => resolve(operation.result);
    operation.onerror = () => reject(operation.error);
    operation.onblocked = operation.onabort = () => reject(operation.error ?? new Error('IndexedDB is blocked by another page'));
  });
}

/** Runs `body` on the object stores in one transaction, and returns its result after the commit. */
async function inTransaction(mode, body) {
  if (typeof indexedDB === 'undefined') throw new TenonError('UNAVAILABLE', 'this environment has no IndexedDB');
  const opening = indexedDB.open('tenon', 1);
  opening.onupgradeneeded = () => STORES.forEach((name) => opening.result.createObjectStore(name));
  const database = await resultOf(opening);
  try {
    const transaction = database.transaction(STORES, mode);
    const done = resultOf(transaction, 'oncomplete');
    const result = body(...STORES.map((name) => transaction.objectStore(name)));
    await done;
    return result?.result;
  } finally {
    database.close();
  }
}

function isBytes(files) {
  return files instanceof Uint8Array;
}

/** Copies a view of a larger buffer, because IndexedDB would store the whole buffer. */
function compact(data) {
  return data.length === data.buffer.byteLength ? data : data.slice();
}

/** Stores files under an address and replaces those that it had. Types: files.d.ts. */
export async function storeFiles(address, files) {
  const name = nameOf(address);
  const all = isBytes(files) ? [files] : Object.values(files);
  if (!all.every(isBytes)) throw invalid('storeFiles: expected a Uint8Array, or an object of Uint8Arrays by file name');
  const entry = {
    bytes: all.reduce((sum, data) => sum + data.length, 0),
    files: isBytes(files) ? [] : Object.keys(files),
    stored: new Date(),
  };
  const content = isBytes(files) ? compact(files) :
      Object.fromEntries(Object.entries(files).map(([file, data]) => [file, compact(data)]));
  await inTransaction('readwrite', (contents, entries) => {
    contents.put(content, name);
    entries.put(entry, name);
  });
}

/** Returns the files of an address. Types: files.d.ts. */
export async function readStored(address) {
  const name = nameOf(address);
  const files = await inTransaction('readonly', (contents) => contents.get(name));
  if (files === undefined) throw new TenonError('NOT_FOUND', `nothing is stored as '${address}'; listStored() lists what is`);
  return files;
}

/** Lists what is stored. Types: files.d.ts. */
export async function listStored() {
  let keys;
  const all = await inTransaction('readonly', (contents, entries) => {
    keys = entries.getAllKeys();
    return entries.getAll();
  });
  return all.map((entry, i) => ({ address: SCHEME + keys.result[i], ...entry }));
}

/** Deletes the files of an address. Types: files.d.ts. */
export async function removeStored(address) {
  const name = nameOf(address);
  const found = await inTransaction('readwrite', (contents, entries) => {
    contents.delete(name);
    const key = entries.getKey(name);
    entries.delete(name);
    return key;
  });
  return found !== undefined;
}
