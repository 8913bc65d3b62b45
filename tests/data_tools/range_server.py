"""range_server.py FOLDER [PATH:BYTES]...: a dump site on the loopback interface. Serves FOLDER with support for Range,
and prints its port. Closes the first response for PATH after that many bytes."""
import http.server
import os
import pathlib
import sys

FOLDER = pathlib.Path(sys.argv[1])
CUTS = dict(argument.rsplit(":", 1) for argument in sys.argv[2:])


class Handler(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        file = FOLDER / self.path.lstrip("/")
        if not file.is_file():
            return self.send_error(404)
        content, begin = file.read_bytes(), 0
        if asked := self.headers.get("Range"):
            begin = int(asked.removeprefix("bytes=").split("-")[0])
            with open(FOLDER / "ranges.log", "a") as log:
                log.write(f"{self.path} {begin}\n")
            if begin >= len(content):
                return self.send_error(416)
        self.send_response(206 if asked else 200)
        self.send_header("Content-Length", str(len(content) - begin))
        if asked:
            self.send_header("Content-Range", f"bytes {begin}-{len(content) - 1}/{len(content)}")
        self.end_headers()
        cut = int(CUTS.pop(self.path.lstrip("/"), len(content)))
        self.wfile.write(content[begin:cut])
        if cut < len(content):
            self.wfile.flush()
            self.close_connection = True
            os._exit(0)  # breaks the connection; a second attempt gets no response

    def log_message(self, *arguments):
        pass


server = http.server.HTTPServer(("127.0.0.1", 0), Handler)
print(server.server_address[1], flush=True)
server.serve_forever()
