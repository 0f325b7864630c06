"""The loop of the report of 2016: requests.get(url, stream=True).iter_content(n)."""

import requests
import urllib3

import receiving


def main(description, **more_versions):
    given = receiving.arguments(description)
    session = requests.Session()
    session.trust_env = False   # no proxy may come between
    answer = session.get(f"https://127.0.0.1:{given.port}/", stream=True, verify=given.certificate)
    answer.raise_for_status()
    # An operation is a whole chunk here, of thousands of receives: no warming up.
    loop = receiving.Loop(
        given.seconds, {"requests": requests.__version__, "urllib3": urllib3.__version__, **more_versions}, warm_up=0)
    for chunk in answer.iter_content(given.size):
        loop.got(len(chunk))


if __name__ == "__main__":
    main(__doc__)
