// The cheapest way for each block, as far as it can be known: adaptive_model.h decides, this file acts.
#include <algorithm>

#include "largecache/clear.h"
#include "largecache/pagemap.h"
#include "largecache/pages.h"
#include "largecache/policies/adaptive_model.h"
#include "largecache/policies/costs.h"
#include "largecache/policies/shared.h"
#include "largecache/ticks.h"

namespace zerotax::largecache {
namespace {

// All of the block, including what is behind the request. If the kernel refuses, the request is cleared.
bool PurgeBlock(Block& block, std::size_t size, bool timed, Cleared& cleared, double& ticks) {
  const std::uint64_t from = timed ? Ticks() : 0;
  const bool purged = PurgePages(block.address, block.size);
  ticks = timed ? static_cast<double>(Ticks() - from) : 0;
  if (purged) {
    cleared.purged_bytes += block.size;
  } else {
    cleared.zeroed_bytes += ZeroAll(block.address, size).zeroed_bytes;
    NothingLearnt(*block.history);
  }
  return purged;
}

static_assert(History::kMostSamples == PopulatedPages::kMost);

// A few of the populated pages, spread over them at random.
void TakeSample(Block& block, std::size_t size, Cleared& cleared) {
  History& history = *block.history;
  const std::uint32_t wanted = SampleSize(history);
  const std::size_t page = PageSize();
  PopulatedPages pages;
  if (!pages.Choose(block.address, size, history.populated, wanted, Ticks())) return NothingLearnt(history);
  history.sample_count = 0;
  for (std::uint32_t i = 0; i < pages.count; ++i) {
    if (!PurgePages(pages.pages[i], page)) continue;
    cleared.purged_bytes += page;
    history.samples[history.sample_count++] = static_cast<std::uint32_t>((pages.pages[i] - block.address) / page);
  }
  if (history.sample_count == 0) return NothingLearnt(history);
  SampleTaken(history);
}

// False if the kernel gave no answer: then nothing is known to be zero.
bool LookAndClear(Block& block, std::size_t size, Cleared& cleared) {
  History& history = *block.history;
  std::uintptr_t pages[History::kMostSamples];
  for (std::uint32_t i = 0; i < history.sample_count; ++i) pages[i] = block.address + history.samples[i] * PageSize();
  Watched watched{pages, history.sample_count, 0};
  Dirty dirty;
  if (!ZeroDirty(block.address, size, dirty, &watched)) return false;
  cleared = dirty.cleared;
  const Look look{static_cast<std::uint32_t>(dirty.pages), static_cast<std::uint32_t>(dirty.runs),
                  static_cast<std::uint32_t>(watched.found), static_cast<double>(dirty.ticks)};
  switch (LookDone(history, MeasuredCosts(look.populated), look)) {
    case Next::kNothing:
      break;
    case Next::kPurge:
      if (PurgePages(block.address, block.size)) cleared.purged_bytes += block.size;
      break;
    case Next::kSample:
      TakeSample(block, size, cleared);
  }
  return true;
}

// What history.pages holds.
constexpr std::size_t kMostPages = UINT32_MAX;

Cleared ClearBlindly(Block& block, std::size_t size, std::uint32_t generation) {
  Cleared cleared;
  double ticks = 0;
  if (ChooseBlindly(*block.history, static_cast<std::uint32_t>(size / PageSize()), generation) == Action::kWhole) {
    return ZeroAll(block.address, size);
  }
  if (PurgeBlock(block, size, true, cleared, ticks))
    BlindPurgeDone(*block.history, MeasuredCosts(block.history->pages), ticks);
  return cleared;
}

Cleared Clear(Block& block, std::size_t size, std::uint32_t generation) {
  const std::size_t pages = size / PageSize();
  if (block.history == nullptr || pages > kMostPages) return ClearDirty(block, size, generation);
  if (!CanLook()) return ClearBlindly(block, size, generation);
  Cleared cleared;
  switch (Choose(*block.history, static_cast<std::uint32_t>(pages), generation)) {
    case Action::kWhole:
      return ZeroAll(block.address, size);
    case Action::kPurge:
      if (double ticks = 0; PurgeBlock(block, size, WantsTime(*block.history), cleared, ticks)) {
        PurgeDone(*block.history, MeasuredCosts(block.history->touched), ticks);
      }
      return cleared;
    case Action::kLook:
      if (LookAndClear(block, size, cleared)) return cleared;
      NothingLearnt(*block.history);
      return ZeroAll(block.address, size);
  }
  __builtin_unreachable();
}

}  // namespace

constinit const Policy kAdaptive = {
    .name = "adaptive",
    .summary = "the cheapest of looking, clearing all and giving back, block by block",
    .has_witness = true,
    .bounded_by_peak = true,
    .set_defaults = SetOwnDefaults,
    .should_cache = CacheAny,
    .at_free = KeepAtFree,
    .clear = Clear,
    .sorts_by_contents = true,
    .foresees_growth = true,
    .foresees_reads = true,
    .keeps_small_memory = true,
};

}  // namespace zerotax::largecache
