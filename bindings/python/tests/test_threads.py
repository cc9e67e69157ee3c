"""Threads, the GIL, interrupts, and memory leaks."""

import gc
import os
import signal
import subprocess
import sys
import textwrap
import threading
import time

import numpy
import pytest

import tenon as tn


def resident_bytes():
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def train():
    w = tn.Variable(numpy.ones((8, 8), numpy.float32))
    x = tn.ones((4, 8))
    for _ in range(20):
        with tn.GradientTape() as tape:
            loss = tn.mean(tn.square(tn.tanh(x @ w)))
        w.assign_sub(0.1 * tape.gradient(loss, w))
    return w.numpy().tolist()


def test_eight_threads_train_concurrently():
    alone = train()
    results = []
    threads = [threading.Thread(target=lambda: results.append(train())) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert results == [alone] * 8


def test_threads_call_one_function():
    @tn.function
    def step(x):
        time.sleep(0.01)
        return tn.py_function(lambda x: x + 1, [x * 2], x)

    results = []

    def run(number):
        for _ in range(20):
            results.append(step(tn.tensor(float(number))).item() == number * 2 + 1)

    threads = [threading.Thread(target=run, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert results == [True] * 80 and step.trace_count == 1


def test_a_long_call_releases_the_gil():
    x = tn.ones((600, 600))
    loop = tn.function(lambda x: tn.while_loop(lambda i, y: i < 20, lambda i, y: (i + 1, y @ x * 0.001),
                                               (tn.tensor(0), x))[1])
    loop(x)
    ticks = []
    done = threading.Event()

    def tick():
        while not done.is_set():
            ticks.append(time.perf_counter())
            time.sleep(0.001)

    thread = threading.Thread(target=tick)
    thread.start()
    begin = time.perf_counter()
    loop(x).numpy()
    end = time.perf_counter()
    done.set()
    thread.join()
    inside = [when for when in ticks if begin < when < end]
    assert len(inside) > 2


INTERRUPTED = """
    import _thread, os, signal, threading, time
    import tenon as tn

    loop = tn.function(lambda x: tn.while_loop(lambda i, y: i >= 0, lambda i, y: (i, y * 1.0),
                                               (tn.tensor(0), x))[1])
    x = tn.ones((4,))
    try:
        threading.Timer(DELAY, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
        loop(x).numpy()
    except KeyboardInterrupt:
        print("interrupted", (tn.ones((2,)) + 1).tolist())
"""


# The short delays interrupt the first call while it is traced or about to run.
@pytest.mark.parametrize("delay", [0.001, 0.005, 0.01, 0.02, 0.04, 1.0])
def test_an_interrupt_stops_a_long_call(delay):
    code = textwrap.dedent(INTERRUPTED).replace("DELAY", str(delay))
    done = subprocess.run([sys.executable, "-c", code], text=True, capture_output=True, timeout=60)
    assert done.stdout == "interrupted [2.0, 2.0]\n", done.stderr


def grows(function, rounds, allowed=2 << 20):
    """Returns whether memory grows by more than `allowed` bytes while a function is repeated."""
    for _ in range(rounds // 10):
        function()
    gc.collect()
    bytes_before, live_before = resident_bytes(), tn.memory_info()["live_buffers"]
    for _ in range(rounds):
        function()
    gc.collect()
    assert tn.memory_info()["live_buffers"] <= live_before + 2
    return resident_bytes() - bytes_before > allowed


def test_a_million_adds_leak_nothing():
    x = tn.ones((4,))

    def add():
        for _ in range(1000):
            x + x

    assert not grows(add, 1000)


def test_ten_thousand_traced_calls_leak_nothing():
    step = tn.function(lambda x, y: {"sum": x + y, "difference": x - y})
    x = tn.ones((4,))
    assert not grows(lambda: step(x, x), 10000)


def test_a_thousand_gradients_leak_nothing():
    w = tn.Variable([1.0, 2.0])

    def once():
        with tn.GradientTape() as tape:
            y = tn.sum(w * w)
        tape.gradient(y, w)

    assert not grows(once, 1000)


def test_retraces_leak_nothing():
    def once():
        tn.function(lambda x: x + 1)(tn.tensor(1.0))

    assert not grows(once, 300, 8 << 20)


def test_errors_leak_nothing():
    def once():
        with pytest.raises(tn.TenonError):
            tn.softmax([1.0], axis=9)

    assert not grows(once, 1000)
