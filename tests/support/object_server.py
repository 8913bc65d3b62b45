"""object_server.py FOLDER: moto's S3 server with the bucket "bucket", and a proxy before it that injects faults.

Prints "MOTO_PORT PROXY_PORT". The proxy reads FOLDER/faults.json before every request, a list such as
  [{"fault": "503", "method": "GET", "contains": ".h5", "every": 3}]
A fault applies to every n-th request ("every", default 1) after the first ones ("after", default 0) that its method and path match, at
most "times" times. Other keys, such as "number", only make it another fault than an equal one. Faults:
  503     answers 503 SlowDown
  error   answers "status" (default 400) with the error "code" (default Throttling); the request has no effect
  lost    carries the request out, but closes the connection without an answer
  refused closes the connection; the request has no effect
  reset   the same, but the caller sees a reset connection
  slow    sends the body in eight parts, "seconds" apart (default 0.05)
  cut     closes the connection in the middle of the body: of the answer, or of the object that a PUT sends
  wrong   changes one byte of the body: of the answer to a GET, or of the object that a PUT stores
  redirect  answers 307 with the address of the same object past the proxy
  stall   sends half of the body, then nothing for "seconds"
The proxy is an instance's metadata service too (IMDSv2): paths below /latest/. FOLDER/imds.json sets the next answers' "key" and for how
many "seconds" the credentials are valid.
Appends "METHOD PATH RANGE FAULT" of each request to FOLDER/requests.log.
"""
import http.client
import http.server
import json
import os
import pathlib
import socket
import struct
import sys
import threading
import time

os.environ["MOTO_S3_DEFAULT_MAX_KEYS"] = "5"  # so that a list soon takes several pages
os.environ["S3_UPLOAD_PART_MIN_SIZE"] = "1000"  # so that a small file has several parts
from moto.server import ThreadedMotoServer

FOLDER = pathlib.Path(sys.argv[1])
# moto refuses requests without a signature; the proxy adds one, so that it is an open HTTP server too
PUBLIC = "AWS4-HMAC-SHA256 Credential=key/20260101/us-east-1/s3/aws4_request, SignedHeaders=host, Signature=none"
lock = threading.Lock()
counts = {}


def fault_of(method, path):
    try:
        faults = json.loads((FOLDER / "faults.json").read_text())
    except (FileNotFoundError, ValueError):
        return {}
    for fault in faults:
        if fault.get("method", method) != method or fault.get("contains", "") not in path:
            continue
        with lock:
            entry = counts.setdefault(json.dumps(fault), [0, 0])
            entry[0] += 1
            if entry[0] > fault.get("after", 0) and entry[0] % fault.get("every", 1) == 0 and entry[1] < fault.get("times", 1 << 30):
                entry[1] += 1
                return fault
    return {}


def changed(body):
    return body[: len(body) // 2] + bytes([body[len(body) // 2] ^ 1]) + body[len(body) // 2 + 1 :] if body else body


def error_text(code, message):
    return f"<Error><Code>{code}</Code><Message>{message}</Message></Error>".encode()


def metadata(method, path):
    """Returns the status and the text with which an instance's metadata service answers."""
    role = "/latest/meta-data/iam/security-credentials/"
    if (method, path) == ("PUT", "/latest/api/token"):
        return 200, b"a-session"
    if path == role:
        return 200, b"training\n"
    if path != role + "training":
        return 404, b""
    try:
        settings = json.loads((FOLDER / "imds.json").read_text())
    except (FileNotFoundError, ValueError):
        settings = {}
    expires = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(time.time() + settings.get("seconds", 3600)))
    keys = {"Code": "Success", "AccessKeyId": settings.get("key", "of-imds"), "SecretAccessKey": "s", "Token": "t", "Expiration": expires}
    return 200, json.dumps(keys).encode()


class Proxy(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def serve(self):
        fault = fault_of(self.command, self.path)
        name = fault.get("fault", "")
        length = int(self.headers.get("Content-Length", 0))
        is_cut = name == "cut" and self.command == "PUT"
        body = self.rfile.read(length // 2 if is_cut else length)
        with lock, open(FOLDER / "requests.log", "a") as log:
            log.write(f"{self.command} {self.path} {self.headers.get('Range', '-')} {name or '-'}\n")
        if is_cut or name == "refused":
            self.close_connection = True
            return None
        if name == "reset":
            self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            self.close_connection = True
            os.close(self.connection.detach())
            return None
        if name == "503":
            return self.answer(503, {}, error_text("SlowDown", "Reduce your request rate."))
        if name == "error":
            return self.answer(fault.get("status", 400), {}, error_text(fault.get("code", "Throttling"), "A fault."))
        if name == "redirect":
            return self.answer(307, {"Location": f"http://127.0.0.1:{MOTO_PORT}{self.path}"}, b"")
        if name == "wrong" and self.command == "PUT":
            body = changed(body)
        if self.path.startswith("/latest/"):
            status, content = metadata(self.command, self.path)
            headers = {}
        else:
            connection = http.client.HTTPConnection("127.0.0.1", MOTO_PORT)
            public = {} if (self.command, self.path) == ("POST", "/") else {"Authorization": PUBLIC}  # STS is not signed
            connection.request(self.command, self.path, body, {**public, **self.headers})
            response = connection.getresponse()
            status, headers, content = response.status, dict(response.getheaders()), response.read()
            connection.close()
        if name == "lost":
            self.close_connection = True
            return None
        if name == "wrong" and self.command == "GET":
            content = changed(content)
        self.answer(status, headers, content, fault)

    def answer(self, status, headers, content, fault={}):
        self.send_response(status)
        for key, value in headers.items():
            if key.lower() not in ("content-length", "connection", "transfer-encoding", "date", "server"):
                self.send_header(key, value)
        length = len(content)
        if self.command == "HEAD":
            length = int(headers.get("Content-Length", 0))
        if status != 204:
            self.send_header("Content-Length", str(length))
        self.end_headers()
        name = fault.get("fault")
        if name == "cut":
            self.wfile.write(content[: len(content) // 2])
            self.close_connection = True
        elif name == "stall":
            self.wfile.write(content[: len(content) // 2])
            self.wfile.flush()
            time.sleep(fault.get("seconds", 5))
            self.close_connection = True
        elif name == "slow":
            step = max(1, (len(content) + 7) // 8)
            for begin in range(0, len(content), step):
                time.sleep(fault.get("seconds", 0.05))
                self.wfile.write(content[begin : begin + step])
        elif self.command != "HEAD":
            self.wfile.write(content)

    do_GET = do_PUT = do_POST = do_DELETE = do_HEAD = serve

    def log_message(self, *arguments):
        pass


moto = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
moto.start()
MOTO_PORT = moto.get_host_and_port()[1]
connection = http.client.HTTPConnection("127.0.0.1", MOTO_PORT)
connection.request("PUT", "/bucket")
assert connection.getresponse().status == 200
proxy = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Proxy)
proxy.daemon_threads = True
print(MOTO_PORT, proxy.server_address[1], flush=True)
proxy.serve_forever()
