class ClientException(Exception):
    pass


class HttpError(ClientException):
    def __init__(self, message, http_status):
        super().__init__(message)
        self.http_status = http_status


class Unauthorized(HttpError):
    pass
