from .. import session


class Password:
    """Logs in with a name or an id; the test's API answers with a token and the user."""

    def __init__(self, url, password, username=None, user_id=None, **scope):
        self.url, self.body = url, {"user": user_id or username, "password": password}
        self.access = None

    def get_access(self, other):
        if self.access is None:
            self.access = session.send(self.url + "/auth/tokens", "POST", self.body, {}, other.timeout).json()
        return self.access
