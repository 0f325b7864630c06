"""The report of 2016 itself: requests.iter_content(n) over PyOpenSSL with a buffer zeroed for each recv.

PyOpenSSL is made to ask for its buffers as it did before version 17; nothing else of it is changed. As a chunk may take hours
then, what is counted is not whole chunks but single receives, until the time is over.
"""

import OpenSSL.SSL
import requests
import urllib3.contrib.pyopenssl
from OpenSSL._util import ffi

import receiving


def main():
    given = receiving.arguments(__doc__)
    urllib3.contrib.pyopenssl.inject_into_urllib3()
    OpenSSL.SSL._no_zero_allocator = ffi.new
    session = requests.Session()
    session.trust_env = False
    answer = session.get(f"https://127.0.0.1:{given.port}/", stream=True, verify=given.certificate)
    answer.raise_for_status()
    loop = receiving.Loop(given.seconds, {"requests": requests.__version__, "pyOpenSSL": OpenSSL.__version__})
    receive = OpenSSL.SSL.Connection.recv_into

    def counted(*arguments, **named):
        got = receive(*arguments, **named)
        loop.got(got)
        return got

    OpenSSL.SSL.Connection.recv_into = counted
    for _ in answer.iter_content(given.size):
        pass


if __name__ == "__main__":
    main()
