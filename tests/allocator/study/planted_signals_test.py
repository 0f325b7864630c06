"""Allocators that block, ignore or handle signals are measured like other allocators, and their signal settings stay
unchanged.
"""

import pytest
from conftest import MIB, PLANTED, is_na, measure, point_of

OPS = 6


# Methods that turn system calls into SIGSYS. Dispatch is off outside of calls. A seccomp filter, which is used on older
# kernels, is permanent.
each_method = pytest.mark.parametrize("method", ["dispatch", "seccomp"])


def measured(way, method, thread="main"):
    run = measure("--allocator", f"a={PLANTED / 'libplanted_signals.so'}", "--env", f"a:PLANTED_SIGNALS={way}",
                  "--size", MIB, "--touch", 1, "--thread", thread, "--ops", OPS,
                  ZEROTAX_SYSCALLS=method)
    return point_of(run, "a")


@each_method
@pytest.mark.parametrize("thread", ["main", "worker"])
@pytest.mark.parametrize(
    ("way", "calls"),
    [("none", {"rt_sigprocmask": 1}), ("constructor", {"rt_sigprocmask": 1}), ("call", {"rt_sigprocmask": 5}),
     ("stays", {"rt_sigprocmask": 2}), ("raw", {"rt_sigprocmask": 3}), ("ignore", None), ("handler", None),
     ("suspend", None), ("stack", {"rt_sigprocmask": 1, "sigaltstack": 2, "getppid": 1})])
def test_the_allocator_is_not_killed_and_its_signals_stay_as_it_set_them(way, calls, thread, method):
    point = measured(way, method, thread)
    assert (point["status"], point["reason"]) == ("ok", None)
    assert (point["zeroed_bytes"], point["zeroed_method"]) == (MIB, "memset")
    assert not is_na(point["calloc_syscalls"])
    if calls is not None:
        assert point["calloc_syscalls"] == calls


@each_method
@pytest.mark.parametrize("way", ["takes", "took"])
def test_an_allocator_that_handles_sigsys_has_no_system_calls_and_the_reason_is_named(way, method):
    point = measured(way, method)
    assert point["status"] == "ok"
    assert is_na(point["calloc_syscalls"]) and "handles SIGSYS itself" in point["calloc_syscalls"]["na"]
    assert (point["zeroed_bytes"], point["zeroed_method"]) == (MIB, "memset")
