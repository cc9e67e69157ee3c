"""Prints how often logits are largest at the label: fashion_accuracy.py LOGITS.npy LABELS.gz"""

import array
import gzip
import pathlib
import sys

CLASSES = 10


def main(logits_path, labels_path):
    labels = gzip.decompress(pathlib.Path(labels_path).read_bytes())[8:]
    npy = pathlib.Path(logits_path).read_bytes()
    elements = npy[10 + int.from_bytes(npy[8:10], "little"):]
    header = npy[10:len(npy) - len(elements)].decode()
    if f"'<f4', 'fortran_order': False, 'shape': ({len(labels)}, {CLASSES})" not in header:
        sys.exit(f"{logits_path}: {header}")
    logits = array.array("f", elements)
    rows = (logits[i * CLASSES:(i + 1) * CLASSES] for i in range(len(labels)))
    right = sum(row.index(max(row)) == label for row, label in zip(rows, labels))
    print(f"test accuracy: {right / len(labels):.4f}")


main(*sys.argv[1:])
