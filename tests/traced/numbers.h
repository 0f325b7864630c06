#pragma once

#include <zerotax/recorder.h>

#include <cstdint>

/// An event with a number, so that a reader notices a missing or duplicated event.
ZEROTAX_EVENT(number, (uint64_t, who), (uint64_t, value))

inline void record_numbers(std::uint64_t who, std::uint64_t count, std::uint64_t from = 0) {
  for (std::uint64_t i = from; i < from + count; ++i) zerotax::record(number{.who = who, .value = i});
}
