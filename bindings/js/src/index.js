// Exports the package tenon-runtime. index.d.ts documents its API; docs/browser.md is the
// introduction.

import './symbols.js';
import { ops } from './call.js';
import './ops_gen.js';
import { Tensor } from './tensor.js';
import { addDraws } from './variables.js';

for (const { name, call, isMethod, width } of ops) {
  if (!isMethod) continue;
  const method = {
    1() {
      return call(this);
    },
    2(y) {
      return call(this, y);
    },
    0(...args) {
      return call(this, ...args);
    },
  }[width];
  Object.defineProperty(Tensor.prototype, name, { value: method, writable: true, configurable: true });
}
addDraws();

export * from './ops_gen.js';
export { Tensor, scalar, tensor } from './tensor.js';
export { TenonError } from './errors.js';
export { dtypes } from './dtypes.js';
export { environment, init } from './loader.js';
export { Scope, cancel, currentDevice, keep, setDevice, tidy as scope } from './scope.js';
export { leaks } from './debug.js';
export { setDebug as debug } from './debug.js';
export { Generator, Variable } from './variables.js';
export { Tape, customGradient, grad, grads, tape, valueAndGrad, valueAndGrads, variableGrads } from './gradients.js';
export { cond, isTracing, scan, shape, switchCase, whileLoop } from './control.js';
export { TensorSpec, Trace, runFunctionsEagerly, tenonFunction as function } from './functions.js';
export { TensorList, asList } from './lists.js';
export { assert, hostCall, print, setPrint } from './effects.js';
export { Program, Safetensors, loadSafetensors, openProgram, saveProgram, saveSafetensors } from './files.js';
export { listStored, readStored, removeStored, storeFiles } from './storage.js';
export { loadPlugin } from './plugins.js';
export { customOp, findOp, opName } from './custom.js';
export {
  Profiler, devices, memoryInfo as memory, passes, plugins, resetPeak, setPass, synchronize, synchronizeSync, trim, version,
} from './devices.js';
