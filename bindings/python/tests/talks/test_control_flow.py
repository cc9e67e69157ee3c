"""Programs from the talks on AutoGraph: control flow, with expected outputs and numbers of
traces."""

import numpy as np
import pytest
import tenon as tn


def value(result):
    return result.numpy().tolist()


def test_01_if_on_a_tensor_computes_the_absolute_value():
    @tn.function
    def absolute(x):
        if x >= 0:
            return x
        else:
            return -x

    assert [value(absolute(tn.constant(x))) for x in (3.0, -3.0, 0.0)] == [3.0, 3.0, 0.0]
    assert absolute.trace_count == 1


def test_02_collatz_loop_of_tensors_has_one_trace():
    @tn.function
    def steps(a):
        count = 0
        while a != 1:
            if a % 2 == 0:
                a = a // 2
            else:
                a = 3 * a + 1
            count += 1
        return count

    assert [value(steps(tn.constant(a))) for a in (6, 27, 1)] == [8, 111, 0]
    assert steps.trace_count == 1


def test_03_print_in_a_loop_prints_each_value(capfd):
    @tn.function
    def show(a):
        while a != 1:
            a = a // 2 if a % 2 == 0 else 3 * a + 1
            tn.print(a)

    show(tn.constant(6))
    assert capfd.readouterr().out.split() == "3 10 5 16 8 4 2 1".split()


def test_04_fizzbuzz_prints_from_the_graph(capfd):
    @tn.function
    def fizzbuzz(limit):
        for number in tn.range(1, limit + 1):
            if number % 15 == 0:
                tn.print("FizzBuzz")
            elif number % 3 == 0:
                tn.print("Fizz")
            elif number % 5 == 0:
                tn.print("Buzz")
            else:
                tn.print(number)

    fizzbuzz(tn.constant(5))
    fizzbuzz(tn.constant(3))
    assert capfd.readouterr().out.split() == "1 2 Fizz 4 Buzz 1 2 Fizz".split()
    assert fizzbuzz.trace_count == 1


def test_05_fizzbuzz_counts_for_tensors_and_python_numbers():
    @tn.function
    def count(limit):
        fizz, buzz = 0, 0
        for i in range(1, limit + 1):
            fizz += 1 if i % 3 == 0 else 0
            if i % 5 == 0:
                buzz += 1
        return fizz, buzz

    assert [value(item) for item in count(tn.constant(30))] == [10, 6]
    assert count(30) == (10, 6)  # Python decides a number while tracing.
    assert count.trace_count == 2


def test_06_range_of_a_thousand_is_not_unrolled():
    @tn.function
    def add(x):
        for i in tn.range(1000):
            x += float(i)
        return x

    assert value(add(tn.constant(0.0))) == 499500.0
    assert len(add.traces[0].text.splitlines()) < 40


def test_07_loop_over_a_python_range_is_unrolled():
    @tn.function
    def add(x):
        for _ in range(20):
            x = x + 1.0
        return x

    assert value(add(tn.constant(0.0))) == 20.0
    assert add.traces[0].text.count("add(") == 20


def test_08_rnn_with_an_unknown_length_has_one_trace():
    @tn.function(input_signature=[tn.TensorSpec((None, 2), tn.float32)])
    def rnn(inputs):
        state = tn.zeros((2,))
        outputs = []
        for step in inputs:
            state = state * 0.5 + step
            outputs.append(state)
        return tn.stack(outputs), state

    outputs, state = rnn(tn.constant([[1.0, 0.0], [0.0, 2.0], [4.0, 0.0]]))
    assert value(outputs) == [[1.0, 0.0], [0.5, 2.0], [4.25, 1.0]]
    assert value(state) == [4.25, 1.0]
    assert value(rnn(tn.constant([[1.0, 1.0]]))[0]) == [[1.0, 1.0]]
    assert rnn.trace_count == 1


def test_09_tensor_array_collects_the_outputs_of_an_rnn():
    @tn.function
    def rnn(inputs):
        outputs = tn.TensorArray(tn.float32, 3)
        state = tn.zeros((2,))
        for i in tn.range(3):
            state = tn.tanh(state + inputs[i])
            outputs = outputs.write(i, state)
        return outputs.stack()

    inputs = tn.constant([[1.0, 0.0], [0.0, 2.0], [4.0, 0.0]])
    state, expected = tn.zeros((2,)), []
    for row in inputs:
        state = tn.tanh(state + row)
        expected.append(value(state))
    assert np.allclose(rnn(inputs).numpy(), expected)


def test_10_break_ends_a_loop_early():
    @tn.function
    def until(values, stop):
        total = 0.0
        for item in values:
            if item == stop:
                break
            total += item
        return total

    values = tn.constant([1.0, 2.0, 9.0, 4.0])
    assert value(until(values, tn.constant(9.0))) == 3.0
    assert value(until(values, tn.constant(7.0))) == 16.0
    assert until.trace_count == 1


def test_11_continue_skips_odd_numbers():
    @tn.function
    def even_sum(n):
        total = 0
        for i in tn.range(n):
            if i % 2 > 0:
                continue
            total += i
        return total

    assert value(even_sum(tn.constant(10))) == 20


def test_12_return_inside_a_loop_finds_the_first_index():
    @tn.function
    def find(values, wanted):
        for i, item in enumerate(values):
            if item == wanted:
                return i
        return -1

    values = tn.constant([5.0, 7.0, 9.0])
    assert [value(find(values, tn.constant(x))) for x in (7.0, 8.0)] == [1, -1]


def test_13_newton_loop_computes_a_square_root():
    @tn.function
    def root(x):
        guess = x
        while tn.abs(guess * guess - x) > 1e-4:
            guess = 0.5 * (guess + x / guess)
        return guess

    assert value(root(tn.constant(2.0))) == pytest.approx(2**0.5, abs=1e-4)


def test_14_while_on_an_integer_tensor_computes_the_gcd():
    @tn.function
    def gcd(a, b):
        while b:
            a, b = b, a % b
        return a

    assert value(gcd(tn.constant(48), tn.constant(36))) == 12


def test_15_line_search_halves_the_rate_until_the_loss_falls():
    @tn.function
    def search(x, direction, rate):
        best = tn.sum(x * x)
        while tn.sum((x + rate * direction) ** 2.0) > best:
            rate = rate * 0.5
        return rate

    rate = search(tn.constant([3.0]), tn.constant([-1.0]), tn.constant(64.0))
    assert value(rate) == 4.0


def test_16_nested_loops_with_break_count_primes():
    @tn.function
    def primes(limit):
        count = 0
        for n in tn.range(2, limit):
            divides = False
            for k in tn.range(2, n):
                if n % k == 0:
                    divides = True
                    break
            if not divides:
                count += 1
        return count

    assert value(primes(tn.constant(30))) == 10


def test_17_recursion_on_python_numbers_is_unrolled():
    @tn.function
    def power(x, n):
        if n == 0:
            return 1.0
        return x * power.python_function(x, n - 1)

    assert value(power(tn.constant(2.0), 5)) == 32.0
    assert power.trace_count == 1


def test_18_boolean_operators_are_lazy():
    @tn.function
    def safe(values, i):
        return i < 3 and values[i] > 2.0

    values = tn.constant([1.0, 5.0, 2.0])
    assert [value(safe(values, tn.constant(i))) for i in (0, 1, 7)] == [False, True, False]


def test_19_assertion_runs_in_the_graph():
    @tn.function
    def checked(x):
        assert x > 0, "x must be positive"
        return tn.log(x)

    assert value(checked(tn.constant(1.0))) == 0.0
    with pytest.raises(tn.TenonError, match="x must be positive"):
        checked(tn.constant(-1.0))


def test_20_converted_code_can_be_read():
    @tn.function
    def f(x):
        if x > 0:
            x = x * x
        return x

    text = tn.autograph.to_code(f.python_function)
    assert "ag__.if_stmt(x > 0, then_1, else_1, ('x',)" in text
    assert "def then_1():" in text
