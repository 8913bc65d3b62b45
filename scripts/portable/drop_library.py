#!/usr/bin/env python3
"""Removes a library from those that an ELF file needs, in place:  drop_library.py FILE LIBRARY

For a library whose functions are never called: HDF5 links libcurl for files in S3, which we do not open through HDF5. A bundled libcurl
would bring about twenty libraries, and our own access to S3 would find it in place of the system's, which knows where the system's
certificates are. Exits with 1 if FILE does not need LIBRARY."""
import pathlib
import sys

from elf_file import ElfFile


def main():
    if sys.argv[1:2] in (["-h"], ["--help"]) or len(sys.argv) != 3:
        print(__doc__)
        sys.exit(0 if sys.argv[1:2] in (["-h"], ["--help"]) else 2)
    elf = ElfFile(pathlib.Path(sys.argv[1]))
    if not elf.drop_library(sys.argv[2]):
        sys.exit(f"drop_library: {sys.argv[1]} does not need {sys.argv[2]}; remove the call of drop_library.py")
    elf.write()


if __name__ == "__main__":
    main()
