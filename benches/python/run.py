"""Measures the overhead of Python over a call of the C ABI, and compares Tenon with NumPy, PyTorch,
JAX and TensorFlow where they are installed.

    overhead python NANOSECONDS         an eager add of one element, minus the same in C
    overhead_call python NANOSECONDS    a call of a traced function, minus the same in C
    ratio NAME PEER VALUE               time of the peer / time of Tenon (above 1: Tenon is faster)
    conversion_ms autograph VALUE       conversion of a function of 200 lines by AutoGraph
    import_ms tenon VALUE               `import tenon`, minus `import numpy`
    skipped PEER REASON                 the peer is not installed

Tenon and the peer (or C) alternate in one process, a new one for each peer. Each figure is the
ratio or the difference of the medians.
"""

import argparse
import ctypes
import importlib
import json
import linecache
import pathlib
import statistics
import subprocess
import sys
import time

import numpy

import tenon as tn

def repeated(function, repetitions, clock=time.perf_counter_ns):
    """Returns the nanoseconds per call of a function without arguments."""
    begin = clock()
    for _ in range(repetitions):
        function()
    return (clock() - begin) / repetitions


def eager_ratio(function, graph, limit):
    """Returns the factor by which a graph is faster than its eager code. Both run on one thread.
    Measures processor time, which other processes hardly affect."""
    graph(limit)
    clock = time.process_time_ns
    ours, eager = medians([lambda: repeated(lambda: graph(limit).item(), 5, clock),
                           lambda: repeated(lambda: function(limit), 1, clock)], 7)
    return eager / ours


def medians(measurements, rounds):
    """Returns the median of each measurement over all rounds. In each round the measurements take
    turns."""
    results = [[] for _ in measurements]
    for _ in range(rounds):
        for measure, found in zip(measurements, results):
            found.append(measure())
    return [statistics.median(found) for found in results]


def adds(repetitions):
    """Returns two functions that measure `x + x`, in Tenon and in C, without the cost of the Python
    loop."""
    x = tn.tensor([1.0])

    def tenon():
        begin = time.perf_counter_ns()
        for _ in range(repetitions):
            x + x
        return (time.perf_counter_ns() - begin) / repetitions

    def loop():
        begin = time.perf_counter_ns()
        for _ in range(repetitions):
            pass
        return (time.perf_counter_ns() - begin) / repetitions

    return tenon, loop


def chain(x, tanh, multiply):
    for _ in range(10):
        x = tanh(multiply(x, 1.01))
    return x


def tenon_gradient(value):
    x = tn.tensor(value)

    def run():
        with tn.GradientTape() as tape:
            tape.watch(x)
            y = tn.sum(chain(x, tn.tanh, tn.mul))
        tape.gradient(y, x)

    return run


def torch_gradient(torch, value):
    x = torch.tensor(value, requires_grad=True)

    def run():
        torch.autograd.grad(chain(x, torch.tanh, torch.mul).sum(), x)

    return run


def autograph_loop():
    def count(n):
        i = tn.tensor(0)
        total = tn.tensor(0.0)
        while i < n:
            total = total + 1.5
            i = i + 1
        return total

    return count


def tensorflow_loop(tf):
    @tf.function
    def count(n):
        i = tf.constant(0)
        total = tf.constant(0.0)
        while i < n:
            total = total + 1.5
            i = i + 1
        return total

    return count


def branching_loop():
    def count(n):
        i = tn.tensor(0)
        total = tn.tensor(0.0)
        while i < n:
            if i % 2 == 0:
                total = total + 1.5
            else:
                total = total - 0.5
            i = i + 1
        return total

    return count


def mlp_values():
    """Returns the inputs, the labels and the weights of the training step: 32 rows, 64 hidden
    units."""
    draw = numpy.random.default_rng(0)
    weights = [draw.normal(0, 0.1, shape).astype(numpy.float32)
               for shape in ((784, 64), (64,), (64, 10), (10,))]
    return (draw.normal(size=(32, 784)).astype(numpy.float32),
            draw.integers(0, 10, 32).astype(numpy.int32), weights)


def tenon_step():
    x, labels, values = mlp_values()
    x, labels = tn.tensor(x), tn.tensor(labels)
    weights = [tn.Variable(value) for value in values]

    @tn.function
    def step(x, labels):
        w1, b1, w2, b2 = weights
        with tn.GradientTape() as tape:
            logits = tn.relu(x @ w1 + b1) @ w2 + b2
            loss = tn.sparse_softmax_cross_entropy(logits, labels)[0]
        for weight, gradient in zip(weights, tape.gradient(loss, weights)):
            weight.assign_sub(0.01 * gradient)
        return loss

    return lambda: step(x, labels).item()


def jax_step(jax):
    x, labels, weights = mlp_values()
    jnp = jax.numpy

    def loss_of(weights, x, labels):
        w1, b1, w2, b2 = weights
        logits = jax.nn.relu(x @ w1 + b1) @ w2 + b2
        return -jnp.mean(jnp.take_along_axis(jax.nn.log_softmax(logits), labels[:, None], 1))

    @jax.jit
    def step(weights, x, labels):
        loss, gradients = jax.value_and_grad(loss_of)(weights, x, labels)
        return loss, [w - 0.01 * g for w, g in zip(weights, gradients)]

    state = [jnp.asarray(weight) for weight in weights]
    x, labels = jnp.asarray(x), jnp.asarray(labels)

    def run():
        loss, state[:] = step(state, x, labels)
        return float(loss)

    return run


def torch_step(torch):
    x, labels, values = mlp_values()
    x, labels = torch.tensor(x), torch.tensor(labels).long()
    weights = [torch.tensor(value, requires_grad=True) for value in values]

    @torch.compile
    def step(x, labels):
        w1, b1, w2, b2 = weights
        logits = torch.relu(x @ w1 + b1) @ w2 + b2
        return torch.nn.functional.cross_entropy(logits, labels)

    def run():
        loss = step(x, labels)
        gradients = torch.autograd.grad(loss, weights)
        with torch.no_grad():
            for weight, gradient in zip(weights, gradients):
                weight.sub_(gradient, alpha=0.01)
        return loss.item()

    return run


def conversion_milliseconds():
    """Returns the milliseconds that AutoGraph needs to convert a function of 200 lines. Each
    measurement converts a new function."""
    times = []
    for at in range(7):
        lines = ["def function(x):"]
        for block in range(50):
            lines += [f"    if x > {block}:", f"        x = x - {block}", "    else:",
                      f"        x = x + {at}"]
        source, filename = "\n".join([*lines, "    return x", ""]), f"<bench {at}>"
        linecache.cache[filename] = (len(source), None, source.splitlines(True), filename)
        namespace = {}
        exec(compile(source, filename, "exec"), namespace)
        begin = time.process_time()
        tn.autograph.convert(namespace["function"])
        times.append(1000 * (time.process_time() - begin))
    return statistics.median(times)


def import_milliseconds():
    code = ("import numpy, time; begin = time.process_time(); import tenon; "
            "print(1000 * (time.process_time() - begin))")
    return statistics.median(float(subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout)
        for _ in range(7))


def compare_step(name, make, library, report):
    """Compares a training step of two dense layers, compiled as one graph in each library."""
    try:
        theirs_step = make(library)
        theirs_step()
    except Exception as error:  # For example, torch.compile needs a compiler.
        print(f"skipped traced_mlp_step {name} {str(error).splitlines()[0]}")
        return
    step = tenon_step()
    step()
    ours, theirs = medians([lambda: repeated(step, 50), lambda: repeated(theirs_step, 50)], 11)
    report(f"ratio traced_mlp_step {name}", theirs / ours)


def compare_torch(torch, rounds, report):
    compare_step("torch_compile", torch_step, torch, report)
    torch.set_num_threads(1)
    n, x, b = 20000, tn.tensor([1.0]), torch.ones(1)
    ours, theirs = medians([lambda: repeated(lambda: x + x, n),
                            lambda: repeated(lambda: b + b, n)], rounds)
    report("ratio add torch", theirs / ours)
    value = [0.5] * 16
    ours, theirs = medians([lambda: repeated(tenon_gradient(value), 200),
                            lambda: repeated(torch_gradient(torch, value), 200)], rounds)
    report("ratio grad_chain torch", theirs / ours)


def compare_jax(jax, rounds, report):
    compare_step("jax", jax_step, jax, report)


def compare_tensorflow(tf, rounds, report):
    graph, limit = tn.function(autograph_loop()), tn.tensor(1000)
    theirs_count, theirs_limit = tensorflow_loop(tf), tf.constant(1000)
    theirs_count(theirs_limit)
    ours, theirs = medians([lambda: repeated(lambda: graph(limit).item(), 5),
                            lambda: repeated(lambda: theirs_count(theirs_limit).numpy(), 5)], 7)
    report("ratio autograph_loop_1000 tensorflow", theirs / ours)


PEERS = {"torch": compare_torch, "jax": compare_jax, "tensorflow": compare_tensorflow}


def compare_peer(name, rounds, report):
    """Compares with one peer in this process."""
    try:
        library = importlib.import_module(name)
    except ImportError as error:
        print(f"skipped {name} {error}")
        return
    PEERS[name](library, rounds, report)


def compare_in_child(name, rounds, report):
    """Compares with one peer in a new process, because some peers cannot be loaded into the same
    process."""
    child = subprocess.run([sys.executable, __file__, "--peer", name, "--rounds", str(rounds)],
                           stdout=subprocess.PIPE, text=True)
    for line in child.stdout.splitlines():
        if line.startswith("ratio "):
            figure, value = line.rsplit(" ", 1)
            report(figure, float(value))
        else:
            print(line)
    if child.returncode != 0:
        sys.exit(f"the process that compares with {name} failed")


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", default="build/release", type=pathlib.Path)
    parser.add_argument("--rounds", default=31, type=int)
    parser.add_argument("--json", type=pathlib.Path)
    parser.add_argument("--peer", choices=PEERS, help="compares with this peer only")
    options = parser.parse_args()
    figures = {}

    def report(name, value):
        figures[name] = value
        print(f"{name} {value:.3g}", flush=True)

    if options.peer:
        compare_peer(options.peer, options.rounds, report)
        return
    n = 20000
    calls = ctypes.CDLL(str(options.build.resolve() / "libbench_calls.so"))
    for name in ("bench_c_eager_add", "bench_c_function_call"):
        getattr(calls, name).restype = ctypes.c_int64
        getattr(calls, name).argtypes = [ctypes.c_int64]
    tenon_add, loop = adds(n)
    ours, empty, c = medians([tenon_add, loop, lambda: calls.bench_c_eager_add(n) / n], options.rounds)
    report("overhead python", ours - empty - c)

    x = tn.tensor([1.0])
    traced = tn.function(lambda a, b: a + b)
    ours, c = medians([lambda: repeated(lambda: traced(x, x), 2000),
                       lambda: calls.bench_c_function_call(2000) / 2000], options.rounds)
    report("overhead_call python", ours - c)

    a = numpy.ones(1, numpy.float32)
    ours, theirs = medians([lambda: repeated(lambda: x + x, n), lambda: repeated(lambda: a + a, n)],
                           options.rounds)
    report("ratio add numpy", theirs / ours)

    count = autograph_loop()
    graph, limit = tn.function(count), tn.tensor(1000)
    report("ratio autograph_loop_1000 eager", eager_ratio(count, graph, limit))

    branching = branching_loop()
    report("ratio autograph_branches_1000 eager",
           eager_ratio(branching, tn.function(branching), limit))
    report("conversion_ms autograph", conversion_milliseconds())

    for name in PEERS:
        compare_in_child(name, options.rounds, report)
    report("import_ms tenon", import_milliseconds())
    if options.json:
        options.json.write_text(json.dumps(figures, indent=1) + "\n")


if __name__ == "__main__":
    main()
