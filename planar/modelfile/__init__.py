"""Model files: TOML that a colleague can read, edit and run.  docs/modelfile.md describes the format.

    m.save("four-bar.toml")
    m = pl.load_model("four-bar.toml")
    m = pl.load_model("four-bar.toml", {"L2": 0.35, "crank.mass": "500 g"})

A file is data: reading it runs no code, opens no other file, and takes a bounded time whatever it holds.
"""

from planar.modelfile.analyses import Analysis, Times
from planar.modelfile.reader import ModelFile, load, load_model, loads
from planar.modelfile.writer import dumps, save_model
