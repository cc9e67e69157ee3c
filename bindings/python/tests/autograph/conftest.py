"""If TENON_STAND_IN=1, the conversion tests use fake_tenon, a replacement of the package in pure
Python."""

import os
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


if os.environ.get("TENON_STAND_IN"):
    _install_fake()
