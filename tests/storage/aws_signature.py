"""aws_signature.py FILE: prints botocore's Authorization header for each line of the file, a JSON list of method, URL, payload hash,
time, key, secret, token and region."""
import json
import sys

from botocore.auth import S3SigV4Auth
from botocore.awsrequest import AWSRequest
from botocore.credentials import Credentials

for line in open(sys.argv[1]):
    method, url, payload, time, key, secret, token, region = json.loads(line)
    request = AWSRequest(method=method, url=url, headers={})
    request.context["timestamp"] = time
    auth = S3SigV4Auth(Credentials(key, secret, token or None), "s3", region)
    auth.payload = lambda _: payload
    auth._modify_request_before_signing(request)
    canonical = auth.canonical_request(request)
    signature = auth.signature(auth.string_to_sign(request, canonical), request)
    auth._inject_signature_to_request(request, signature)
    print(request.headers["Authorization"])
