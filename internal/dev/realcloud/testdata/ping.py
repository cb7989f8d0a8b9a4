"""Pings an address ten times a second until it is told to stop: python3 ping.py ADDRESS [COUNT].

Prints how many were sent and how many answered, and the longest time without an answer. With
COUNT it stops after as many answers, or after ten minutes.
"""

import os
import signal
import socket
import struct
import sys
import time


def checksum(data):
    total = sum(struct.unpack("!%dH" % (len(data) // 2), data))
    total = (total >> 16) + (total & 0xFFFF)
    return ~(total + (total >> 16)) & 0xFFFF


def main(address, count=None):
    stop = []
    signal.signal(signal.SIGTERM, lambda *_: stop.append(True))
    sock = socket.socket(socket.AF_INET, socket.SOCK_RAW, socket.IPPROTO_ICMP)
    ident = os.getpid() & 0xFFFF
    sent = 0
    answered = set()
    began = latest = time.monotonic()
    longest = 0.0
    while not stop and (count is None or len(answered) < int(count) and time.monotonic() < began + 600):
        sent += 1
        header = struct.pack("!BBHHH", 8, 0, 0, ident, sent & 0xFFFF)
        packet = struct.pack("!BBHHH", 8, 0, checksum(header), ident, sent & 0xFFFF)
        try:
            sock.sendto(packet, (address, 0))
        except OSError:
            pass  # nobody answers to the address just now
        until = time.monotonic() + 0.1
        while (left := until - time.monotonic()) > 0:
            sock.settimeout(left)
            try:
                data, (source, _) = sock.recvfrom(2048)
            except OSError:
                continue
            kind, _, _, whose, number = struct.unpack("!BBHHH", data[20:28])
            if source == address and kind == 0 and whose == ident and number not in answered:
                answered.add(number)
                now = time.monotonic()
                longest, latest = max(longest, now - latest), now
    longest = max(longest, time.monotonic() - latest)
    print(sent, len(answered), round(longest, 1))


main(*sys.argv[1:])
