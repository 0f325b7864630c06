#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

/// Skips a test whose numbers hold only on a machine with pages of 4 KiB.
#define ONLY_WITH_SMALL_PAGES() \
  if (::sysconf(_SC_PAGESIZE) != 4 << 10) GTEST_SKIP() << "these numbers are those of 4 KiB pages"
