"""A process that does not belong to a run: scans all TCP ports of two addresses again and again, and writes to each open one.

stranger.py END ADDRESS...    until the file END exists; then prints {address: {port: number of scans that found it open}} as JSON
"""
import json
import pathlib
import selectors
import socket
import sys
import time

AT_ONCE = 400
GARBAGE = [b"", b"GET / HTTP/1.1\r\n\r\n", bytes(range(256)) * 16, b"\x00" * 8, b"\xff" * 64]


def open_ports(address, ports):
    """Returns the connected sockets of those ports that accept a connection within half a second."""
    found = []
    for begin in range(0, len(ports), AT_ONCE):
        waiting = selectors.DefaultSelector()
        for port in ports[begin:begin + AT_ONCE]:
            one = socket.socket()
            one.setblocking(False)
            if one.connect_ex((address, port)) in (0, 115):  # 115: in progress
                waiting.register(one, selectors.EVENT_WRITE, port)
            else:
                one.close()
        end = time.monotonic() + 0.5
        while waiting.get_map() and time.monotonic() < end:
            for key, _ in waiting.select(0.1):
                waiting.unregister(key.fileobj)
                if key.fileobj.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR) == 0:
                    found.append((key.data, key.fileobj))
                else:
                    key.fileobj.close()
        for key in list(waiting.get_map().values()):
            key.fileobj.close()
        waiting.close()
    return found


def main():
    end, addresses = pathlib.Path(sys.argv[1]), sys.argv[2:]
    seen = {address: {} for address in addresses}
    ephemeral = [port for port in range(29000, 61000)]  # what ranks use, scanned more often than all ports
    scans = 0
    held = []
    while not end.exists():
        for address in addresses:
            for port, connection in open_ports(address, list(range(1, 65536)) if scans % 4 == 3 else ephemeral):
                seen[address][port] = seen[address].get(port, 0) + 1
                try:
                    connection.send(GARBAGE[scans % len(GARBAGE)])
                except OSError:
                    pass
                held.append(connection)
        scans += 1
        for connection in held[:-50]:
            connection.close()
        held = held[-50:]
    print(json.dumps(seen))


main()
