"""The loop from the report of 2016: requests.get(url, stream=True).iter_content(n)."""

import requests
import urllib3

import receiving


def main(description, **more_versions):
    given = receiving.arguments(description)
    session = requests.Session()
    session.trust_env = False   # no proxy
    answer = session.get(f"https://127.0.0.1:{given.port}/", stream=True, verify=given.certificate)
    answer.raise_for_status()
    # There is no warm-up, because an operation here is a whole chunk of thousands of receives.
    loop = receiving.Loop(
        given.seconds, {"requests": requests.__version__, "urllib3": urllib3.__version__, **more_versions}, warm_up=0)
    for chunk in answer.iter_content(given.size):
        loop.got(len(chunk))


if __name__ == "__main__":
    main(__doc__)
