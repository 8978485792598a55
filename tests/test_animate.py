"""Animations: every format holds the motion it should, at the size and pace it should."""

from __future__ import annotations

import json
import os
import re
import shutil
import stat
import subprocess
import sys
from pathlib import Path

import mechanisms as mech
import numpy as np
import pytest
from PIL import Image

import planar as pl

T = np.linspace(0.0, 1.0, 61)


@pytest.fixture(scope="module")
def inverse():
    return pl.inverse_dynamics(mech.four_bar(), T)


def film_data(html: str) -> dict:
    return json.loads(re.search(r'id="film">(.*?)</script>', html, re.S)[1])


def test_gif(inverse, tmp_path):
    path = tmp_path / "fourbar.gif"
    made = pl.animate(inverse, path, fps=10, traces=[inverse.model["coupler"]["C"]], reactions=True)
    with Image.open(path) as image:
        assert image.n_frames == len(made) == 10
        assert image.info["loop"] == 0 and image.info["duration"] == 100  # ms: one turn of the crank takes 1 s
        frames = []
        for k in range(image.n_frames):
            image.seek(k)
            frames.append(np.asarray(image.convert("RGB")).astype(int))
    assert tuple(frames[0][0, 0]) == (255, 255, 255)
    for a, b in zip(frames, frames[1:] + frames[:1], strict=True):
        assert (np.abs(a - b).max(axis=2) > 40).sum() > 500  # pixels that changed, also from the last to the first


def test_frames_are_where_the_motion_is(inverse):
    """Pictures are taken at equal times of the film, between samples too, and a closed motion does not stop at its end."""
    made = pl.animate(inverse, fps=20)
    np.testing.assert_allclose(made.times, np.arange(20) / 20)
    exact = pl.kinematics(mech.four_bar(), made.times)
    drawn = np.array([frame.q for frame, _ in made.shots()])
    np.testing.assert_allclose(drawn, exact.q, atol=5e-6)  # h^4/384 |q''''|, h = 1/60 s
    assert [text for _, text in made.shots()][1] == "t = 0.05 s"
    part = pl.animate(pl.kinematics(mech.four_bar(), T[:31]), fps=20, speed=1.0)
    assert part.times[-1] == 0.5 and len(part) == 11


@pytest.mark.parametrize(
    ("span", "options", "lasts", "speed"),
    [
        (3.0, {}, 3.0, 1.0),  # real time
        (0.1, {}, 4.0, 0.025),  # too quick to see: slowed down
        (60.0, {}, 12.0, 5.0),  # too slow to watch
        (3.0, {"speed": 0.5}, 6.0, 0.5),
    ],
)
def test_pace(span, options, lasts, speed):
    result = pl.kinematics(mech.four_bar(speed=0.7), np.linspace(0, span, 50))
    made = pl.animate(result, **options)
    assert (len(made) - 1) / made.fps == pytest.approx(lasts)
    assert made.speed == pytest.approx(speed)
    clock = [text for _, text in made.shots()][-1]
    assert (f"{speed:.3g} x" in clock) == (speed != 1.0)


def test_long_films_have_few_frames():
    made = pl.animate(pl.kinematics(mech.four_bar(speed=0.7), np.linspace(0, 11, 50)), fps=60)
    assert len(made) == 200 and made.fps == pytest.approx(199 / 11)
    assert len(pl.animate(made.result, fps=60, frames=1000)) == 661


def test_the_number_of_pictures_is_bounded(inverse, tmp_path):
    result = pl.kinematics(mech.four_bar(), np.linspace(0, 5, 361))
    assert len(pl.animate(result, tmp_path / "x.gif", frames=40)) == 40


def test_html(inverse, tmp_path):
    point = inverse.model["coupler"].point(0.0, 0.1)
    made = pl.animate(inverse, tmp_path / "x.html", fps=10, traces=[point], reactions=["A"])
    html = (tmp_path / "x.html").read_text(encoding="utf-8")
    assert "http:" not in html and "https:" not in html and "src=" not in html  # nothing from elsewhere
    film = film_data(html)
    assert len(film["poses"]) == len(film["clock"]) == len(made) == 10
    exact = pl.kinematics(mech.four_bar(), made.times)
    poses = np.array(film["poses"]).reshape(10, 4, 3)
    np.testing.assert_allclose(poses[:, :3, :2], exact.q.reshape(10, 3, 3)[..., :2], atol=2e-5)  # 1/20 000 of 0.4 m
    np.testing.assert_allclose(np.cos(poses[:, :3, 2]), np.cos(exact.q.reshape(10, 3, 3)[..., 2]), atol=2e-5)
    np.testing.assert_allclose(film["traces"][0]["here"], exact.point(point).r, atol=2e-5)
    assert film["traces"][0]["done"][-1] <= len(film["traces"][0]["path"])
    moving = [part for part in film["parts"] if "frames" in part]
    assert moving and all(len(part["frames"]) == 10 for part in moving)
    assert len(html) < 100_000


def test_names_cannot_break_the_page(tmp_path):
    m = mech.four_bar()
    m.name = "</script><script>alert(1)</script>&{x}"
    html = pl.animate(pl.kinematics(m, T)).to_html()
    assert "<script>alert" not in html
    assert html.count("</script>") == 2
    assert film_data(html)["title"] == m.name


def test_notebook_shows_the_player(inverse):
    text = pl.animate(inverse, fps=5)._repr_html_()
    assert text.startswith("<iframe srcdoc=") and "planarPlayer" in text


def test_mp4_without_ffmpeg_names_the_remedy(inverse, tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(
        pl.PlanarError, match=r"ffmpeg, which is not on the PATH; install it .* or write a \.gif or \.html"
    ):
        pl.animate(inverse, tmp_path / "x.mp4")
    assert not (tmp_path / "x.mp4").exists()


def fake_ffmpeg(folder: Path, code: str) -> None:
    program = folder / "ffmpeg"
    program.write_text(f"#!{sys.executable}\nimport sys\n{code}\n")
    program.chmod(program.stat().st_mode | stat.S_IXUSR)


@pytest.mark.skipif(os.name == "nt", reason="a script stands in for ffmpeg")
def test_mp4_gets_every_picture(inverse, tmp_path, monkeypatch):
    fake_ffmpeg(tmp_path, "open(sys.argv[-1], 'w').write(f'{sys.argv} {len(sys.stdin.buffer.read())}')")
    monkeypatch.setenv("PATH", str(tmp_path))
    pl.animate(inverse, tmp_path / "x.mp4", fps=5)
    said = (tmp_path / "x.mp4").read_text()
    width, height = map(int, re.search(r"'(\d+)x(\d+)'", said).groups())
    assert int(said.split()[-1]) == 5 * 4 * width * height


@pytest.mark.skipif(os.name == "nt", reason="a script stands in for ffmpeg")
def test_mp4_failure_is_told(inverse, tmp_path, monkeypatch):
    fake_ffmpeg(tmp_path, "print('no such encoder', file=sys.stderr); sys.exit(3)")
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(pl.PlanarError, match=r"could not write 'x\.mp4': no such encoder"):
        pl.animate(inverse, tmp_path / "x.mp4", fps=5)


@pytest.mark.skipif(shutil.which("ffmpeg") is None, reason="needs ffmpeg")
def test_real_mp4(inverse, tmp_path):
    pl.animate(inverse, tmp_path / "x.mp4", fps=5)
    assert (tmp_path / "x.mp4").read_bytes()[4:8] == b"ftyp"


def test_what_cannot_be_animated(inverse, tmp_path):
    with pytest.raises(pl.ModelError, match=r"ends in \.gif, \.mp4 or \.html"):
        pl.animate(inverse, tmp_path / "x.avi")
    with pytest.raises(pl.ModelError, match="one pose"):
        pl.animate(pl.statics(mech.four_bar()))
    with pytest.raises(pl.ModelError, match="fps is 0"):
        pl.animate(inverse, fps=0)
    with pytest.raises(pl.ModelError, match="inverse_dynamics"):
        pl.animate(pl.kinematics(mech.four_bar(), T), reactions=True)


def test_progress(inverse, tmp_path):
    seen = []
    pl.animate(inverse, tmp_path / "x.html", fps=5, progress=lambda done, total: seen.append((done, total)))
    assert seen == [(k, 5) for k in range(1, 6)]


def test_backwards_and_static_sweeps():
    back = pl.animate(pl.kinematics(mech.four_bar(), T[::-1]), fps=10, traces=["crank"])
    assert next(text for _, text in back.shots()) == "t = 0.90 s"
    trace = film_data(back.to_html())["traces"][0]
    assert trace["done"] == sorted(trace["done"])
    sweep = pl.statics(mech.four_bar(), pl.kinematics(mech.four_bar(), T[:31]).q)
    shots = list(pl.animate(sweep, fps=5).shots())
    assert shots[0][1] == "pose 0" and shots[-1][1] == "pose 30"
    assert {frame.t for frame, _ in shots} == {0.0}


def test_import_is_light():
    code = (
        "import sys, planar as pl; assert callable(pl.animate); print(*{'matplotlib', 'PIL', 'rich'} & {*sys.modules})"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.split() == []


CHROMIUM = shutil.which("chromium") or shutil.which("google-chrome")


@pytest.mark.slow
@pytest.mark.skipif(CHROMIUM is None, reason="needs Chromium")
@pytest.mark.parametrize("width", [390, 1440])
def test_page_plays_in_a_browser(inverse, tmp_path, width):
    """No error, the pixels move, keys and slider work, nothing scrolls sideways."""
    probe = """
    <script>
    const said = [], root = document.getElementById("player"), canvas = root.querySelector("canvas");
    window.onerror = message => said.push("error " + message);
    const pixels = () => { let n = 0; for (const x of canvas.getContext("2d").getImageData(0, 0, canvas.width,
      canvas.height).data) n = (31 * n + x) % 1000003; return n; };
    const first = pixels(), clock = root.querySelector("output"), slider = root.querySelector("input");
    const wait = (n, then) => n && pixels() === first ? setTimeout(() => wait(n - 1, then), 50) : then();
    wait(80, () => {
      said.push(pixels() !== first ? "moved" : "still");
      root.dispatchEvent(new KeyboardEvent("keydown", { key: " " }));
      said.push(root.querySelector("button").textContent);
      slider.value = 3; slider.dispatchEvent(new Event("input")); said.push(clock.textContent);
      root.dispatchEvent(new KeyboardEvent("keydown", { key: "ArrowRight" })); said.push(clock.textContent);
      said.push(document.documentElement.scrollWidth <= innerWidth ? "fits" : "scrolls");
      document.title = said.join(" | ");
    });
    </script></body>"""
    page = tmp_path / "x.html"
    page.write_text(
        pl.animate(inverse, fps=10, traces=["coupler"]).to_html().replace("</body>", probe), encoding="utf-8"
    )
    run = subprocess.run(
        [CHROMIUM, "--headless", "--no-sandbox", "--disable-gpu", f"--user-data-dir={tmp_path}/chromium", "--dump-dom",
         f"--window-size={width},900", "--virtual-time-budget=5000", page.as_uri()],
        capture_output=True, text=True, timeout=60, check=True,
    )  # fmt: skip
    title = re.search(r"<title>(.*?)</title>", run.stdout)[1]
    assert title == "moved | Play | t = 0.30 s | t = 0.40 s | fits"
