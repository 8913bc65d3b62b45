"""Times the way from a packed dump to sentences on two cores: our whole program (unpacking, XML, markup, sentences, writing)
against unpacking alone (`lbzip2 -dc > /dev/null`, apt-get install lbzip2). Then two of our threads against one, pinned to one core.

BENCHMARK_DUMP names a pages-articles.xml.bz2. Without it the pages of the real dump slice beside the checkout, or else of the
sample encyclopaedia, are repeated to about 36 MB of XML and packed twice: as one stream, and as many (as Wikimedia's multistream
dumps)."""
import bz2
import os
import pathlib
import shutil
import sys
import tempfile

from interleaved import DATA_PROGRAM, PROJECT, compare, run_program

SLICE = (PROJECT.parent / "shared/data/wiki_xml" /
         "gensim-enwiki-latest-pages-articles1.xml-p000000010p000030302-shortened.bz2")
SAMPLE = PROJECT / "data_tools/sample/encyclopaedia.xml"
PUNKT = PROJECT.parent / "shared/data/punkt"
XML_BYTES = 36_000_000
PAGES_PER_STREAM = 100


def repeated_pages():
    """Returns the header, a list of pages, and the end of a dump of about XML_BYTES."""
    xml = bz2.open(SLICE).read() if SLICE.is_file() else SAMPLE.read_bytes()
    first, end = xml.index(b"<page>"), xml.rindex(b"</page>") + len(b"</page>")
    pages = [page + b"</page>" for page in xml[first:end].split(b"</page>")[:-1]]
    return xml[:first], pages * max(1, XML_BYTES // len(xml)), xml[end:]


def packed_dumps(folder):
    """Returns {name: file}."""
    if given := os.environ.get("BENCHMARK_DUMP"):
        return {"the given dump": pathlib.Path(given)}
    header, pages, end = repeated_pages()
    one, many = folder / "one_stream.xml.bz2", folder / "multistream.xml.bz2"
    one.write_bytes(bz2.compress(header + b"".join(pages) + end))
    with open(many, "wb") as out:
        out.write(bz2.compress(header))
        for i in range(0, len(pages), PAGES_PER_STREAM):
            out.write(bz2.compress(b"".join(pages[i:i + PAGES_PER_STREAM])))
        out.write(bz2.compress(end))
    return {"one stream": one, "multistream": many}


def main():
    if not shutil.which("lbzip2"):
        sys.exit("extraction.py: lbzip2 is missing; apt-get install lbzip2")
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)

        def ours(dump, threads, *options):
            return lambda: run_program([DATA_PROGRAM, "extract", dump, "--output", folder / "text.txt", "--threads", threads,
                                        *options], cores=threads)

        dumps = packed_dumps(folder)
        for kind, dump in dumps.items():
            megabytes = dump.stat().st_size / 1e6
            sides = {"lbzip2 -dc": lambda dump=dump: run_program(["lbzip2", "-n", 2, "-dc", dump], cores=2),
                     "ours": ours(dump, 2)}
            if PUNKT.is_dir():
                sides["ours, Punkt with given parameters"] = ours(dump, 2, "--punkt-parameters", PUNKT)
            sides["ours, Punkt that learns first"] = ours(dump, 2, "--sentences", "punkt")
            ratios = compare(f"extraction of {kind}, two cores, {megabytes:.1f} MB packed", sides, megabytes, "MB")
            print(f"  ours takes {ratios['ours']:.2f} times as long as unpacking alone (goal: at most 1.6)")
        dump = dumps[list(dumps)[-1]]
        compare("extraction, two threads", {"two threads": ours(dump, 2), "one thread": ours(dump, 1)},
                dump.stat().st_size / 1e6, "MB", goal=1.8)


if __name__ == "__main__":
    main()
