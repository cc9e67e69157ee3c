// The case of onnxruntime-web on one thread: it runs an ONNX model that Tenon has saved.

import * as ort from '../peers/onnxruntime/ort.wasm.min.mjs';
import { noise, serveCases } from './sizes.js';

serveCases(async () => {
  ort.env.wasm.numThreads = 1;
  ort.env.logLevel = 'error';
  return {
    async model({ files, shape }) {
      const session = await ort.InferenceSession.create(files['classify.2.onnx'], { externalData: [
        { path: 'weights.safetensors', data: files['weights.safetensors'] }] });
      const images = new ort.Tensor('float32', noise(shape.reduce((a, b) => a * b, 1), 7), shape);
      return () => session.run({ [session.inputNames[0]]: images });
    },
  };
});
