"""tf.config: devices, and whether functions run eagerly."""

import collections

from .. import _devices
from .._function import functions_run_eagerly, run_functions_eagerly

PhysicalDevice = collections.namedtuple("PhysicalDevice", ["name", "device_type"])


def list_physical_devices(device_type=None):
    """Returns the devices, or those of a type: "CPU" or "GPU"."""
    found = [PhysicalDevice(device["name"], device["kind"].upper())
             for device in _devices.list_devices()]
    return [device for device in found if device_type in (None, device.device_type)]


def list_logical_devices(device_type=None):
    """Returns the same devices as list_physical_devices()."""
    return list_physical_devices(device_type)


__all__ = ["PhysicalDevice", "functions_run_eagerly", "list_logical_devices",
           "list_physical_devices", "run_functions_eagerly"]
