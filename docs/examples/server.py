"""A minimal server: it forks, and writes to its memory while the child still shares this memory."""
import os

data = bytearray(b"x" * 64_000_000)
done, ready = os.pipe()
if os.fork() == 0:
    os.close(ready)
    os._exit(len(os.read(done, 1)))  # blocks until the parent has written
data[::4096] = bytes(len(data[::4096]))
os.close(ready)
os.wait()
