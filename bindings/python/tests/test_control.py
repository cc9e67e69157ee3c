"""Branches, loops, lists and effects have the same results eagerly and in functions."""

import pytest

import tenon as tn


@pytest.fixture(params=["eager", "traced"])
def run(request):
    """Returns a function that calls another function, eagerly or as a graph."""
    if request.param == "eager":
        return lambda function, *args: function(*args)
    return lambda function, *args: tn.function(function, autograph=False)(*args)


def test_cond_runs_the_selected_branch(run, same):
    def absolute(x):
        return tn.cond(x > 0, lambda: {"y": x}, lambda: {"y": -x})["y"]

    same(run(absolute, tn.tensor(-2.0)), 2)
    same(run(absolute, tn.tensor(3.0)), 3)
    same(run(tn.grad(absolute), tn.tensor(-2.0)), -1)
    assert tn.cond(True, lambda: "python", lambda: None) == "python"


def test_branches_of_different_structure_are_an_error():
    def wrong(x):
        return tn.cond(x > 0, lambda: (x, x), lambda: [x, x])

    with pytest.raises(TypeError, match=r"tuple\(\*, \*\) and list\(\*, \*\)"):
        tn.function(wrong)(tn.tensor(1.0))


def test_switch_case_runs_the_last_branch_for_a_large_index(run, same):
    def choose(i):
        return tn.switch_case(i, [lambda: tn.tensor(10), lambda: tn.tensor(20)])

    same(run(choose, tn.tensor(0)), 10)
    same(run(choose, tn.tensor(7)), 20)


def test_while_loop_carries_trees_of_values(run, same):
    def count(n):
        return tn.while_loop(lambda i, s: i < n, lambda i, s: (i + 1, {"sum": s["sum"] + i}),
                             (tn.tensor(0), {"sum": tn.tensor(0)}))

    i, s = run(count, tn.tensor(5))
    same(i, 5)
    same(s["sum"], 10)


def test_while_loop_is_differentiable(run, same):
    def power(x):
        return tn.while_loop(lambda i, y: i < 3, lambda i, y: (i + 1, y * x),
                             (tn.tensor(0), tn.tensor(1.0)))[1]

    same(run(tn.grad(power), tn.tensor(2.0)), 12)


def test_a_loop_body_must_keep_the_structure_of_the_loop_variables():
    with pytest.raises(TypeError, match="the body must return a tree with the structure"):
        tn.while_loop(lambda x: x < 3, lambda x: (x, x), (tn.tensor(0),))


def test_scan_carries_values_and_stacks_outputs(run, same):
    def cumulate(xs):
        return tn.scan(lambda c, x: (c + x, {"before": c}), 0.0, xs)

    last, out = run(cumulate, tn.tensor([1.0, 2.0, 3.0]))
    same(last, 6)
    same(out["before"], [0, 1, 3])
    last, none = run(lambda xs: tn.scan(lambda c, x: (c * 2 + x, None), 0.0, xs, reverse=True),
                     tn.tensor([1.0, 2.0]))
    same(last, 5)
    assert none is None


def test_tensor_lists_collect_the_results_of_a_loop(run, same):
    def squares(n):
        return tn.while_loop(lambda i, out: i < n, lambda i, out: (i + 1, out.write(i, i * i)),
                             (tn.tensor(0), tn.TensorArray("int32", element_shape=())))[1].stack()

    same(run(squares, tn.tensor(4)), [0, 1, 4, 9])
    entries = tn.TensorList.like(tn.tensor([0.0])).push([1.0]).push([2.0]).set(0, [5.0])
    same(entries.stack(), [[5], [2]])
    same(entries.concat(), [5, 2])
    same(tn.TensorList.unstack(tn.tensor([1, 2]))[1], 2)
    assert len(entries) == 2 and entries.dtype is tn.float32


def test_print_runs_when_the_graph_runs(capsys):
    @tn.function
    def show(x):
        print("tracing")
        tn.print("x is", x, "{braces}")
        return x

    show(tn.tensor(1.0))
    show(tn.tensor([2.0])[0])
    assert capsys.readouterr().out == "tracing\nx is 1.0 {braces}\nx is 2.0 {braces}\n"


def test_a_failed_assertion_stops_the_graph():
    check = tn.function(lambda x: tn.assert_that(x > 0, "x is {}", [x]))
    check(tn.tensor(1.0))
    with pytest.raises(tn.FailedPreconditionError, match="x is -1"):
        check(tn.tensor(-1.0))


def test_py_function_runs_eagerly(run, same):
    def host(x):
        assert not x.is_symbolic
        return x.numpy() * 2, x + 1

    a, b = run(lambda x: tn.py_function(host, [x], (x, x)), tn.tensor([1.0, 2.0]))
    same(a, [2, 4])
    same(b, [2, 3])
    same(run(tn.grad(lambda x: tn.py_function(lambda x: x * x, [x], x)), tn.tensor(3.0)), 6)


def test_unknown_sizes_stay_symbolic_in_a_function(same):
    @tn.function(input_signature=[tn.TensorSpec([None, 2])])
    def rows(x):
        n = tn.shape(x)[0]
        return tn.zeros_like(x), tn.reshape(x, [n * 2]), tn.arange(n)

    zeros, flat, numbers = rows(tn.ones((3, 2)))
    assert zeros.shape == (3, 2) and flat.shape == (6,) and numbers.tolist() == [0, 1, 2]
    assert rows(tn.ones((1, 2)))[1].shape == (2,) and rows.trace_count == 1


def test_reading_a_symbolic_tensor_is_an_error():
    with pytest.raises(Exception, match="bool"):
        tn.function(lambda x: 1 if x else 2, autograph=False)(tn.tensor(True))
    with pytest.raises(tn.FailedPreconditionError):
        tn.function(lambda x: x.item(), autograph=False)(tn.tensor(1.0))
    assert "symbolic" in repr(tn.function(lambda x: repr(x), autograph=False)(tn.tensor(1.0)))


def test_a_loop_with_a_small_branch_runs_as_one_launch_plan():
    """The pass `select` replaces the branch, so the host need not read a condition in each
    iteration."""
    @tn.function
    def count(n):
        i, total = tn.tensor(0), tn.tensor(0.0)
        while i < n:
            if i % 2 == 0:
                total = total + 1.5
            else:
                total = total - 0.5
            i = i + 1
        return total

    assert count(tn.tensor(1000)).item() == 500
    with tn.profile() as profiler:
        count(tn.tensor(100))
    assert sum(row["count"] for row in profiler.rows if row["name"] == "branch") == 0


def test_the_gradient_of_cond_is_that_of_the_selected_branch():
    inverse = tn.function(lambda x: tn.cond(x > 0, lambda: 1.0 / x, lambda: x * 0.0))
    assert tn.grad(inverse)(tn.tensor(0.0)).item() == 0  # The gradient of where() would be NaN.
    assert tn.grad(inverse)(tn.tensor(2.0)).item() == -0.25
