"""The loop of requests_chunks over PyOpenSSL, which requests used in 2016 wherever PyOpenSSL was installed."""

import OpenSSL
import urllib3.contrib.pyopenssl

import requests_chunks

if __name__ == "__main__":
    urllib3.contrib.pyopenssl.inject_into_urllib3()
    requests_chunks.main(__doc__, pyOpenSSL=OpenSSL.__version__)
