"""`python -m tests.faults`."""

import sys
from pathlib import Path

if __name__ == "__main__":
    # As pytest does it, so that the programs of the corpus find their helpers.
    sys.path.insert(0, str(Path(__file__).parents[1]))
    from tests.faults.cli import main

    sys.exit(main(sys.argv[1:]))
