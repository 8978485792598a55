"""The subcommands of `planar`, a few to a file; `planar.cli` puts them together."""
