"""Makes an environment with PyTorch next to another one, whose packages it sees: FOLDER VERSION.

Exit code 1 where PyTorch cannot be had, which is said on standard error.
"""

from __future__ import annotations

import subprocess
import sys
import sysconfig
from pathlib import Path

SECONDS = 1500
# What PyTorch's own tests import.
BESIDE = "expecttest==0.3.0"


def main(folder: Path, version: str) -> int:
    stamp = folder / f"torch-{version}"
    if stamp.exists():
        return 0
    python = folder / "bin" / "python"
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(folder)], check=True)
    beside = (
        folder / "lib" / f"python{sys.version_info.major}.{sys.version_info.minor}" / "site-packages" / "beside.pth"
    )
    # `addsitedir` reads that folder's own .pth files, which lead to packages that are edited.
    beside.write_text(f"import site; site.addsitedir({sysconfig.get_path('purelib')!r})\n")
    install = [sys.executable, "-m", "uv", "pip", "install", "--quiet", "--python", str(python)]
    try:
        subprocess.run([*install, f"torch=={version}", BESIDE], check=True, timeout=SECONDS)
    except (subprocess.SubprocessError, OSError) as error:
        print(f"tests/torch is left out: torch {version} cannot be installed ({error})", file=sys.stderr)  # noqa: T201
        return 1
    stamp.touch()
    return 0


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]), sys.argv[2]))
