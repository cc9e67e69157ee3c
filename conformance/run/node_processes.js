// Child processes for the conformance kit in Node; node_workers.cc declares the functions.
//
// The kit blocks its thread while it waits, so a second thread starts the processes and reads their
// output. The kit's thread waits for a counter in shared memory and reads the messages synchronously.
// Emscripten's optimiser does not know destructuring, so this file does not use it.

mergeInto(LibraryManager.library, {
  $tenonProcesses: { port: null, counter: null },
  // With NODERAWFS, Emscripten takes the standard streams for terminals, and the kit would print its
  // progress to files.
  $tenonProcesses__postset: 'addOnInit(function() { if (ENVIRONMENT_IS_NODE) for (var fd = 0; fd < 3; ++fd) ' +
      "FS.getStream(fd).tty = require('tty').isatty(fd); });",

  // The function of the second thread.
  $tenonProcessThread: function() {
    const childProcess = require('child_process');
    const data = require('worker_threads').workerData;
    const children = new Map();
    function post(text) {
      data.port.postMessage(text);
      Atomics.add(data.counter, 0, 1);
      Atomics.notify(data.counter, 0);
    }
    function start(id, args) {
      const words = data.command.slice(1).concat(args);
      const child = childProcess.spawn(data.command[0], words, { stdio: ['pipe', 'pipe', 'inherit'] });
      let rest = '';
      child.stdout.setEncoding('utf8').on('data', function(chunk) {
        const lines = (rest + chunk).split('\n');
        rest = lines.pop();
        for (const line of lines) post(id + '>' + line);
      });
      child.stdin.on('error', function() {});  // The process has ended, which `close` reports.
      child.on('error', function(error) {
        post(id + '!the process cannot be started: ' + error.message);
      });
      child.on('close', function(code, signal) {
        post(id + (signal ? '!the process was killed by the signal: ' + signal : '!the process exited with ' + code));
      });
      children.set(id, child);
    }
    data.port.on('message', function(message) {
      if (message.args) start(message.id, message.args);
      else if (message.line) children.get(message.id).stdin.write(message.line);
      else children.get(message.id).kill('SIGKILL');
    });
  },

  tenon_kit_cores: function() {
    return ENVIRONMENT_IS_NODE ? require('os').cpus().length : 0;
  },

  tenon_kit_start__deps: ['$tenonProcesses', '$tenonProcessThread'],
  tenon_kit_start: function(id, args) {
    if (!tenonProcesses.port) {
      const threads = require('worker_threads');
      const channel = new threads.MessageChannel();
      tenonProcesses.port = channel.port1;
      tenonProcesses.counter = new Int32Array(new SharedArrayBuffer(4));
      const workerData = {
        port: channel.port2,
        counter: tenonProcesses.counter,
        command: [process.execPath].concat(process.execArgv, __filename),
      };
      const source = '(' + tenonProcessThread.toString() + ')()';
      new threads.Worker(source, { eval: true, workerData: workerData, transferList: [channel.port2] }).unref();
      channel.port1.unref();
    }
    tenonProcesses.port.postMessage({ id: id, args: JSON.parse(UTF8ToString(args)) });
  },

  tenon_kit_send__deps: ['$tenonProcesses'],
  tenon_kit_send: function(id, line) {
    tenonProcesses.port.postMessage({ id: id, line: UTF8ToString(line) });
  },

  tenon_kit_kill__deps: ['$tenonProcesses'],
  tenon_kit_kill: function(id) {
    tenonProcesses.port.postMessage({ id: id });
  },

  tenon_kit_receive__deps: ['$tenonProcesses', '$stringToNewUTF8'],
  tenon_kit_receive: function(milliseconds) {
    const threads = require('worker_threads');
    const end = Date.now() + milliseconds;
    for (;;) {
      const seen = Atomics.load(tenonProcesses.counter, 0);
      const received = threads.receiveMessageOnPort(tenonProcesses.port);
      if (received) return stringToNewUTF8(received.message);
      if (Date.now() >= end) return 0;
      Atomics.wait(tenonProcesses.counter, 0, seen, end - Date.now());
    }
  },
});
