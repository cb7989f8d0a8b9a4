class SDKException(Exception):
    pass


class ConflictException(SDKException):
    pass


def raise_from_response(answer):
    if answer.status == 409:
        raise ConflictException("409")
    if answer.status >= 400:
        raise SDKException(str(answer.status))
