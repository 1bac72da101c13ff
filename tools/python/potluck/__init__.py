"""Train one neural network with everybody's computers, from Python.

    import potluck.torch    # an optimizer for PyTorch
    import potluck.numpy    # the same for NumPy, JAX and what else has arrays

`potluck.Run` is what both stand on: a run as the library libpotluck has it.
"""
from potluck._errors import (Error, Failed, Mistake, NotFinite,
                             TooFewExperts)
from potluck._library import interface_version, library_path, version
from potluck.run import Run, Status, Tensor

__all__ = ["Error", "Failed", "Mistake", "NotFinite", "Run", "Status",
           "Tensor", "TooFewExperts", "interface_version", "library_path", "version"]
