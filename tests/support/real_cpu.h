#pragma once

#include <gtest/gtest.h>

#include "os/processor.h"

/// Leaves a test of times out where none is that of a real CPU.
#define ONLY_ON_A_REAL_CPU() \
  if (::zerotax::cpu_is_emulated()) GTEST_SKIP() << "no time is that of a real CPU here"
