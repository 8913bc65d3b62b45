"""file_server.py FOLDER: two HTTP servers of FOLDER/files on the loopback interface, of which the first one is a dataset hub too.

Prints "PORT OTHER_PORT". Paths:
  /files/PATH         the file, with ranges, ETag and If-Match; a folder has none
  /whole/PATH         the same without ranges: each answer is the whole file, with status 200
  /changing/PATH      as /files/, but each GET finds another ETag than the one before
  /unsized/PATH       as /files/, but no answer says the file's size: HEAD gets 405, and a range after the end a bare 416
  /half/PATH          as /files/, but a range that begins in the second half gets a bare 416
  /secret/PATH        403, unless the request has the token "verysecret"
  /moved/PATH         302 to /files/PATH of the other server
  /near/PATH          307 to /files/PATH, without a host
  /datasets/OWNER/NAME/resolve/REVISION/PATH   of FOLDER/files/OWNER/NAME/PATH: needs the token; 302 to the other server
  /api/datasets/OWNER/NAME/tree/REVISION/PATH  the files below it, two on a page
Appends "PORT METHOD PATH RANGE TOKEN" of each request to FOLDER/requests.log; PORT is "first" or "other".
"""
import hashlib
import http.server
import json
import pathlib
import sys
import threading
import urllib.parse

FOLDER = pathlib.Path(sys.argv[1])
FILES = FOLDER / "files"
PAGE = 2
lock = threading.Lock()
gets = {}


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def serve(self):
        url = urllib.parse.urlsplit(self.path)
        parts = urllib.parse.unquote(url.path).strip("/").split("/")
        token = self.headers.get("Authorization", "-").removeprefix("Bearer ")
        name = "first" if self.server is servers[0] else "other"
        with lock, open(FOLDER / "requests.log", "a") as log:
            log.write(f"{name} {self.command} {self.path} {self.headers.get('Range', '-')} {token}\n")
        kind, inner = parts[0], FILES.joinpath(*parts[1:])
        other = f"http://127.0.0.1:{servers[1].server_address[1]}/files/"
        if kind == "secret" and token != "verysecret":
            return self.answer(403, {}, b"no entry")
        if kind == "moved":
            return self.answer(302, {"Location": other + "/".join(parts[1:])}, b"")
        if kind == "near":
            return self.answer(307, {"Location": "/files/" + "/".join(parts[1:])}, b"")
        if kind in ("datasets", "api") and token != "verysecret":
            return self.answer(401, {}, b"Invalid username or password.")
        if kind == "datasets":
            dataset, path = "/".join(parts[1:3]), "/".join(parts[5:])
            if not (FILES / dataset / path).is_file():
                return self.answer(404, {}, b"Entry not found")
            return self.answer(302, {"Location": other + urllib.parse.quote(f"{dataset}/{path}")}, b"")
        if kind == "api":
            return self.list_files(FILES.joinpath(*parts[2:4]), "/".join(parts[6:]), urllib.parse.parse_qs(url.query))
        if not inner.is_file():
            return self.answer(404, {}, b"not here")
        self.send_file(kind, inner)

    def list_files(self, dataset, below, query):
        found = sorted((p for p in (dataset / below).rglob("*")), reverse=True)  # the order is not promised
        begin = int(query.get("cursor", ["a=0"])[0].removeprefix("a="))
        page = [{"type": "file" if p.is_file() else "directory", "path": str(p.relative_to(dataset)), "oid": "0",
                 "size": p.stat().st_size if p.is_file() else 0} for p in found[begin:begin + PAGE]]
        headers = {}
        if begin + PAGE < len(found):
            headers["Link"] = f'<http://{self.headers["Host"]}{urllib.parse.urlsplit(self.path).path}?recursive=true&cursor=a%3D{begin + PAGE}>; rel="next"'
        if not found:
            return self.answer(404, {}, b'{"error": "not found"}')
        self.answer(200, headers, json.dumps(page).encode())

    def send_file(self, kind, file):
        content = file.read_bytes()
        with lock:
            gets[self.path] = gets.get(self.path, 0) + (self.command == "GET")
            tag = f'"{gets[self.path]}"' if kind == "changing" else f'"{hashlib.md5(content).hexdigest()}"'
        asked = self.headers.get("Range")
        if kind == "unsized" and self.command == "HEAD":
            return self.answer(405, {}, b"")
        if kind == "whole" or not asked:
            return self.answer(200, {} if kind == "whole" else {"ETag": tag}, content)
        if self.headers.get("If-Match", tag) != tag:
            return self.answer(412, {"ETag": tag}, b"")
        begin, end = asked.removeprefix("bytes=").split("-")
        begin, end = int(begin), min(int(end), len(content) - 1)
        bare = kind == "unsized" or (kind == "half" and begin >= len(content) // 2)
        if begin >= len(content) or (kind == "half" and bare):
            return self.answer(416, {} if bare else {"Content-Range": f"bytes */{len(content)}"}, b"")
        size = "*" if kind == "unsized" else len(content)
        self.answer(206, {"ETag": tag, "Content-Range": f"bytes {begin}-{end}/{size}"}, content[begin:end + 1])

    def answer(self, status, headers, content):
        self.send_response(status)
        for key, value in headers.items():
            self.send_header(key, value)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(content)

    do_GET = do_HEAD = serve

    def log_message(self, *arguments):
        pass


servers = [http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler) for _ in range(2)]
for server in servers:
    server.daemon_threads = True
threading.Thread(target=servers[1].serve_forever, daemon=True).start()
print(*(server.server_address[1] for server in servers), flush=True)
servers[0].serve_forever()
