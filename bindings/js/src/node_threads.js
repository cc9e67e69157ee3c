// Web workers in Node. The variant of the module with threads runs each thread in a web worker; Node
// has worker threads with another interface. Only Node imports this file (loader.js).

import { Worker } from 'node:worker_threads';

// Runs in the new thread: defines the globals of a web worker, and loads the worker's script. Messages
// that arrive earlier wait in the port.
const BOOTSTRAP = `
const { parentPort, workerData } = require('node:worker_threads');
globalThis.self = globalThis;
globalThis.postMessage = (message) => parentPort.postMessage(message);
import(workerData).then(() => parentPort.on('message', (data) => self.onmessage({ data })));`;

export class WebWorker extends Worker {
  constructor(url) {
    super(BOOTSTRAP, { eval: true, workerData: String(url) });
    this.on('message', (data) => {
      this.onmessage({ data });
      // A thread that waits for work does not keep the process alive.
      if (data.cmd === 'loaded') this.unref();
    });
    this.on('error', (error) => this.onerror(Object.assign(error, { filename: String(url), lineno: 0 })));
  }
}
