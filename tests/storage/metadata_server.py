"""metadata_server.py: the credential services of a container and of an instance, on the loopback interface. Prints the port."""
import http.server
import json

KEYS = {"SecretAccessKey": "s", "Token": "t", "Expiration": "2099-01-01T00:00:00Z"}
SESSION = "a-session-of-imds"


class Handler(http.server.BaseHTTPRequestHandler):
    def do_PUT(self):
        self.rfile.read(int(self.headers.get("Content-Length", 0)))
        has_ttl = self.headers.get("X-aws-ec2-metadata-token-ttl-seconds")
        self.answer(SESSION if has_ttl and self.path == "/latest/api/token" else None)

    def do_GET(self):
        role = "/latest/meta-data/iam/security-credentials/"
        if self.path == "/task" and self.headers.get("Authorization") == "a-task-token":
            return self.answer(json.dumps({"AccessKeyId": "of-task", **KEYS}))
        if self.headers.get("X-aws-ec2-metadata-token") != SESSION:
            return self.answer(None)
        self.answer({role: "training\n", role + "training": json.dumps({"AccessKeyId": "of-instance", **KEYS})}.get(self.path))

    def answer(self, text):
        content = (text or "").encode()
        self.send_response(403 if text is None else 200)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, *arguments):
        pass


server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
print(server.server_address[1], flush=True)
server.serve_forever()
