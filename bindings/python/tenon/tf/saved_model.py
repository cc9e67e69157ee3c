"""tf.saved_model: programs in files. They are Tenon's, which every language and ONNX tools open."""

from ._programs import load, save


class SaveOptions:
    """Takes TensorFlow's options, which have no effect: derivatives are always saved."""

    def __init__(self, **options):
        self.options = options


__all__ = ["SaveOptions", "load", "save"]
