"""tf.saved_model: saved programs. They are in Tenon's format, which every language and ONNX tools
can open."""

from ._programs import load, save


class SaveOptions:
    """Accepts TensorFlow's options, which have no effect: derivatives are always saved."""

    def __init__(self, **options):
        self.options = options


__all__ = ["SaveOptions", "load", "save"]
