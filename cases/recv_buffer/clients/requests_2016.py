"""The report of 2016: requests.iter_content(n) over PyOpenSSL, with a buffer that CFFI clears for each recv.

Three behaviors of 2016 are restored. pyOpenSSL requests a cleared buffer, as before version 17. CFFI clears this buffer
with malloc and memset, as before version 1.10. urllib3 requests the whole size in each recv, as before version 1.26.11.
With this size a chunk may take hours, so single receives are counted instead of whole chunks, until the time is over.
"""

import OpenSSL.SSL
import cffi
import requests
import urllib3
import urllib3.contrib.pyopenssl
import urllib3.response

import cffi_before_1_10
import receiving


def main():
    given = receiving.arguments(__doc__)
    urllib3.contrib.pyopenssl.inject_into_urllib3()
    OpenSSL.SSL._no_zero_allocator = cffi_before_1_10.new_buffer(cffi.FFI())
    urllib3.response.HTTPResponse._fp_read = lambda response, amount: response._fp.read(amount)
    session = requests.Session()
    session.trust_env = False
    answer = session.get(f"https://127.0.0.1:{given.port}/", stream=True, verify=given.certificate)
    answer.raise_for_status()
    loop = receiving.Loop(given.seconds, {
        "cffi": cffi.__version__, "pyOpenSSL": OpenSSL.__version__, "requests": requests.__version__,
        "urllib3": urllib3.__version__})
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
