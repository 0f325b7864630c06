#pragma once

#include <zerotax/recorder.h>

#include <cstdint>

/// Numbered, so that a reader can tell whether any is missing or there twice.
ZEROTAX_EVENT(number, (uint64_t, who), (uint64_t, value))

inline void record_numbers(std::uint64_t who, std::uint64_t count, std::uint64_t from = 0) {
  for (std::uint64_t i = from; i < from + count; ++i) zerotax::record(number{.who = who, .value = i});
}
