"""Copy the pictures of the examples from out/ to docs/img/ with a palette, so that they stay small: after `make examples`."""

from pathlib import Path

from PIL import Image

ROOT = Path(__file__).parent.parent


def main() -> None:
    for script in sorted((ROOT / "examples").glob("*.py")):
        source, target = (ROOT / folder / f"{script.stem}.png" for folder in ("out", "docs/img"))
        if not source.exists():
            print(f"{source.relative_to(ROOT)} is missing: run examples/{script.name}")
            continue
        picture = (
            Image.open(source).convert("RGB").quantize(240, method=Image.Quantize.MEDIANCUT, dither=Image.Dither.NONE)
        )
        target.parent.mkdir(parents=True, exist_ok=True)
        picture.save(target, optimize=True)
        print(f"{target.relative_to(ROOT)}: {target.stat().st_size / 1000:.0f} kB")


if __name__ == "__main__":
    main()
