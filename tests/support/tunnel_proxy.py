"""An HTTP proxy in this process that tunnels every CONNECT to one port of localhost."""
import contextlib
import select
import socket
import socketserver

from in_background import InBackground


class Proxy(InBackground):
    """`with Proxy(port) as proxy`: every CONNECT leads to `port` of localhost.

    `asked` has the targets and headers; `refuse`, where set, is the status that every CONNECT gets.
    """

    def __init__(self, port):
        self.port, self.asked, self.refuse = port, [], None
        proxy = self

        class Handler(socketserver.StreamRequestHandler):
            def handle(self):
                head = []
                while line := self.rfile.readline().decode().strip():
                    head.append(line)
                if not head:
                    return
                proxy.asked.append((head[0], dict(line.split(": ", 1) for line in head[1:])))
                if proxy.refuse or not head[0].startswith("CONNECT "):
                    self.wfile.write(b"HTTP/1.1 %d no\r\nContent-Length: 0\r\n\r\n" % (proxy.refuse or 405))
                    return
                self.wfile.write(b"HTTP/1.1 200 established\r\n\r\n")
                with socket.create_connection(("127.0.0.1", proxy.port)) as there, contextlib.suppress(OSError):
                    forward(self.connection, there)

        self.server = socketserver.ThreadingTCPServer(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        self.host = f"localhost:{self.server.server_address[1]}"


def forward(one, other):
    """Bytes in both directions until one side ends."""
    to = {one: other, other: one}
    while True:
        for ready in select.select(to, [], [])[0]:
            data = ready.recv(1 << 16)
            if not data:
                return
            to[ready].sendall(data)
