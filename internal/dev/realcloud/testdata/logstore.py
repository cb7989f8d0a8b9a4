# A store of logs: takes the bulk requests of Elasticsearch, and appends each record, with its id, to a file.
import http.server
import json
import sys
import threading

address, path = sys.argv[1], sys.argv[2]
lock = threading.Lock()


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self):
        self.answer({"version": {"number": "8.0.0", "build_flavor": "default"}, "tagline": "You Know, for Search"})

    def do_POST(self):
        lines = [json.loads(line) for line in self.rfile.read(int(self.headers["Content-Length"])).splitlines()]
        with lock, open(path, "a", encoding="utf-8") as file:
            for action, record in zip(lines[::2], lines[1::2]):
                print(json.dumps({"id": action["index"]["_id"], **record}), file=file)
        self.answer({"took": 1, "errors": False, "items": []})

    def answer(self, value):
        body = json.dumps(value).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("X-Elastic-Product", "Elasticsearch")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *args):
        pass


http.server.ThreadingHTTPServer((address, 9200), Handler).serve_forever()
