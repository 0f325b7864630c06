// The decisions of the adaptive policy, and what they are based on. Pure arithmetic: no clock, no system call.
//
// There are three ways to make a cached block zero:
//   look:  ask the kernel which pages may be non-zero, and write zeros over these;
//   whole: write zeros over all of them without asking;
//   purge: give them all back, so that each page that is touched again takes a zero-fill fault.
// The cost of each follows from five numbers of the block: its pages, the populated ones and the runs they form, those
// that the program newly populates from one call to the next, and those that it touches at all. The last number is not
// visible while the pages stay populated. It becomes visible after a purge; and, for a sample, by purging a few pages
// and checking some calls later which have come back.
#ifndef ZEROTAX_ALLOCATORS_LARGECACHE_ADAPTIVE_ADAPTIVE_MODEL_H_
#define ZEROTAX_ALLOCATORS_LARGECACHE_ADAPTIVE_ADAPTIVE_MODEL_H_

#include <cstddef>
#include <cstdint>

#include "largecache/block.h"

namespace zerotax::largecache {

/// Measured on this machine (costs.h), in ticks of one clock; it does not matter which.
struct Costs {
  double zero_page = 0;   // writing zeros over a page that is present
  double fault = 0;       // the zero-fill fault of a page
  double scan = 0;        // scanning a block that has no page
  double scan_page = 0;   // more, for each page that it has
  double scan_run = 0;    // more, for each run of neighbours after the first: to report it, and to zero it separately
  double purge = 0;       // giving back a block that has no page
  double purge_page = 0;  // more, for each page that it has
};

enum class Action : std::uint8_t { kLook, kWhole, kPurge };

/// Chooses how to make `pages` pages of a block with this history zero. `generation`: see History.
Action choose(History& history, std::uint32_t pages, std::uint32_t generation);

/// What a look found.
struct Look {
  std::uint32_t populated = 0;      // pages that may have been non-zero
  std::uint32_t runs = 0;           // of neighbours, that they make
  std::uint32_t samples_found = 0;  // of history.sample_count
  double zero_ticks = 0;            // of the clock of Costs, that zeroing the populated ones took
};

/// What follows a look immediately.
enum class Next : std::uint8_t {
  kNothing,
  kPurge,   // the whole block
  kSample,  // a few of its populated pages; then sample_taken
};

/// Records what a look found.
Next look_done(History& history, const Costs& costs, const Look& look);

/// How many pages a sample has, given history.populated: 1 to History::kMostSamples.
std::uint32_t sample_size(const History& history);

/// history.samples and history.sample_count have been filled in, these pages purged.
void sample_taken(History& history);

/// Is the next purge to be timed? While nothing is touched, reading a clock would be a large part of its cost.
bool wants_time(const History& history);

/// Takes in a purge, and how long it took, in the ticks of `costs`: more than nothing if wants_time.
void purge_done(History& history, const Costs& costs, double ticks);

/// The kernel refused: nothing is known of the block but that it has been made zero.
void nothing_learnt(History& history);

// Where the kernel cannot be asked (before Linux 6.7, or without /proc) there are two ways left, whole and purge, and
// how many pages were populated has to be inferred from the time that a purge took.

/// As choose, but never kLook.
Action choose_blindly(History& history, std::uint32_t pages, std::uint32_t generation);

/// As purge_done, after choose_blindly.
void blind_purge_done(History& history, const Costs& costs, double ticks);

}  // namespace zerotax::largecache

#endif  // ZEROTAX_ALLOCATORS_LARGECACHE_ADAPTIVE_ADAPTIVE_MODEL_H_
