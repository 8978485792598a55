"""`python -m planar` is the command `planar`."""

from planar.cli import main

if __name__ == "__main__":
    raise SystemExit(main())
