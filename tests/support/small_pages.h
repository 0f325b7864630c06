#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

/// Leaves a test out whose numbers are those of a machine with pages of 4 KiB.
#define ONLY_WITH_SMALL_PAGES() \
  if (::sysconf(_SC_PAGESIZE) != 4 << 10) GTEST_SKIP() << "its numbers are of pages of 4 KiB"
