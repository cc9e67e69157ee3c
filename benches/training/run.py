"""Measures training steps of five models on the CPU, beside PyTorch, on one thread.

    ratio MODEL_eager torch VALUE     time of PyTorch / time of Tenon without tracing (above 1: Tenon
                                      is faster)
    ratio MODEL_traced torch VALUE    the same with Tenon's step as a traced function
    skipped torch REASON              PyTorch is not installed

A step computes the loss and its gradients, and updates the parameters by gradient descent. All steps
begin with the same parameters, and the bench fails if the losses of three steps differ. Tenon and
PyTorch alternate in one process. Times are medians of processor times.
"""

import argparse
import json
import os
import pathlib
import statistics
import sys
import time

for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[variable] = "1"  # The libraries read these when they are loaded.

import numpy as np

import tenon as tn
from models import MODELS

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1]))
import pytorch

RATE = 0.01


def tenon_step(model, traced):
    """Returns a function that trains for one step and returns the loss."""
    variables = {name: tn.Variable(value) for name, value in model.parameters.items()}
    trained = [variable for name, variable in variables.items() if name not in model.state]
    inputs = [tn.tensor(value) for value in model.inputs]

    def step(*inputs):
        with tn.GradientTape() as tape:
            loss = model.tenon(variables, *inputs)
        for variable, gradient in zip(trained, tape.gradient(loss, trained)):
            variable.assign_sub(RATE * gradient)
        return loss

    call = tn.function(step) if traced else step
    return lambda: call(*inputs).item()


def torch_step(torch, model):
    def tensor(value):
        return torch.from_dlpack(np.array(value, copy=True))

    parameters = {name: tensor(value) for name, value in model.to_torch(model.parameters).items()}
    trained = [value.requires_grad_() for name, value in parameters.items() if name not in model.state]
    inputs = [tensor(value) for value in model.inputs]

    def step():
        loss = model.torch(torch, parameters, *inputs)
        gradients = torch.autograd.grad(loss, trained)
        with torch.no_grad():
            for value, gradient in zip(trained, gradients):
                value.sub_(gradient, alpha=RATE)
        return loss.item()

    return step


def check(name, sides):
    """Trains for three steps in each library. Fails if the losses differ."""
    losses = {side: [step() for _ in range(3)] for side, step in sides.items()}
    expected = losses["eager"]
    if expected[0] == expected[2]:
        sys.exit(f"{name}: training does not change the loss, {expected[0]}")
    for side, found in losses.items():
        if not np.allclose(found, expected, rtol=1e-3):
            sys.exit(f"{name}: the losses of {side} are {found}, but those of eager are {expected}")


def measure(sides, seconds):
    """Runs the steps in turn. Returns the median milliseconds of each."""
    times = {side: [] for side in sides}
    end = time.perf_counter() + seconds
    while len(times["eager"]) < 7 or time.perf_counter() < end:
        for side, step in sides.items():
            begin = time.process_time_ns()
            step()
            times[side].append((time.process_time_ns() - begin) / 1e6)
    return {side: statistics.median(found) for side, found in times.items()}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("models", nargs="*", metavar="MODEL", help=", ".join(MODELS))
    parser.add_argument("--seconds", type=float, default=10.0, help="time for each model (default: 10)")
    parser.add_argument("--json", type=pathlib.Path, metavar="FILE", help="writes the figures there")
    options = parser.parse_args()
    for name in options.models:
        if name not in MODELS:
            parser.error(f"there is no model {name}; there are {', '.join(MODELS)}")
    torch, figures = None, {}
    try:
        torch = pytorch.load()
    except ImportError as error:
        print(f"skipped torch {error}")
    with tn.Scope(tn.Context(threads=1)):
        for name in options.models or MODELS:
            model = MODELS[name]()
            sides = {"eager": tenon_step(model, False), "traced": tenon_step(model, True)}
            if torch:
                sides["torch"] = torch_step(torch, model)
            check(name, sides)
            figures[name] = times = measure(sides, options.seconds)
            for side in ("eager", "traced"):
                if torch:
                    print(f"ratio {name}_{side} torch {times['torch'] / times[side]:.3g}   "
                          f"# {times['torch']:.4g} ms by {times[side]:.4g} ms", flush=True)
                else:
                    print(f"time {name}_{side} {times[side]:.4g} ms", flush=True)
    if options.json:
        options.json.write_text(json.dumps(figures, indent=1) + "\n")


if __name__ == "__main__":
    main()
