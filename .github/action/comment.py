#!/usr/bin/python3
"""Writes the Markdown of the check as a comment of the pull request, and replaces the comment of an earlier check of
the same name.

Reads NAME, REPORTS, PULL_REQUEST, GH_REPO and GH_TOKEN, and GITHUB_API_URL, which the runner sets. If a comment cannot
be written, prints a warning, because a pull request from a fork has no permission to write.
"""
import json
import os
import pathlib
import re
import urllib.error
import urllib.request


def ask(method, url, document=None):
    """Returns GitHub's answer, and the address of the next page or None."""
    request = urllib.request.Request(url, method=method, data=json.dumps(document).encode() if document else None, headers={
        "Accept": "application/vnd.github+json", "Authorization": f"Bearer {os.environ['GH_TOKEN']}", "User-Agent": "zerotax"})
    with urllib.request.urlopen(request, timeout=60) as answer:
        following = re.search(r'<([^>]+)>; *rel="next"', answer.headers.get("Link") or "")
        return json.load(answer), following[1] if following else None


def earlier(comments, mark):
    """Returns the address of the comment that begins with the mark, or None."""
    page = f"{comments}?per_page=100"
    while page:
        found, page = ask("GET", page)
        for comment in found:
            if (comment.get("body") or "").startswith(mark):
                return comment["url"]
    return None


def main():
    """Writes the comment, or prints a warning into the job's log."""
    mark = f"<!-- zerotax check {re.sub('[^A-Za-z0-9._-]', '-', os.environ['NAME'])} -->"
    body = f"{mark}\n{pathlib.Path(os.environ['REPORTS'], 'check.md').read_text(encoding='utf-8')}"
    host = os.environ.get("GITHUB_API_URL") or "https://api.github.com"
    comments = f"{host}/repos/{os.environ['GH_REPO']}/issues/{os.environ['PULL_REQUEST']}/comments"
    try:
        own = earlier(comments, mark)
        ask("PATCH" if own else "POST", own or comments, {"body": body})
    except urllib.error.HTTPError as problem:
        remedy = "; the job needs 'permissions: pull-requests: write'" if problem.code in (401, 403, 404) else ""
        print(f"::warning title=zerotax check::no comment: GitHub answered {problem.code}{remedy}")
    except (OSError, ValueError) as problem:
        print(f"::warning title=zerotax check::no comment: GitHub cannot be reached: {' '.join(str(problem).split())}")


if __name__ == "__main__":
    main()
