"""Import the libraries that run the builtin model, with their telemetry off. The only module that imports onnxruntime.

From 1.30 on onnxruntime carries a telemetry client that is on by default: at its first session it writes a device id
and a database below the user's cache folder and looks up its maker's event host. The client reads its switch from the
process's environment when the library is initialised, so the variable must be set before the import. ``os.environ``
hands it on to the C library (``putenv``), where native code sees it.
"""

from __future__ import annotations

import contextlib
import os
from typing import Any

from vaultrag.errors import ModelBroken
from vaultrag.home import TELEMETRY_OFF


def load_runtime() -> tuple[Any, Any]:
    """Import the model's libraries, with nothing in them that reports to anybody.

    Returns:
        The module onnxruntime, and the class Tokenizer of tokenizers.

    Raises:
        ModelBroken: One of them cannot be imported.
    """
    os.environ.update(TELEMETRY_OFF)  # also over a value that the user has set: the promise is ours
    try:
        import onnxruntime
        from tokenizers import Tokenizer
    except ImportError as error:
        reason = f"the builtin model needs a library that cannot be loaded: {error}"
        raise ModelBroken(reason, hint="pip install --force-reinstall onnxruntime tokenizers") from error
    with contextlib.suppress(AttributeError):  # the older Windows builds report through the system instead
        onnxruntime.disable_telemetry_events()
    return onnxruntime, Tokenizer
