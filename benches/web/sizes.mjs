// The sizes and numbers that all libraries use in their cases.

export * from '../../examples/page/compare/data.mjs';

export const CHAIN = 20; // Number of additions in the gradient chain.
export const NODES = 100; // Number of products of 4 by 4 matrices in the graph of the case traced_node.
export const HIDDEN = 64; // Features of the LSTM step made of elementary ops; batch size 1.
export const SEQUENCE = 32; // Number of steps of the LSTM op.
export const WIDE = 128; // Number of features of the LSTM op.
