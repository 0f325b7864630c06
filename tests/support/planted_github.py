"""A stand-in for GitHub's API for comments. The stand-in returns two comments per page, and accepts only the token
"secret".
"""

import contextlib
import http.server
import json
import re
import threading
import urllib.parse


class Comments:
    """The comments of pull request 7 of me/mine, and the received requests. `refuses` is the status with which writes
    are answered.
    """

    def __init__(self):
        self.bodies, self.asked, self.refuses = {}, [], None
        self.address = ""

    def add(self, body):
        number = max(self.bodies, default=100) + 1
        self.bodies[number] = body
        return number

    def shown(self, number):
        return {"id": number, "body": self.bodies[number], "url": f"{self.address}/repos/me/mine/issues/comments/{number}"}


@contextlib.contextmanager
def planted_github():
    comments = Comments()

    class Handler(http.server.BaseHTTPRequestHandler):
        def log_message(self, *_):
            pass

        def answer(self, status, document, **headers):
            body = json.dumps(document).encode()
            self.send_response(status)
            for name, value in {"Content-Length": str(len(body)), **headers}.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(body)

        def do(self):
            sent = self.rfile.read(int(self.headers.get("Content-Length") or 0))
            place = urllib.parse.urlsplit(self.path)
            comments.asked.append(f"{self.command} {place.path}")
            one = re.fullmatch(r"/repos/me/mine/issues/comments/(\d+)", place.path)
            if self.headers.get("Authorization") != "Bearer secret":
                self.answer(401, {"message": "Bad credentials"})
            elif comments.refuses and self.command != "GET":
                self.answer(comments.refuses, {"message": "Resource not accessible by integration"})
            elif self.command == "PATCH" and one and int(one[1]) in comments.bodies:
                comments.bodies[int(one[1])] = json.loads(sent)["body"]
                self.answer(200, comments.shown(int(one[1])))
            elif place.path != "/repos/me/mine/issues/7/comments":
                self.answer(404, {"message": "Not Found"})
            elif self.command == "POST":
                self.answer(201, comments.shown(comments.add(json.loads(sent)["body"])))
            else:
                page = int(urllib.parse.parse_qs(place.query).get("page", ["1"])[0])
                numbers = sorted(comments.bodies)
                more = len(numbers) > 2 * page
                self.answer(200, [comments.shown(number) for number in numbers[2 * page - 2:2 * page]], **(
                    {"Link": f'<{comments.address}{place.path}?page={page + 1}>; rel="next"'} if more else {}))

        do_GET = do_POST = do_PATCH = do

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        comments.address = f"http://127.0.0.1:{server.server_port}"
        threading.Thread(target=server.serve_forever, daemon=True).start()
        try:
            yield comments
        finally:
            server.shutdown()
