"""Serves in a thread of its own while a `with` block runs."""
import threading


class InBackground:
    """For classes whose `self.server` is a socketserver."""

    def __enter__(self):
        threading.Thread(target=self.server.serve_forever, args=(0.05,), daemon=True).start()
        return self

    def __exit__(self, *_):
        self.server.shutdown()
        self.server.server_close()
