#include "largecache/adaptive/adaptive_model.h"

#include <algorithm>
#include <utility>

namespace zerotax::largecache {
namespace {

enum Mode : std::uint8_t { kLooking, kWholes, kPurging, kSampling };

// Largest backoffs. A decision that is expensive to check stays valid for up to 1 << backoff calls.
constexpr unsigned kMostWholeBackoff = 5;
constexpr unsigned kMostPurgeBackoff = 8;
constexpr unsigned kMostSampleBackoff = 3;
// Number of calls that purge without a look while the program touches no page of the block. If the program starts to
// touch pages, the time of a purge shows this.
constexpr std::uint16_t kCallsWhileUntouched = 4096;
// Number of calls from taking a sample to reading it. A purge must also pay for itself within this many calls.
// Otherwise a program would seem to need few pages if each call touches different pages, but all calls together touch
// all of them.
constexpr std::uint16_t kSampleCalls = 8;
// Largest cost of a sample, as a share of the cost of all calls between two samples.
constexpr double kSampleShare = 0.01;
constexpr double kLeastCallsBetweenSamples = 16;
constexpr double kMostCallsBetweenSamples = 1024;
// Number of calls within which `whole` must save what its extra page faults cost. These faults occur only once.
constexpr double kCallsToRepay = 1024;
// Ratio of actual to expected time of a purge (or the inverse) at which the program's behavior is taken to have
// changed.
constexpr double kSurprise = 1.7;
constexpr double kSurpriseAtFirst = 4;      // for the first purge of a block, whose expected time is only estimated
constexpr double kSurpriseUntouched = 1.4;  // for blocks that the program does not touch, where even one touched page
                                            // should show
// Limit for the time of a purge that finds nothing, as a multiple of the time for an empty block. The limit grows with
// the length of the block, because the kernel walks page tables.
constexpr double kMostSurprise = 4;
constexpr double kPagesPerPurge = 8192;
constexpr unsigned kCallsPerTimedPurge = 4;

std::uint16_t back_off(unsigned first, std::uint8_t& backoff, unsigned most) {
  const unsigned calls = first << backoff;
  backoff = static_cast<std::uint8_t>(std::min<unsigned>(backoff + 1U, most));
  return static_cast<std::uint16_t>(calls);
}

void start_purging(History& history) {
  history.mode = kPurging;
  history.settled = history.populated == 0;
  history.usual_ticks = 0;
  history.unusual = false;
  history.left = history.touched == 0 ? kCallsWhileUntouched : back_off(4, history.purge_backoff, kMostPurgeBackoff);
}

// Returns the cost of a look without the zeroing.
double cost_to_look(const Costs& costs, double populated, double runs) {
  return costs.scan + populated * costs.scan_page + std::max(0.0, runs - 1) * costs.scan_run;
}

// Returns the cost of one call as long as the pages stay populated.
double cost_to_keep(const Costs& costs, double populated, double runs, double zero_page) {
  return cost_to_look(costs, populated, runs) + populated * zero_page;
}

// Updates and returns the time to zero a page of this block. The faster of the last two looks counts, because an
// interrupt may have prolonged the other.
//
// The time measured on a few pages would be too short: in a block longer than the processor's caches, zeroing takes
// five times as long. The kernel's time to find the pages is excluded, because the kernel also walks pages that were
// only read.
double take_in_zero_page(History& history, const Look& look) {
  const double now = look.populated == 0 ? 0 : look.zero_ticks / look.populated;
  const double before = std::exchange(history.zero_ticks, static_cast<float>(now));
  return before > 0 ? std::min(before, now) : now;
}

// Whether a purge in each call costs less than keeping the pages, judging by the last two calls.
bool purging_is_cheaper(const History& history, const Costs& costs, const Look& look, double zero_page) {
  // The populated part is assumed to grow in later calls as much as in the last one, up to the end of the block.
  const double room = (static_cast<double>(history.pages) - look.populated) / kSampleCalls;
  const double grown = std::clamp(static_cast<double>(look.populated) - history.populated, 0.0, std::max(0.0, room));
  const double touched = history.touched;
  const double keep = cost_to_keep(costs, look.populated, look.runs, zero_page) + grown * costs.fault;
  const double purge = costs.purge + touched * (costs.purge_page + costs.fault);
  return keep > purge * 1.02;
}

// Whether clearing all pages without a look is cheaper, which requires nearly all pages to be populated.
bool whole_is_cheaper(const History& history, const Costs& costs) {
  const double unpopulated = history.pages - history.populated;
  return cost_to_look(costs, history.populated, history.runs) >
         unpopulated * (costs.zero_page + costs.fault / kCallsToRepay);
}

// Whether a purge of all pages would pay for itself, judging by the share of sampled pages that came back.
bool sample_speaks_for_purge(const History& history, const Costs& costs, std::uint32_t found, double zero_page) {
  const double share = (found + 0.5) / (history.sample_count + 1.0);
  const double back = history.populated * share;
  const double saved = (history.populated - back) * (zero_page + costs.scan_page);
  return saved * kSampleCalls > costs.purge + history.populated * costs.purge_page + back * costs.fault;
}

void set_next_sample(History& history, const Costs& costs, bool whole) {
  double cost = sample_size(history) * (costs.purge + costs.purge_page + costs.fault);
  if (whole) cost += kSampleCalls * cost_to_look(costs, history.populated, history.runs);
  const double calls = cost / (kSampleShare * cost_to_keep(costs, history.populated, history.runs, costs.zero_page));
  history.until_sample = static_cast<std::uint16_t>(
      std::clamp(calls, kLeastCallsBetweenSamples, kMostCallsBetweenSamples) * (1U << history.sample_backoff));
}

}  // namespace

Action choose(History& history, std::uint32_t pages, std::uint32_t generation) {
  // A purge covers the whole block, so an untouched block needs no look even if the new request has another length.
  if (history.mode == kPurging && history.touched == 0 && history.pages != 0) history.pages = pages;
  if (history.pages != pages) {
    const bool fresh = history.pages == 0 && history.purged;
    history = {};
    history.pages = pages;
    history.generation = generation;
    history.purged = fresh;
    return Action::kLook;
  }
  if (history.generation != generation) {
    // After a fork, clearing would copy shared pages only to overwrite the copies.
    history.generation = generation;
    history.mode = kPurging;
    history.left = 0;
    return Action::kPurge;
  }
  if (history.until_sample > 1) --history.until_sample;
  if (history.mode == kWholes && history.left > 0 && history.until_sample != 1) {
    --history.left;
    return Action::kWhole;
  }
  return history.mode == kPurging ? Action::kPurge : Action::kLook;
}

Next look_done(History& history, const Costs& costs, const Look& look) {
  const bool was_purged = history.purged;
  const bool was_sampling = history.mode == kSampling;
  const double zero_page = take_in_zero_page(history, look);
  history.purged = false;
  if (was_purged) {
    history.touched = look.populated;
    history.touched_known = true;
  }
  if (look.populated == 0) {
    history.populated = history.runs = history.touched = 0;
    // Nothing was touched, so a purge may take as long as the last purge. If the last purge took much longer than
    // usual, it was interrupted and shows nothing.
    if (was_purged && history.surprise_ticks < costs.purge * (kMostSurprise + history.pages / kPagesPerPurge)) {
      history.purge_ticks = std::max(history.purge_ticks, history.surprise_ticks);
    }
    history.surprise_ticks = 0;
    start_purging(history);
    return Next::kNothing;
  }
  if (!was_purged && look.populated > history.populated) {
    // Every page that was populated since the last call was touched since then, so one call touches at least that many
    // pages.
    history.touched = std::max(history.touched, look.populated - history.populated);
  }
  if (!was_purged && history.touched_known && purging_is_cheaper(history, costs, look, zero_page)) {
    history.populated = look.populated;
    history.runs = look.runs;
    start_purging(history);
    return Next::kNothing;
  }
  history.populated = look.populated;
  history.runs = look.runs;

  if (was_sampling && --history.left > 0) return Next::kNothing;
  if (was_sampling) {
    history.mode = kLooking;
    const bool purge = sample_speaks_for_purge(history, costs, look.samples_found, zero_page);
    history.sample_count = 0;
    // The next sample comes later in both cases: the purge was wrong, or the sample was useless.
    history.sample_backoff =
        static_cast<std::uint8_t>(std::min<unsigned>(history.sample_backoff + 1U, kMostSampleBackoff));
    history.until_sample = 0;
    if (purge) {
      history.purged = true;
      return Next::kPurge;
    }
  } else if (history.until_sample == 1) {
    return Next::kSample;
  }
  const bool whole = whole_is_cheaper(history, costs);
  history.mode = whole ? kWholes : kLooking;
  if (whole) history.left = back_off(4, history.whole_backoff, kMostWholeBackoff);
  if (history.until_sample == 0) set_next_sample(history, costs, whole);
  return Next::kNothing;
}

std::uint32_t sample_size(const History& history) {
  return std::clamp<std::uint32_t>(history.populated / 16, 1, History::kMostSamples);
}

void sample_taken(History& history) {
  history.mode = kSampling;
  history.left = kSampleCalls;
  history.until_sample = 0;
}

bool wants_time(const History& history) { return history.touched != 0 || history.left % kCallsPerTimedPurge == 0; }

// Whether a purge took much longer or shorter than expected. If so, the program now touches a different number of pages
// than before.
bool is_surprising(History& history, const Costs& costs, double ticks) {
  if (!history.touched_known || !history.settled) return false;
  if (history.touched > 0) {
    // The first purge of a block sets the usual time. Purging pages that lie far apart takes much longer than purging
    // the pages on which costs.cc measures.
    const bool first = history.usual_ticks == 0;
    const double usual = first ? costs.purge + history.touched * costs.purge_page : history.usual_ticks;
    const double factor = first ? kSurpriseAtFirst : kSurprise;
    if (first) history.usual_ticks = static_cast<float>(ticks);
    const bool unusual = ticks > usual * factor || ticks * factor < usual;
    // A single unusual purge does not count, because an interrupt may be the cause.
    return std::exchange(history.unusual, unusual) && unusual;
  }
  // The block is untouched, but its page tables may also hold pages of other blocks, which take time as well.
  const double known = std::max<double>(costs.purge, history.purge_ticks);
  if (ticks <= known * kSurpriseUntouched) return false;
  history.surprise_ticks = static_cast<float>(ticks);
  return true;
}

void purge_done(History& history, const Costs& costs, double ticks) {
  const bool surprise = ticks > 0 && is_surprising(history, costs, ticks);
  history.populated = history.runs = 0;
  history.settled = true;
  if (history.left > 0 && !surprise) {
    --history.left;
    return;
  }
  history.mode = kLooking;
  history.purged = true;
}

void nothing_learnt(History& history) {
  history.mode = kLooking;
  history.purged = false;
  history.touched_known = false;
  history.sample_count = 0;
}

Action choose_blindly(History& history, std::uint32_t pages, std::uint32_t generation) {
  if (history.pages != pages || history.generation != generation) {
    history = {};
    history.pages = pages;
    history.generation = generation;
    history.mode = kPurging;
  }
  if (history.mode == kWholes && history.left > 0) {
    --history.left;
    return Action::kWhole;
  }
  // Clearing the whole block has populated all pages, so the next purge shows nothing about touched pages.
  history.touched_known = history.mode == kPurging;
  history.mode = kPurging;
  return Action::kPurge;
}

void blind_purge_done(History& history, const Costs& costs, double ticks) {
  if (!history.touched_known) return;
  const double touched = std::max(0.0, ticks - costs.purge) / std::max(costs.purge_page, 1e-9);
  history.touched = static_cast<std::uint32_t>(std::min<double>(touched, history.pages));
  if (history.touched * (costs.fault + costs.purge_page) <= history.pages * costs.zero_page) return;
  // With a backoff of 8 or more, the faults after a purge, and the purges themselves, cost little per call.
  history.mode = kWholes;
  history.left = back_off(8, history.whole_backoff, kMostWholeBackoff);
}

}  // namespace zerotax::largecache
