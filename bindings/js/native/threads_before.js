// Threads run in web workers of this class. Node has no web workers, so loader.js passes a class.
var Worker = Module['Worker'] ?? globalThis.Worker;
