"""Where the program `gatherspec` is."""

from __future__ import annotations

import os
import shutil
import sys
import sysconfig


def program() -> str:
    """The path of the program: what the variable GATHERSPEC says, or what was installed beside this package, or what is on PATH."""
    named = os.environ.get("GATHERSPEC")
    if named:
        return named
    name = "gatherspec" + (sysconfig.get_config_var("EXE") or "")
    user = sysconfig.get_preferred_scheme("user") if sys.version_info >= (3, 10) else f"{os.name}_user"
    beside = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    folders = [
        sysconfig.get_path("scripts"),
        sysconfig.get_path("scripts", scheme=user),
        os.path.join(beside, "bin"),  # of `pip install --target`
    ]
    for folder in folders:
        path = os.path.join(folder, name)
        if os.path.isfile(path):
            return path
    found = shutil.which("gatherspec")
    if found:
        return found
    raise FileNotFoundError(f"no program `gatherspec` in {', '.join(folders)} or on PATH; the variable GATHERSPEC can name one")
