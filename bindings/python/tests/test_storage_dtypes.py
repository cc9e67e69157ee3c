"""Compares the conversions of storage dtypes with those of the package ml_dtypes."""

import re

import numpy
import pytest

import tenon as tn

ml_dtypes = pytest.importorskip("ml_dtypes")

FLOATS = ["float8_e4m3fn", "float8_e4m3fnuz", "float8_e5m2", "float8_e5m2fnuz", "float8_e8m0fnu",
          "float4_e2m1fn"]
INTEGERS = ["int4", "uint4", "int2", "uint2"]


def all_codes(name):
    return numpy.arange(2 ** int(re.search(r"\d+", name)[0]), dtype=numpy.uint8)


def numbers(name):
    """Returns numbers of all magnitudes of the dtype, among them ties and neighbours of ties."""
    rng = numpy.random.default_rng(7)
    low, high = (-126, 127) if name == "float8_e8m0fnu" else (-24, 18)
    drawn = numpy.exp2(rng.uniform(low, high, 20_000)) * rng.choice([-1, 1], 20_000)
    values = all_codes(name).view(getattr(ml_dtypes, name)).astype(numpy.float64)
    values = numpy.unique(values[numpy.isfinite(values)])
    ties = (values[1:] + values[:-1]) / 2
    near = [numpy.nextafter(ties, numpy.inf), numpy.nextafter(ties, -numpy.inf)]
    return numpy.concatenate([drawn, values, ties, *near, [0.0, -0.0, numpy.nan]])


def codes_of(tensor):
    return numpy.asarray(tensor.numpy()).view(numpy.uint8)


@pytest.mark.parametrize("name", FLOATS)
@pytest.mark.parametrize("source", ["float32", "float64", "float16"])
def test_casts_to_floats_round_as_ml_dtypes(name, source):
    with numpy.errstate(over="ignore"):
        # ml_dtypes rounds float64 to float32 first, so that it would round twice.
        x = numbers(name).astype("float32").astype(source)
    target = getattr(ml_dtypes, name)
    greatest = float(ml_dtypes.finfo(target).max)
    x = x[~(numpy.abs(x.astype(numpy.float64)) > greatest)]  # ml_dtypes does not saturate.
    if name == "float8_e8m0fnu":
        x = x[(x.astype(numpy.float64) >= 2.0**-126) | numpy.isnan(x)]  # ml_dtypes rounds subnormal float32 differently.
    if name == "float4_e2m1fn":
        x = x[~numpy.isnan(x)]
    got = tn.tensor(x).cast(getattr(tn, name))
    want = x.astype(target)
    with numpy.errstate(invalid="ignore"):
        numpy.testing.assert_array_equal(got.cast("float32").numpy(), want.astype(numpy.float32))
    numeric = ~numpy.isnan(x)
    numpy.testing.assert_array_equal(codes_of(got)[numeric], want.view(numpy.uint8)[numeric])


@pytest.mark.parametrize("name", FLOATS + INTEGERS)
def test_every_code_has_the_value_of_ml_dtypes(name):
    codes = all_codes(name)
    array = codes.view(getattr(ml_dtypes, name))
    tensor = tn.tensor(array)
    assert tensor.dtype is getattr(tn, name)
    numpy.testing.assert_array_equal(tensor.cast("float64").numpy(), array.astype(numpy.float64))
    numpy.testing.assert_array_equal(codes_of(tensor), codes)


@pytest.mark.parametrize("name", INTEGERS)
def test_integers_keep_their_low_bits(name):
    x = numpy.arange(-300, 300, dtype=numpy.int32)
    got = tn.tensor(x).cast(getattr(tn, name)).cast("int32").numpy()
    numpy.testing.assert_array_equal(got, x.astype(getattr(ml_dtypes, name)).astype(numpy.int32))


def test_numbers_beyond_the_range_saturate_unless_told_otherwise():
    x = tn.tensor([1e6, -1e6, float("inf")])
    assert tn.cast(x, to="float8_e4m3fn").cast("float32").numpy().tolist() == [448, -448, 448]
    kept = tn.cast(x, to="float8_e5m2", saturate=False).cast("float32").numpy()
    assert kept.tolist() == [float("inf"), float("-inf"), float("inf")]
    assert numpy.isnan(tn.cast(x, to="float8_e4m3fn", saturate=False).cast("float32").numpy()).all()


def test_other_ops_refuse():
    x = tn.tensor([1.0]).cast("float8_e5m2")
    assert x.dtype.is_storage and not x.dtype.is_floating
    with pytest.raises(tn.InvalidArgumentError, match="convert it with cast"):
        x + x


def test_text_and_items():
    x = tn.tensor([-8, 7]).cast("i4")
    assert str(x.numpy().tolist()) == "[-8, 7]" and "[-8  7]" in repr(x)
    assert x[0].item() == -8
    y = tn.tensor([0.5, 448]).cast("f8e4m3fn")
    assert y[1].item() == 448.0


def test_files_keep_the_dtype(tmp_path):
    path = str(tmp_path / "x.safetensors")
    x = tn.tensor([[1, -2, 3]]).cast("int4")
    tn.save_safetensors(path, {"x": x})
    read = tn.load_safetensors(path)["x"]
    assert read.dtype is tn.int4 and read.cast("int32").numpy().tolist() == [[1, -2, 3]]
