"""`python -m faithtui`."""

from faithtui.cli.entry import main

if __name__ == "__main__":
    main()
