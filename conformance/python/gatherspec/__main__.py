"""`python -m gatherspec` is the program `gatherspec`."""

import os
import subprocess
import sys

from gatherspec._program import program

if __name__ == "__main__":
    command = [program(), *sys.argv[1:]]
    if sys.platform == "win32":
        sys.exit(subprocess.call(command))
    os.execv(command[0], command)
