"""The site, built offline from the pages of the repository: `python tools/site OUT [--demo FOLDER]`; `make docs`.

Pages are staged beside each other as they lie in the repository, so that their links hold, with what only a site has:
a list of contents, and the pages of a release. Sphinx makes HTML of them. The folder opens in a browser as it is: no
server, no network, no font or script from elsewhere.
"""

from __future__ import annotations

import argparse
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE)]

import stage  # noqa: E402


def build(out: Path, demo: Path) -> None:
    """Build the site into an absent folder, around the release of a demo; a warning of Sphinx stops it."""
    with tempfile.TemporaryDirectory(prefix="hubbub-site-") as work:
        source, made = Path(work) / "source", Path(work) / "site"
        stage.stage(source)
        command = [sys.executable, "-m", "sphinx", "-W", "--keep-going", "-q", "-b", "html", "-c", str(HERE)]
        subprocess.run([*command, "-d", f"{work}/trees", str(source), str(made)], check=True)
        shutil.copytree(demo / "release-1", made / "demo", ignore=shutil.ignore_patterns("*.parquet", "run.toml"))
        shutil.copy2(stage.ROOT / "docs" / "papers.html", made / "docs")
        (made / "index.html").write_text(FIRST, encoding="utf-8")
        shutil.move(made, out)


FIRST = """<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta http-equiv="refresh" content="0; url=README.html">
<title>hubbub</title>
<a href="README.html">hubbub</a>
</html>
"""


def main() -> None:
    """Build it from the command line; without a demo, one is made first."""
    parser = argparse.ArgumentParser(prog="python tools/site", description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("out", type=Path, help="The folder to make; what an earlier build left there is replaced.")
    parser.add_argument("--demo", type=Path, help="What `hubbub demo` left behind; made anew if there is none.")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="hubbub-demo-") as work:
        demo = given.demo or Path(work) / "demo"
        if not demo.exists():
            subprocess.run([sys.executable, "-m", "hubbub", "demo", "--quiet", "--out", str(demo)], check=True)
        if not (demo / "release-1" / "public").is_dir():
            sys.exit(f"hubbub: {demo} holds no release of a demo\n  next:    remove it, and it is made anew")
        out = given.out
        if (out / "objects.inv").exists():  # a site of Sphinx, and nothing else
            shutil.rmtree(out)
        elif out.exists():
            sys.exit(f"hubbub: {out} is there and is no site\n  next:    name another folder, or remove it")
        build(out, demo)
    print(f"Open {out}/index.html in a browser.")


if __name__ == "__main__":
    main()
