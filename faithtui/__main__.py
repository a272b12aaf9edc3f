"""`python -m faithtui`."""

from faithtui.cli.main import main

if __name__ == "__main__":
    main()
