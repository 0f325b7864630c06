// The policy that zeroes each block by the strategy with the lowest estimated cost. adaptive_model.h chooses the
// strategy, and this file carries it out.
#include <algorithm>

#include "largecache/adaptive/adaptive_model.h"
#include "largecache/adaptive/costs.h"
#include "largecache/adaptive/pagemap.h"
#include "largecache/clear.h"
#include "largecache/pages.h"
#include "largecache/policies/shared.h"
#include "largecache/ticks.h"

namespace zerotax::largecache {
namespace {

// Purges the whole block, including the pages after the request. If the kernel refuses, clears the request.
bool purge_block(Block& block, std::size_t size, bool timed, Cleared& cleared, double& ticks) {
  const std::uint64_t from = timed ? ticks_now() : 0;
  const bool purged = purge_pages(block.address, block.size);
  ticks = timed ? static_cast<double>(ticks_now() - from) : 0;
  if (purged) {
    cleared.purged_bytes += block.size;
  } else {
    cleared.zeroed_bytes += zero_all(block.address, size).zeroed_bytes;
    nothing_learnt(*block.history);
  }
  return purged;
}

static_assert(History::kMostSamples == PopulatedPages::kMost);

// Purges a few of the populated pages, chosen at random.
void take_sample(Block& block, std::size_t size, Cleared& cleared) {
  History& history = *block.history;
  const std::uint32_t wanted = sample_size(history);
  const std::size_t page = page_size();
  PopulatedPages pages;
  if (!pages.choose(block.address, size, history.populated, wanted, ticks_now())) return nothing_learnt(history);
  history.sample_count = 0;
  for (std::uint32_t i = 0; i < pages.count; ++i) {
    if (!purge_pages(pages.pages[i], page)) continue;
    cleared.purged_bytes += page;
    history.samples[history.sample_count++] = static_cast<std::uint32_t>((pages.pages[i] - block.address) / page);
  }
  if (history.sample_count == 0) return nothing_learnt(history);
  sample_taken(history);
}

// Returns false if the kernel gives no answer. In that case, any page may be non-zero.
bool look_and_clear(Block& block, std::size_t size, Cleared& cleared) {
  History& history = *block.history;
  std::uintptr_t pages[History::kMostSamples];
  for (std::uint32_t i = 0; i < history.sample_count; ++i) pages[i] = block.address + history.samples[i] * page_size();
  Watched watched{pages, history.sample_count, 0};
  Dirty dirty;
  if (!zero_dirty(block.address, size, dirty, &watched)) return false;
  cleared = dirty.cleared;
  const Look look{static_cast<std::uint32_t>(dirty.pages), static_cast<std::uint32_t>(dirty.runs),
                  static_cast<std::uint32_t>(watched.found), static_cast<double>(dirty.ticks)};
  switch (look_done(history, measured_costs(look.populated), look)) {
    case Next::kNothing:
      break;
    case Next::kPurge:
      if (purge_pages(block.address, block.size)) cleared.purged_bytes += block.size;
      break;
    case Next::kSample:
      take_sample(block, size, cleared);
  }
  return true;
}

// Largest number that history.pages can hold.
constexpr std::size_t kMostPages = UINT32_MAX;

Cleared clear_blindly(Block& block, std::size_t size, std::uint32_t generation) {
  Cleared cleared;
  double ticks = 0;
  if (choose_blindly(*block.history, static_cast<std::uint32_t>(size / page_size()), generation) == Action::kWhole) {
    return zero_all(block.address, size);
  }
  if (purge_block(block, size, true, cleared, ticks))
    blind_purge_done(*block.history, measured_costs(block.history->pages), ticks);
  return cleared;
}

Cleared clear(Block& block, std::size_t size, std::uint32_t generation) {
  const std::size_t pages = size / page_size();
  if (block.history == nullptr || pages > kMostPages) return clear_dirty(block, size, generation);
  if (!can_look()) return clear_blindly(block, size, generation);
  Cleared cleared;
  switch (choose(*block.history, static_cast<std::uint32_t>(pages), generation)) {
    case Action::kWhole:
      return zero_all(block.address, size);
    case Action::kPurge:
      if (double ticks = 0; purge_block(block, size, wants_time(*block.history), cleared, ticks)) {
        purge_done(*block.history, measured_costs(block.history->touched), ticks);
      }
      return cleared;
    case Action::kLook:
      if (look_and_clear(block, size, cleared)) return cleared;
      nothing_learnt(*block.history);
      return zero_all(block.address, size);
  }
  __builtin_unreachable();
}

}  // namespace

constinit const Policy kAdaptive = {
    .name = "adaptive",
    .summary = "the cheapest strategy for each block: scan and clear, clear all, or purge",
    .has_witness = true,
    .bounded_by_peak = true,
    .set_defaults = set_own_defaults,
    .should_cache = cache_any,
    .at_free = keep_at_free,
    .clear = clear,
    .sorts_by_contents = true,
    .foresees_growth = true,
    .foresees_reads = true,
    .keeps_small_memory = true,
};

}  // namespace zerotax::largecache
