#include "largecache/clear.h"

#include <sys/mman.h>

#include <cstring>

#include "largecache/adaptive/pagemap.h"
#include "largecache/pages.h"
#include "largecache/ticks.h"

namespace zerotax::largecache {
namespace {

// Number of runs per scan. The array of runs fits on any stack. With more runs, the kernel also allocates more memory
// for every call.
constexpr std::size_t kRuns = 128;

void count_watched(const PageRun& run, Watched& watched, std::size_t& next) {
  while (next < watched.count && watched.pages[next] < run.end) {
    if (watched.pages[next] >= run.begin) ++watched.found;
    ++next;
  }
}

}  // namespace

// Clears the requested pages, whether or not they are already zero. Built with -fno-builtin-memset, so that memset
// stays a call.
Cleared zero_all(std::uintptr_t address, std::size_t size) {
  memset(as_pointer(address), 0, size);
  return {size, 0};
}

bool zero_dirty(std::uintptr_t address, std::size_t size, Dirty& dirty, Watched* watched) {
  PageRun runs[kRuns];
  std::size_t next_watched = 0;
  const std::uintptr_t end = address + size;
  for (std::uintptr_t from = address; from < end;) {
    std::uintptr_t walked = from;
    std::size_t count = 0;
    if (!non_zero_runs(from, end, runs, kRuns, count, walked)) return false;
    const std::uint64_t found = ticks_now();
    for (std::size_t i = 0; i < count; ++i) {
      const PageRun& run = runs[i];
      const std::size_t bytes = run.end - run.begin;
      if (watched != nullptr) count_watched(run, *watched, next_watched);
      dirty.pages += bytes / page_size();
      if (run.swapped && map_pages_over(run.begin, bytes)) {
        dirty.cleared.purged_bytes += bytes;
      } else {
        dirty.cleared.zeroed_bytes += zero_all(run.begin, bytes).zeroed_bytes;
      }
    }
    dirty.ticks += ticks_now() - found;
    dirty.runs += count;
    from = walked;
  }
  return true;
}

bool PopulatedPages::choose(std::uintptr_t address, std::size_t size, std::uint32_t populated, std::uint32_t wanted,
                            std::uint64_t seed) {
  PageRun runs[kRuns];
  const std::uintptr_t end = address + size;
  const std::size_t page = page_size();
  if (wanted > populated) wanted = populated;
  std::uint64_t passed = 0;  // number of pages in earlier runs
  for (std::uintptr_t from = address; from < end && count < wanted;) {
    std::uintptr_t walked = from;
    std::size_t found = 0;
    if (!non_zero_runs(from, end, runs, kRuns, found, walked)) return false;
    for (std::size_t i = 0; i < found; ++i) {
      const std::uint64_t pages_here = (runs[i].end - runs[i].begin) / page;
      // Takes one page from each of `wanted` equal parts of the populated pages.
      while (count < wanted) {
        const std::uint64_t part = std::uint64_t{populated} * count / wanted;
        const std::uint64_t next_part = std::uint64_t{populated} * (count + 1) / wanted;
        const std::uint64_t within = (seed * 0x9e3779b97f4a7c15 * (count + 1) >> 32) % (next_part - part);
        const std::uint64_t rank = part + within;
        if (rank >= passed + pages_here) break;
        pages[count++] = runs[i].begin + (rank - passed) * page;
      }
      passed += pages_here;
    }
    from = walked;
  }
  return true;
}

namespace {

// Scans fewer runs at a time, because free may call this function on a small stack.
std::uint32_t count_pages(decltype(non_zero_runs) runs_of, std::uintptr_t address, std::size_t size) {
  constexpr std::size_t kFewRuns = 32;
  PageRun runs[kFewRuns];
  std::size_t pages = 0;
  std::uintptr_t from = address;
  while (from < address + size) {
    std::size_t count = 0;
    if (!runs_of(from, address + size, runs, kFewRuns, count, from)) return Block::kUnknown;
    for (std::size_t i = 0; i < count; ++i) pages += (runs[i].end - runs[i].begin) / page_size();
  }
  return pages < Block::kUnknown ? static_cast<std::uint32_t>(pages) : Block::kUnknown;
}

}  // namespace

std::uint32_t count_populated(std::uintptr_t address, std::size_t size) {
  return count_pages(non_zero_runs, address, size);
}

std::uint32_t count_only_read(std::uintptr_t address, std::size_t size) {
  return count_pages(zero_page_runs, address, size);
}

}  // namespace zerotax::largecache
