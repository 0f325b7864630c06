// Helpers for several largecache tests: a heap's counters, and the state of pages.
#ifndef ZEROTAX_TESTS_UNIT_LARGECACHE_TESTING_H_
#define ZEROTAX_TESTS_UNIT_LARGECACHE_TESTING_H_

#include <sys/mman.h>
#include <sys/resource.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <string_view>
#include <vector>

#include "largecache/large.h"
#include "largecache/pages.h"

namespace zerotax::largecache {

inline const std::size_t kPage = page_size();
inline constexpr std::size_t kKiB = std::size_t{1} << 10;
inline constexpr std::size_t kMiB = std::size_t{1} << 20;
inline constexpr std::size_t kGiB = std::size_t{1} << 30;
inline constexpr std::size_t kUnlimited = PTRDIFF_MAX;

/// Returns a policy's default settings, without decay, on a machine of `physical_memory` bytes (16 GiB by default).
inline Settings settings_of(const char* name, std::size_t physical_memory = std::size_t{16} << 30) {
  Settings settings;
  settings.policy = find_policy(name);
  settings.policy->set_defaults(settings, physical_memory);
  settings.decay_ms = 0;
  return settings;
}

/// Returns libmalloc-116's settings with a reserve of `reserve` bytes.
inline Settings with_reserve(std::size_t reserve) {
  Settings settings = settings_of("libmalloc-116");
  settings.reserve_limit = reserve;
  return settings;
}

inline struct largecache_statistics statistics_of(LargeHeap& heap) {
  struct largecache_statistics statistics;
  heap.statistics(statistics);
  return statistics;
}

/// Whether every byte of the range is `value`.
inline bool all_bytes(const void* start, std::size_t size, unsigned char value) {
  const auto* bytes = static_cast<const unsigned char*>(start);
  return size == 0 || (*bytes == value && std::memcmp(bytes, bytes + 1, size - 1) == 0);
}

inline bool is_aligned(const void* pointer, std::size_t alignment) {
  return reinterpret_cast<std::uintptr_t>(pointer) % alignment == 0;
}

/// Returns the minor faults of this process.
inline std::int64_t faults_so_far() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return usage.ru_minflt;
}

inline std::vector<const Policy*> all_policies() {
  std::vector<const Policy*> policies;
  for (const Policy* const* policy = kPolicies; *policy != nullptr; ++policy) policies.push_back(*policy);
  return policies;
}

/// Whether every byte is zero.
inline bool is_zero(const void* start, std::size_t size) { return all_bytes(start, size, 0); }

/// Whether a sanitizer is active. A sanitizer's memory takes faults too, and a sanitizer slows every access.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
inline constexpr bool kUnderSanitizer = true;
#else
inline constexpr bool kUnderSanitizer = false;
#endif

/// Returns the number of rounds of a randomized test. ./run test requests fewer rounds (ZEROTAX_LONG=no). A sanitizer
/// runs a quarter of the rounds.
inline int rounds_of(int all) {
  const char* const asked = std::getenv("ZEROTAX_LONG");
  return kUnderSanitizer || (asked != nullptr && std::string_view(asked) == "no") ? all / 4 : all;
}

/// Whether the page at `address` is mapped (mincore(2) fails with ENOMEM if not).
inline bool is_mapped(const void* address) {
  unsigned char resident = 0;
  return mincore(const_cast<void*>(address), page_size(), &resident) == 0;
}

/// Returns the number of resident pages in the range, which must be mapped.
inline std::size_t resident_pages(void* start, std::size_t size) {
  std::vector<unsigned char> resident(size / page_size());
  if (mincore(start, size, resident.data()) != 0) return SIZE_MAX;
  return static_cast<std::size_t>(std::ranges::count_if(resident, [](unsigned char page) { return (page & 1) != 0; }));
}

}  // namespace zerotax::largecache

#endif  // ZEROTAX_TESTS_UNIT_LARGECACHE_TESTING_H_
