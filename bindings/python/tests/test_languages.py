"""docs/languages.md: twenty tasks in Python. docs/snippets/languages.c has the same tasks in C. The
code of a task stands between the comments [its name] and [end]."""

import tenon as tn


def test_listings_of_values_and_ops_run():
    # [make]
    x = tn.tensor([[1.0, 2.0], [3.0, 4.0]])
    # [end]

    # [arithmetic]
    y = 2 * x + x
    # [end]
    assert y.tolist() == [[3, 6], [9, 12]]

    # [attributes]
    rows = x.sum(axes=1, keepdims=True)
    # [end]
    assert rows.tolist() == [[3], [7]]

    # [outputs]
    values, indices = tn.top_k(x, k=1)
    # [end]
    assert values.tolist() == [[2], [4]] and indices.tolist() == [[1], [1]]

    # [index]
    last_row = x[1:2]
    # [end]
    assert last_row.tolist() == [[3, 4]]


def test_listings_that_read_tensors_run(capsys):
    x = tn.tensor([[1.0, 2.0], [3.0, 4.0]])
    # [shape]
    shape = x.shape
    # [end]
    assert shape == (2, 2)

    # [item]
    number = x.sum().item()
    # [end]
    assert number == 10

    # [read]
    host = x.numpy()
    # [end]
    assert host[1, 1] == 4

    # [print]
    print(x)
    # [end]
    assert capsys.readouterr().out == "[[1. 2.]\n [3. 4.]]\n"

    # [device]
    there = x.copy_to("cpu")
    # [end]
    assert there.device == "cpu:0"


def test_listings_of_random_numbers_and_errors_run(capsys):
    # [random]
    generator = tn.Generator(7)
    noise = generator.normal((2, 2))
    # [end]
    assert noise.shape == (2, 2)

    x = noise
    # [error]
    try:
        x.softmax(axis=5)
    except tn.TenonError as error:
        print(error)
    # [end]
    assert capsys.readouterr().out.startswith("softmax: C2: ")


def test_listing_of_contexts_runs():
    # [context]
    with tn.Scope(tn.Context()):
        # [end]
        assert (tn.ones((2,)) + 1).tolist() == [2, 2]


def test_listings_of_gradients_run():
    x = tn.tensor([1.0, 2.0])
    # [variable]
    w = tn.Variable(x)
    w.assign(w.read())
    # [end]

    # [gradient]
    with tn.GradientTape() as tape:
        loss = tn.sum(tn.square(w))
    gradient = tape.gradient(loss, w)
    # [end]
    assert gradient.tolist() == [2, 4]


def test_listings_of_functions_and_control_flow_run(capsys):
    x = tn.tensor([2.0, 3.0])

    # [function]
    @tn.function
    def scaled(a, b):
        return a * b

    product = scaled(x, x)
    # [end]
    assert product.tolist() == [4, 9]

    # [cond]
    chosen = tn.cond(tn.all(x > 0), lambda: -x, lambda: x)
    # [end]
    assert chosen.tolist() == [-2, -3]

    # [while_loop]
    last = tn.while_loop(lambda x: x < 100, lambda x: x + x, 3.0)
    # [end]
    assert last.item() == 192

    # [host_call]
    def print_it(value):
        print("host:", value.item())
        return value

    printed = tn.py_function(print_it, [last], like=last)
    # [end]
    assert printed.item() == 192 and capsys.readouterr().out == "host: 192.0\n"


def test_listing_of_files_runs(tmp_path):
    x, path = tn.tensor([1.0]), tmp_path / "x.safetensors"
    # [safetensors]
    tn.save_safetensors(path, {"x": x})
    loaded = tn.load_safetensors(path)["x"]
    # [end]
    assert loaded.tolist() == [1]
