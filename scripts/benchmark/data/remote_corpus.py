"""Makes shards of Parquet files on an S3 server of this machine that is throttled and fails at random: by one process, by one that is
killed again and again, and by four parts, and compares their bytes with those from local files. Prints a row per way: wall and processor
seconds, MB of text per processor second, the largest memory of a process, and requests per file. The exit status is 1 if bytes differ.

REMOTE_CORPUS_GIGABYTES (1) of Parquet in REMOTE_CORPUS_FILES (200) files, REMOTE_CORPUS_KILLS (20), REMOTE_CORPUS_RATE (200) MB/s."""
import email.utils
import hashlib
import http.server
import multiprocessing
import os
import pathlib
import random
import re
import shutil
import subprocess
import tempfile
import threading
import time
import urllib.parse
from xml.sax.saxutils import escape

import numpy
import pyarrow
from pyarrow import parquet

from programs import program

DATA_PROGRAM = program("bertpretrain_data")
GIGABYTES, FILES, KILLS, RATE = (float(os.environ.get(f"REMOTE_CORPUS_{name}", default)) for name, default in
                                 (("GIGABYTES", 1), ("FILES", 200), ("KILLS", 20), ("RATE", 200)))
PARTS = 4
FAILS, CUTS = 0.02, 0.01  # shares of requests that are answered with 503, and whose answer ends in the middle
ROWS = 1000  # of a row group


def words():
    """50,000 different words of 2 to 10 letters."""
    source = random.Random(1)
    found = set()
    while len(found) < 50_000:
        found.add("".join(source.choices("etaoinshrdlucmfwypvbgkjqxz", weights=range(26, 0, -1), k=source.randint(2, 10))))
    return sorted(found)


def write_file(path, number, size, names):
    """Writes documents of random words, frequent ones more often, until the file has `size` bytes. Returns the bytes of text."""
    source = numpy.random.default_rng(number)
    weights = 1 / numpy.arange(10, len(names) + 10)
    cumulated = numpy.cumsum(weights / weights.sum())
    names, text_bytes, row = numpy.array(names), 0, 0
    schema = pyarrow.schema([("id", pyarrow.string()), ("text", pyarrow.string())])
    with parquet.ParquetWriter(path, schema, compression="zstd") as writer:
        while path.stat().st_size < size:
            texts = []
            for _ in range(ROWS):
                chosen = names[numpy.searchsorted(cumulated, source.random(source.integers(50, 600)))]
                texts.append("\n".join(" ".join(chosen[i:i + 15]).capitalize() + "." for i in range(0, len(chosen), 15)))
            text_bytes += sum(map(len, texts))
            writer.write_table(pyarrow.table({"id": [f"{number}-{row + i}" for i in range(ROWS)], "text": texts}, schema))
            row += ROWS
    return text_bytes


class Store(http.server.BaseHTTPRequestHandler):
    """The part of S3's protocol that reading needs: lists of objects, HEAD, and GET of ranges with If-Match."""
    protocol_version = "HTTP/1.1"
    folder, lock, source, free_at = None, threading.Lock(), random.Random(2), 0.0

    def do_HEAD(self):
        self.do_GET()

    def do_GET(self):
        url = urllib.parse.urlsplit(self.path)
        key = urllib.parse.unquote(url.path).removeprefix("/bucket").lstrip("/")
        with self.lock, open(self.folder / "requests.log", "a") as log:
            fault = self.source.random()
            log.write(f"{self.command} {key or 'list'}\n")
        if fault < FAILS:
            return self.answer(503, b"<Error><Code>SlowDown</Code></Error>", {})
        if not key:
            return self.answer(200, self.list(urllib.parse.parse_qs(url.query)), {})
        file = self.folder / "objects" / key
        if not file.is_file():
            return self.answer(404, b"<Error><Code>NoSuchKey</Code></Error>", {})
        size = file.stat().st_size
        headers = {"ETag": f'"{key}-{size}"', "Last-Modified": email.utils.formatdate(file.stat().st_mtime, usegmt=True)}
        asked = re.fullmatch(r"bytes=(\d+)-(\d+)", self.headers.get("Range", ""))
        begin, end = (int(asked[1]), min(int(asked[2]) + 1, size)) if asked else (0, size)
        if asked:
            headers["Content-Range"] = f"bytes {begin}-{end - 1}/{size}"
        if self.command == "HEAD":
            return self.answer(200, b"", headers | {"Content-Length": str(size)})
        with open(file, "rb") as opened:
            opened.seek(begin)
            content = opened.read(end - begin)
        self.wait_for_rate(len(content))
        self.answer(206 if asked else 200, content, headers, cuts=fault > 1 - CUTS)

    def wait_for_rate(self, size):
        with self.lock:
            begin = max(time.monotonic(), Store.free_at)
            Store.free_at = begin + size / (RATE * 1e6)
        time.sleep(max(0, Store.free_at - time.monotonic()))

    def list(self, query):
        prefix = query.get("prefix", [""])[0]
        keys = sorted(path.relative_to(self.folder / "objects").as_posix() for path in (self.folder / "objects").rglob("*") if path.is_file())
        entries = "".join(f"<Contents><Key>{escape(key)}</Key><Size>{(self.folder / 'objects' / key).stat().st_size}</Size></Contents>"
                          for key in keys if key.startswith(prefix))
        return f"<ListBucketResult><IsTruncated>false</IsTruncated>{entries}</ListBucketResult>".encode()

    def answer(self, status, content, headers, cuts=False):
        self.send_response(status)
        for name, value in ({"Content-Length": str(len(content))} | headers).items():
            self.send_header(name, value)
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(content[:len(content) // 2] if cuts else content)
        self.close_connection = cuts or self.close_connection

    def log_message(self, *arguments):
        pass


def serve(folder, port):
    Store.folder = folder
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Store)
    port.send(server.server_address[1])
    server.serve_forever()


class Measure:
    """The costs of one way."""
    def __init__(self, environment):
        self.environment, self.seconds, self.processor, self.memory = environment, 0.0, 0.0, 0

    def run(self, *arguments, kill_after=None):
        """Runs the program. Returns whether it ended by itself."""
        begin = time.monotonic()
        process = subprocess.Popen([DATA_PROGRAM, *map(str, arguments)], env=self.environment, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
        timer = threading.Timer(kill_after, process.kill) if kill_after is not None else None
        if timer:
            timer.start()
        message = process.stderr.read().decode(errors="replace")
        _, status, usage = os.wait4(process.pid, 0)
        if timer:
            timer.cancel()
        process.returncode = os.waitstatus_to_exitcode(status)
        self.seconds += time.monotonic() - begin
        self.processor += usage.ru_utime + usage.ru_stime
        self.memory = max(self.memory, usage.ru_maxrss * 1024)
        if process.returncode not in (0, -9):
            raise SystemExit(f"{arguments}: exit code {process.returncode}\n{message}")
        return process.returncode == 0


def digest(folder):
    """Of all shards and the totals; the manifest names the inputs by path or address."""
    content = hashlib.sha256()
    for file in sorted(folder.glob("*.h5")):
        content.update(file.name.encode() + file.read_bytes())
    return content.hexdigest()


def main():
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        objects = folder / "objects/corpus"
        objects.mkdir(parents=True)
        size, names = GIGABYTES * 1e9 / FILES, words()
        with multiprocessing.Pool() as pool:
            jobs = [(objects / f"part-{number:04}.parquet", number, size, names) for number in range(int(FILES))]
            text_bytes = sum(pool.starmap(write_file, jobs))
        stored = sum(file.stat().st_size for file in objects.iterdir())
        (folder / "vocab.txt").write_text("\n".join(["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "."] + names) + "\n")
        print(f"{stored / 1e9:.2f} GB of Parquet in {int(FILES)} files, {text_bytes / 1e9:.2f} GB of text; {os.cpu_count()} cores", flush=True)
        ours, theirs = multiprocessing.Pipe()
        server = multiprocessing.Process(target=serve, args=(folder, theirs), daemon=True)
        server.start()
        environment = dict(os.environ, AWS_ENDPOINT_URL=f"http://127.0.0.1:{ours.recv()}", AWS_ACCESS_KEY_ID="key",
                           AWS_SECRET_ACCESS_KEY="secret", AWS_REGION="us-east-1", no_proxy="127.0.0.1")
        log = folder / "requests.log"

        def command(inputs, output):
            return ("shard", inputs, "--vocabulary", folder / "vocab.txt", "--output", output, "--shards", 16, "--held-out-shards", 4)

        def report(way, measure, output, expected):
            found = digest(output)
            requests = len(log.read_text().splitlines()) if log.exists() else 0
            log.unlink(missing_ok=True)
            same = "" if expected is None else ", the same bytes" if found == expected else ", OTHER BYTES"
            print(f"{way:34} {measure.seconds:7.1f} s, {measure.processor:7.1f} s of processor time, "
                  f"{text_bytes / 1e6 / measure.processor:5.1f} MB of text per processor second, {measure.memory / 1e6:5.0f} MB of memory, "
                  f"{requests / FILES:5.1f} requests per file{same}", flush=True)
            shutil.rmtree(output)
            return found

        remote = "s3://bucket/corpus/"
        local = Measure(environment)
        local.run(*command(objects, folder / "local"))
        expected = report("local files", local, folder / "local", None)
        whole = Measure(environment)
        whole.run(*command(remote, folder / "whole"))
        results = [report("S3, one process", whole, folder / "whole", expected)]
        killed, source, kills = Measure(environment), random.Random(3), 0
        while not killed.run(*command(remote, folder / "killed"), kill_after=source.uniform(0, whole.seconds / 4) if kills < KILLS else None):
            kills += 1
        results.append(report(f"S3, one process, killed {kills} times", killed, folder / "killed", expected))
        parts = Measure(environment)
        for part in range(1, PARTS + 1):
            parts.run(*command(remote, folder / "parts"), "--part", f"{part}/{PARTS}")
        parts.run("join", folder / "parts")
        results.append(report(f"S3, {PARTS} parts one after the other", parts, folder / "parts", expected))
        server.terminate()
        if any(result != expected for result in results):
            raise SystemExit("bytes differ")


main()
