"""Animations: ``pl.animate(result, "fourbar.gif")``, also .mp4 and .html; without a file name shown by a notebook."""

from __future__ import annotations

import math
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from planar.errors import ModelError, PlanarError
from planar.plot.curves import as_point, point_name
from planar.plot.frames import Frame, Frames
from planar.plot.scene import Scene

MOST = 200  # frames, unless more are asked for
SHORT, LONG = 1.0, 12.0  # seconds: what is shorter or longer is slowed down or hastened
STRETCHED = 4.0  # seconds that a slowed-down motion takes


def animate(
    result: Any,
    path: Any = None,
    *,
    fps: float = 25.0,
    speed: float | None = None,
    frames: int = MOST,
    traces: Sequence[Any] = (),
    reactions: Any = None,
    scale: float = 1.0,
    dpi: float = 100.0,
    progress: bool | Callable[[int, int], None] | None = None,
) -> Animation:
    """A moving picture of a result; written to `path` if one is given (.gif, .mp4 or .html), and returned.

    fps        pictures per second (of a GIF in steps of 1/100 s)
    speed      seconds of the motion per second of the film; left out: 1, or what makes a very short or long motion watchable
    frames     at most so many pictures; a long film gets fewer per second
    traces     points of bodies, or bodies for their centres of mass, whose paths are drawn
    reactions  force arrows of joints: True for all, or a list of joints or (joint, body) pairs
    scale      factor on the size of pins, bars and symbols
    dpi        pixels per inch of GIF and MP4
    progress   True: a bar on the terminal; a function of (done, total); left out: a bar where the terminal can show one
    """
    made = Animation(
        result, fps=fps, speed=speed, frames=frames, traces=traces, reactions=reactions, scale=scale, dpi=dpi
    )
    if path is not None:
        made.save(path, progress=progress)
    return made


class Animation:
    """A film that is painted when it is saved or shown.

    scene    what is drawn (`planar.plot.scene`); times (n,) s of the motion at which pictures are taken; fps, speed
    """

    def __init__(
        self,
        result: Any,
        *,
        fps: float = 25.0,
        speed: float | None = None,
        frames: int = MOST,
        traces: Sequence[Any] = (),
        reactions: Any = None,
        scale: float = 1.0,
        dpi: float = 100.0,
    ):
        for what, value in (("fps", fps), ("speed", 1.0 if speed is None else speed), ("frames", frames), ("dpi", dpi)):
            if not (math.isfinite(value) and value > 0):
                raise ModelError(f"{what} is {value!r}; give a positive number")
        self.result, self.dpi = result, float(dpi)
        self.frames = Frames.of(result)
        if len(self.frames) < 2:
            raise ModelError(
                f"{result!r:.80} has one pose; an animation needs a motion, a picture is pl.plot.mechanism"
            )
        self.scene = Scene(self.frames, scale=scale)
        if reactions is not None and reactions is not False:
            from planar.plot.symbols.forces import add_reactions

            add_reactions(self.scene, reactions)
        traces = traces if isinstance(traces, (list, tuple)) else [traces]
        points = [as_point(result, p) for p in traces]
        ordered = self.frames.ordered
        self.traces = [(point_name(p), ordered(result.point(q).r)) for p, q in zip(traces, points, strict=True)]
        self._schedule(float(fps), speed, int(frames))

    def _schedule(self, fps: float, speed: float | None, most: int) -> None:
        """Equally spaced times.  The end is left out where it is the beginning again: a loop must not stutter."""
        t = self.frames.t
        span = float(t[-1] - t[0])
        lasts = span / speed if speed else span if SHORT <= span <= LONG else STRETCHED if span < SHORT else LONG
        closed = _returns(self.frames)
        n = int(np.clip(round(lasts * fps) + (not closed), 2, max(most, 2)))
        self.times = np.linspace(t[0], t[-1], n, endpoint=not closed)
        self.fps = (n if closed else n - 1) / lasts
        self.speed = span / lasts

    def __len__(self) -> int:
        return len(self.times)

    def __repr__(self) -> str:
        return f"<animation of {self.scene.model.name!r}: {len(self)} frames, {self.fps:.4g} per second>"

    def shots(self) -> Iterator[tuple[Frame, str]]:
        """(frame, text of the clock) for every picture, in the order in which the result was computed."""
        digits = max(0, 2 - math.floor(math.log10(self.frames.t[-1] - self.frames.t[0])))
        factor = "" if abs(self.speed - 1) < 0.01 else f"   ({self.speed:.3g} x)"
        for t in self.times[::-1] if self.frames.flipped else self.times:
            clock = f"t = {t:.{digits}f} s{factor}" if self.frames.is_time else f"pose {t:.0f}"
            yield self.frames.at(float(t)), clock

    # --- output ------------------------------------------------------------------------------------------------------

    def save(self, path: Any, progress: bool | Callable[[int, int], None] | None = None) -> Path:
        """Write a .gif, .mp4 (needs the program ffmpeg) or .html (one file, no network) and return its path."""
        path = Path(path)
        writers = {".gif": self._gif, ".mp4": self._mp4, ".html": self._html}
        if path.suffix.lower() not in writers:
            raise ModelError(
                f"cannot tell what to write to {path.name!r}; give a name that ends in .gif, .mp4 or .html"
            )
        writers[path.suffix.lower()](path, progress)
        return path

    def images(self, progress: bool | Callable[[int, int], None] | None = None) -> Iterator[np.ndarray]:
        """RGBA arrays (height, width, 4) of all pictures."""
        from planar.plot.film import Film

        film = Film(self.scene, self.traces, dpi=self.dpi)
        yield from film.images(_counted(self.shots(), len(self), progress))

    def _gif(self, path: Path, progress: Any) -> None:
        from PIL import Image

        images = [Image.fromarray(image[..., :3]) for image in self.images(progress)]
        palette = _palette(images)
        flat = [image.quantize(palette=palette, dither=Image.Dither.NONE) for image in images]
        flat[0].save(
            path,
            save_all=True,
            append_images=flat[1:],
            duration=max(20, 10 * round(100 / self.fps)),
            loop=0,
            optimize=False,
        )

    def _mp4(self, path: Path, progress: Any) -> None:
        program = shutil.which("ffmpeg")
        if program is None:
            raise PlanarError(
                f"writing {path.name!r} needs the program ffmpeg, which is not on the PATH; install it (apt install ffmpeg, "
                "brew install ffmpeg, winget install ffmpeg), or write a .gif or .html, which need nothing"
            )
        images = self.images(progress)
        first = next(images)
        height, width = first.shape[:2]
        command = [
            program, "-y", "-loglevel", "error", "-f", "rawvideo", "-pix_fmt", "rgba", "-s", f"{width}x{height}",
            "-r", f"{self.fps:.6g}", "-i", "-", "-an", "-vf", "pad=ceil(iw/2)*2:ceil(ih/2)*2:color=white",
            "-pix_fmt", "yuv420p", "-movflags", "+faststart", str(path),
        ]  # fmt: skip
        _pipe(command, first, images, path)

    def _html(self, path: Path, progress: Any) -> None:
        path.write_text(self.to_html(progress), encoding="utf-8")

    def to_html(self, progress: bool | Callable[[int, int], None] | None = None) -> str:
        """A page with a player: vector graphics, play and pause, a slider, keys; no network."""
        from planar.plot.player import page

        return page(self, _counted(self.shots(), len(self), progress))

    def _repr_html_(self) -> str:
        """The player inside a notebook, in a frame of its own."""
        from planar.plot.player import framed

        return framed(self.to_html(progress=False), self)


# --- helpers -----------------------------------------------------------------------------------------------------------


def _returns(frames: Frames) -> bool:
    """Whether the last pose is the first again, up to whole turns."""
    d = (frames.q[-1] - frames.q[0]).reshape(-1, 3).copy()
    d[:, 2] = (np.remainder(d[:, 2] + np.pi, 2 * np.pi) - np.pi) * frames.system.length
    moved = (
        np.ptp(frames.q.reshape(len(frames), -1, 3)[..., :2], axis=0).max() + np.ptp(frames.q[:, 2::3], axis=0).max()
    )
    return bool(len(frames) > 2 and moved > 0 and np.abs(d).max() < 1e-4 * frames.system.length)


def _palette(images: list[Any]) -> Any:
    """One palette for all pictures, from some of them: colours must not flicker, and unchanged pixels are not stored."""
    from PIL import Image

    some = [images[k] for k in np.unique(np.linspace(0, len(images) - 1, 5).round().astype(int))]
    sheet = Image.new("RGB", (some[0].width, sum(image.height for image in some)))
    for k, image in enumerate(some):
        sheet.paste(image, (0, k * image.height))
    palette = sheet.quantize(128, method=Image.Quantize.MEDIANCUT, dither=Image.Dither.NONE)
    colors = np.array(palette.getpalette()).reshape(-1, 3)
    colors[colors.min(1) >= 246] = (
        255  # paper is white; Pillow looks colours up in steps of 4 and might take a grey for it
    )
    palette.putpalette(colors.reshape(-1).tolist())
    return palette


def _pipe(command: list[str], first: np.ndarray, rest: Iterable[np.ndarray], path: Path) -> None:
    process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    broken = False
    try:
        process.stdin.write(first.tobytes())
        for image in rest:
            process.stdin.write(image.tobytes())
    except BrokenPipeError:
        broken = True  # its message says why
    said = process.communicate()[1].decode(errors="replace").strip()
    if process.returncode or broken:
        raise PlanarError(f"ffmpeg could not write {path.name!r}: {said[-400:] or f'exit code {process.returncode}'}")


def _counted(shots: Iterable[Any], total: int, progress: bool | Callable[[int, int], None] | None) -> Iterator[Any]:
    """The shots, telling how far it is: to a function, or to a bar on the terminal."""
    if callable(progress):
        for k, shot in enumerate(shots):
            yield shot
            progress(k + 1, total)
        return
    if progress is False or (progress is None and not sys.stderr.isatty()):
        yield from shots
        return
    try:
        from rich.console import Console
        from rich.progress import track
    except ImportError:
        yield from shots
        return
    yield from track(shots, "animation", total=total, console=Console(stderr=True), transient=True)
