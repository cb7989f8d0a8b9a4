import json
import urllib.error
import urllib.request

from . import exceptions


class Reply:
    def __init__(self, content):
        self.content = content

    def json(self):
        return json.loads(self.content)


class Session:
    def __init__(self, auth, connect_retries, timeout):
        self.auth, self.timeout = auth, timeout

    def get_user_id(self):
        return self.auth.get_access(self)["user"]

    def request(self, url, method, json=None, authenticated=True, headers=None):
        headers = dict(headers or {})
        if authenticated:
            headers["X-Auth-Token"] = self.auth.get_access(self)["token"]
        return send(url, method, json, headers, self.timeout)


def send(url, method, body, headers, timeout):
    data = None if body is None else json.dumps(body).encode()
    if data:
        headers["Content-Type"] = "application/json"
    request = urllib.request.Request(url, data=data, method=method, headers=headers)
    try:
        with urllib.request.urlopen(request, timeout=timeout) as reply:
            return Reply(reply.read())
    except urllib.error.HTTPError as e:
        kind = exceptions.Unauthorized if e.code == 401 else exceptions.HttpError
        raise kind(f"{e.code} for {method} {url}", e.code) from e
