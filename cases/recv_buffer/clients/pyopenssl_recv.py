"""Connection.recv(n) of the installed pyOpenSSL."""

import OpenSSL
from OpenSSL import SSL

import receiving


def main():
    given = receiving.arguments(__doc__)
    context = SSL.Context(SSL.TLS_CLIENT_METHOD)
    context.set_min_proto_version(SSL.TLS1_3_VERSION)
    context.load_verify_locations(given.certificate)
    context.set_verify(SSL.VERIFY_PEER, lambda connection, certificate, error, depth, good: bool(good))
    connection = SSL.Connection(context, receiving.connect(given.port))
    connection.set_tlsext_host_name(b"localhost")
    connection.set_connect_state()
    connection.do_handshake()
    loop = receiving.Loop(given.seconds, {"pyOpenSSL": OpenSSL.__version__})
    while True:
        loop.got(len(connection.recv(given.size)))


if __name__ == "__main__":
    main()
