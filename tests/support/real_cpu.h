#pragma once

#include <gtest/gtest.h>

#include "os/processor.h"

/// Skips a test of times if the CPU is emulated.
#define ONLY_ON_A_REAL_CPU() \
  if (::zerotax::cpu_is_emulated()) GTEST_SKIP() << "an emulated CPU has no meaningful times"
