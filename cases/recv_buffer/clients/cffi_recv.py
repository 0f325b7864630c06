"""The receive loop of PyOpenSSL until 2016, with a buffer from CFFI and the TLS of Python's own ssl module."""

import ssl

import cffi

import receiving


def main(description, new_buffer):
    """Runs the client. `new_buffer(ffi)` returns a function that makes a buffer from a C type and a length."""
    given = receiving.arguments(description)
    context = ssl.create_default_context(cafile=given.certificate)
    context.minimum_version = ssl.TLSVersion.TLSv1_3
    connection = context.wrap_socket(receiving.connect(given.port), server_hostname="localhost")
    ffi = cffi.FFI()
    new = new_buffer(ffi)
    loop = receiving.Loop(given.seconds, {"cffi": cffi.__version__})

    def receive():
        buffer = new("char[]", given.size)
        got = connection.recv_into(ffi.buffer(buffer))
        return ffi.buffer(buffer, got)[:]

    while True:
        loop.got(len(receive()))
