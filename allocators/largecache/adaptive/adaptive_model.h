// The decisions of the adaptive policy and the numbers behind them. Pure arithmetic: no clock, no system call.
//
// There are three strategies to make a cached block zero:
//   look:  ask the kernel which pages may be non-zero, and write zeros over these;
//   whole: write zeros over all pages without asking;
//   purge: return all pages. Each returned page that the program touches takes a zero-fill fault.
//
// The costs follow from five numbers of the block: all pages, populated pages, runs of populated pages, pages populated
// between two calls, and pages ever touched. The number of touched pages is not visible while pages stay populated. A
// purge reveals the number. A sample gives an estimate: a few pages are purged, and some calls later the model checks
// which of them are populated again.
#ifndef ZEROTAX_ALLOCATORS_LARGECACHE_ADAPTIVE_ADAPTIVE_MODEL_H_
#define ZEROTAX_ALLOCATORS_LARGECACHE_ADAPTIVE_ADAPTIVE_MODEL_H_

#include <cstddef>
#include <cstdint>

#include "largecache/block.h"

namespace zerotax::largecache {

/// Costs measured on this machine (costs.h), all in ticks of the same clock.
struct Costs {
  double zero_page = 0;   // write zeros over a populated page
  double fault = 0;       // zero-fill fault of a page
  double scan = 0;        // scan a block without populated pages
  double scan_page = 0;   // extra time of a scan per populated page
  double scan_run = 0;    // extra time per run after the first, to report the run and to zero it separately
  double purge = 0;       // purge a block without populated pages
  double purge_page = 0;  // extra time of a purge per populated page
};

enum class Action : std::uint8_t { kLook, kWhole, kPurge };

/// Chooses how to zero `pages` pages of a block with this history. `generation`: see History.
Action choose(History& history, std::uint32_t pages, std::uint32_t generation);

/// The result of a look.
struct Look {
  std::uint32_t populated = 0;      // pages that may have been non-zero
  std::uint32_t runs = 0;           // runs of neighboring pages among them
  std::uint32_t samples_found = 0;  // number of the history.sample_count sampled pages that were populated
  double zero_ticks = 0;            // time to zero the populated pages, in the unit of Costs
};

/// The action that must immediately follow a look.
enum class Next : std::uint8_t {
  kNothing,
  kPurge,   // purge the whole block
  kSample,  // purge a few populated pages of the block, then call sample_taken
};

/// Records the result of a look, and returns the next action.
Next look_done(History& history, const Costs& costs, const Look& look);

/// Returns the number of pages in a sample, from 1 to History::kMostSamples. The number depends on history.populated.
std::uint32_t sample_size(const History& history);

/// Records that the pages in history.samples (history.sample_count of them) were purged.
void sample_taken(History& history);

/// Whether the next purge should be timed. While nothing is touched, most purges are not timed, because reading a clock
/// would be a large part of the cost.
bool wants_time(const History& history);

/// Records a purge. `ticks` is its time in the unit of `costs`, which must be above 0 if wants_time() was true.
void purge_done(History& history, const Costs& costs, double ticks);

/// Records that nothing new is known, because the kernel refused to report or purge pages. The block has been zeroed
/// nevertheless.
void nothing_learnt(History& history);

// The next two functions are for kernels that cannot report pages (before Linux 6.7, or without /proc). Only `whole`
// and `purge` remain, and the number of touched pages is inferred from the time of a purge.

/// Like choose(), but never returns kLook.
Action choose_blindly(History& history, std::uint32_t pages, std::uint32_t generation);

/// Like purge_done(), but to be called after choose_blindly().
void blind_purge_done(History& history, const Costs& costs, double ticks);

}  // namespace zerotax::largecache

#endif  // ZEROTAX_ALLOCATORS_LARGECACHE_ADAPTIVE_ADAPTIVE_MODEL_H_
