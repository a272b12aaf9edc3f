"""Where the `faithtui` command begins: start fast, then hand over.

Building the command tree makes many objects and no garbage. Collecting in between, and once more
over all of them at the end, would cost a quarter of what `faithtui --help` takes.
"""

import gc


def main() -> None:
    """Load the command tree with the collector out of the way, and run it."""
    gc.disable()
    from faithtui.cli.main import main as run

    gc.freeze()
    gc.enable()
    run()
