"""Hands a renewed certificate to HAProxy, which uses it for new connections without a restart.

The arguments are the directory with the keys of the Secret, HAProxy's socket, and the seconds between
two looks at the files.
"""

import pathlib
import socket
import sys
import time

directory, admin, pause = pathlib.Path(sys.argv[1]), sys.argv[2], float(sys.argv[3])
certificate = directory / "tls.crt"


def ask(command):
    with socket.socket(socket.AF_UNIX) as connection:
        connection.settimeout(10)
        connection.connect(admin)
        connection.sendall(command.encode() + b"\n")
        answer = b""
        while part := connection.recv(65536):
            answer += part
    return answer.decode(errors="replace").strip()


def pem():
    """Returns the certificate and its key. The kubelet replaces all files of a Secret at once, by a link."""
    version = (directory / "..data").resolve()
    if not version.exists():
        version = directory
    lines = []
    for name in ("tls.crt", "tls.key"):
        lines += (line for line in (version / name).read_text().splitlines() if line.strip())
    return "\n".join(lines)


def hand_over(text):
    """Reports whether HAProxy has taken the certificate."""
    said = ask(f"set ssl cert {certificate} <<\n{text}\n")
    if "Transaction created" in said or "Transaction updated" in said:
        said = ask(f"commit ssl cert {certificate}")
        if "Success" in said:
            return True
        ask(f"abort ssl cert {certificate}")
    print(f"HAProxy refuses the certificate, and keeps the one that it has: {said}", flush=True)
    return False


# The first time too: the files may have changed after HAProxy had read them.
taken = None
refused = None
while True:
    try:
        text = pem()
        if text not in (taken, refused):
            if hand_over(text):
                taken, refused = text, None
                print("HAProxy has the certificate.", flush=True)
            else:
                refused = text
    except OSError as error:
        print(f"Cannot hand over the certificate: {error}. The next attempt is in {pause} seconds.", flush=True)
    time.sleep(pause)
