"""Runs the tests of conversion against the package, or against fake_tenon where it is not built."""

import importlib.machinery
import importlib.util
import pathlib
import sys
import types

_HERE = pathlib.Path(__file__).parent
_PACKAGE = _HERE.parent.parent / "tenon"
sys.path.insert(0, str(_HERE))


def _install_fake():
    import fake_function
    import fake_tenon

    package = types.ModuleType("tenon")
    package.__path__ = [str(_PACKAGE)]
    package.__dict__.update(
        {name: value for name, value in vars(fake_tenon).items() if not name.startswith("_")}
    )
    package.function = fake_function.function
    sys.modules["tenon"] = package
    import tenon.autograph

    hidden = tenon.autograph.errors.HIDDEN_FILES
    hidden.update((fake_tenon.__file__, fake_function.__file__))


def _is_built():
    spec = importlib.util.find_spec("tenon")
    folders = spec.submodule_search_locations if spec else ()
    names = ["_native" + suffix for suffix in importlib.machinery.EXTENSION_SUFFIXES]
    return any((pathlib.Path(folder) / name).exists() for folder in folders for name in names)


if not _is_built():
    _install_fake()
