"""Runs TensorFlow's guides, from the checkout in the environment variable TENON_TENSORFLOW_DOCS."""

import importlib.util
import os
import pathlib

import pytest

listings = importlib.util.module_from_spec(spec := importlib.util.spec_from_file_location(
    "listings", pathlib.Path(__file__).with_name("listings.py")))
spec.loader.exec_module(listings)


def test_at_least_90_percent_of_the_listings_without_keras_run():
    checkout = os.environ.get("TENON_TENSORFLOW_DOCS")
    if not checkout:
        pytest.skip("TENON_TENSORFLOW_DOCS names no checkout of tensorflow/docs")
    pytest.importorskip("matplotlib")
    results = listings.run_guides(pathlib.Path(checkout).resolve())
    count = sum(total for total, _ in results.values())
    failed = sum(len(failures) for _, failures in results.values())
    assert count > 200 and failed <= count / 10


def test_cells_that_depend_on_keras_cells_are_skipped():
    sources = ["layer = tf.keras.layers.Dense(2)", "y = layer(x)", "z = y + 1", "y = 3", "print(y)",
               "with tf.GradientTape() as layer:\n  pass\nlayer"]
    cells = [listings.Cell(source, number) for number, source in enumerate(sources, 1)]
    assert [cell.number for cell in listings.without_keras(cells)] == [4, 5, 6]


def test_a_failing_cell_is_reported():
    cell = listings.Cell("import tensorflow as tf\ntf.no_such_name", 1)
    error = listings.run_cell(cell, {}, "guide")
    assert isinstance(error, AttributeError) and "no_such_name" in str(error)
