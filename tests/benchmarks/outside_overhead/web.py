"""A web server that answers with JSON. Usage: web.py COUNTER. Prints its port."""
import json
import mmap
import struct
import sys
from http.server import BaseHTTPRequestHandler, HTTPServer

with open(sys.argv[1], "r+b") as file:
    COUNTER = mmap.mmap(file.fileno(), 4096)


class Handler(BaseHTTPRequestHandler):
    """Keeps the connection open, and sends the same answer to each request."""
    protocol_version = "HTTP/1.1"
    wbufsize = 1 << 16  # so large that an answer is sent as one packet

    def do_GET(self):
        """Answers and counts a request."""
        body = json.dumps([{"name": f"item {i}", "values": list(range(40))} for i in range(50)]).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)
        COUNTER[:8] = struct.pack("Q", struct.unpack("Q", COUNTER[:8])[0] + 1)

    def log_message(self, *_):
        """Logs nothing."""


server = HTTPServer(("127.0.0.1", 0), Handler)
print(server.server_port, flush=True)
server.serve_forever()
