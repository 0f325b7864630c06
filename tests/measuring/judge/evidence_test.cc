#include "judge/evidence.h"

#include <gtest/gtest.h>

#include <functional>
#include <map>
#include <set>
#include <string>

namespace zerotax {
namespace {

constexpr std::uint64_t kMiB = std::uint64_t{1} << 20;

std::string row_of(const Evidence& evidence) {
  const AdviceRow* row = advice_row(evidence);
  return row == nullptr ? "none" : row->name;
}

/// A program that holds all its fresh memory at the same time.
Evidence fresh() {
  Evidence evidence;
  evidence.costly = Costly::kFresh;
  evidence.fresh = 256 * kMiB;
  evidence.refilled = 0;
  evidence.huge = evidence.huge_examined = evidence.huge_written = 0;
  evidence.requested = 260 * kMiB;
  evidence.held_peak = 257 * kMiB;
  evidence.held_elsewhere = kMiB;
  evidence.live_at_least = evidence.live_at_most = 255 * kMiB;
  evidence.by_hand = evidence.by_hand_fresh = evidence.by_hand_aligned = 0;
  return evidence;
}

/// A program whose allocator returns memory that is needed again.
Evidence refilled() {
  Evidence evidence;
  evidence.costly = Costly::kRefilled;
  evidence.refilled = 990 * kMiB;
  evidence.returned_by_allocator = 1000 * kMiB;
  evidence.returned_by_trim = evidence.returned_of_threads = evidence.returned_by_program = 0;
  evidence.allocator = "glibc";
  evidence.setting = "MALLOC_ARENA_MAX=1";
  return evidence;
}

Evidence refilled_by(Evidence::Count Evidence::*giver) {
  Evidence evidence = refilled();
  std::swap(evidence.returned_by_allocator, evidence.*giver);
  return evidence;
}

Evidence cleared() {
  Evidence evidence;
  evidence.costly = Costly::kCleared;
  evidence.cleared_in_calloc = 100 * kMiB;
  evidence.cleared_elsewhere = 0;
  evidence.examined = 100 * kMiB;
  evidence.redundant = 90 * kMiB;
  return evidence;
}

Evidence by_hand() {
  Evidence evidence;
  evidence.costly = Costly::kByHand;
  evidence.by_hand = 1000 * kMiB;
  evidence.by_hand_fresh = 990 * kMiB;
  evidence.by_hand_aligned = 0;
  return evidence;
}

Evidence copies(std::uint64_t parent, std::uint64_t children) {
  Evidence evidence;
  evidence.costly = Costly::kCopies;
  evidence.copied_by_parent = parent;
  evidence.copied_by_children = children;
  return evidence;
}

/// A row of the table, a program that the row's advice suits, and a similar program that the advice does not suit.
struct Pair {
  const char* row;
  Evidence right;
  std::function<void(Evidence&)> change;  ///< turns the first program into the second
  const char* other;                      ///< the row for the second program
};

std::vector<Pair> pairs() {
  const auto with = [](Evidence evidence, const std::function<void(Evidence&)>& change) {
    change(evidence);
    return evidence;
  };
  const auto clears_by_hand = [](Evidence& e) { e.by_hand = e.by_hand_fresh = 250 * kMiB; };
  const auto aligned = [](Evidence& e) { e.by_hand_aligned = e.by_hand; };
  const auto leaves_holes = [](Evidence& e) { e.live_at_least = e.live_at_most = 4 * kMiB, e.aligned = e.requested; };
  return {
      {"fresh-by-hand", with(fresh(), clears_by_hand), aligned, "fresh-by-hand-aligned"},
      {"fresh-by-hand-aligned", with(with(fresh(), clears_by_hand), aligned),
       [](Evidence& e) { e.by_hand_fresh = 10 * kMiB; }, "fresh-held"},
      {"huge-pages-unused",
       with(fresh(),
            [](Evidence& e) {
              e.huge = e.huge_examined = 250 * kMiB;
              e.huge_written = 2 * kMiB;
              e.live_at_least = e.live_at_most = 4 * kMiB;
            }),
       [](Evidence& e) { e.huge_written = 249 * kMiB, e.live_at_least = e.live_at_most = 255 * kMiB; }, "fresh-held"},
      // calloc cannot replace the half of the blocks that are aligned.
      {"fresh-by-hand", with(fresh(), clears_by_hand), [](Evidence& e) { e.by_hand_aligned = *e.by_hand / 2 - 1; },
       "fresh-by-hand-aligned"},
      {"fresh-aligned", with(fresh(), leaves_holes), [](Evidence& e) { e.aligned = 10 * kMiB; }, "fresh-not-reused"},
      // The second program has other memory that malloc cannot use: holes between over-aligned blocks, into which no
      // block fits, or stacks and mappings.
      {"fresh-not-reused", with(fresh(), [](Evidence& e) { e.live_at_least = e.live_at_most = 4 * kMiB; }),
       [](Evidence& e) { e.requested = 10 * kMiB; }, "none"},
      // The second program maps memory itself, and also frees blocks.
      {"fresh-not-reused", with(fresh(), [](Evidence& e) { e.live_at_least = e.live_at_most = 4 * kMiB; }),
       [](Evidence& e) { e.held_elsewhere = 250 * kMiB; }, "none"},
      // The second program's buffer is returned and populated again, so most of what memset populates is not fresh.
      {"fresh-by-hand", with(fresh(), clears_by_hand), [](Evidence& e) { e.refilled = 240 * kMiB; }, "fresh-held"},
      // The second program's threads reuse their buffers, so they need everything that they hold at one time.
      {"fresh-held", fresh(), [](Evidence& e) { e.requested = 5000 * kMiB; }, "none"},
      // In the second program, the user requested a trim of memory that is not needed again.
      {"trims", refilled_by(&Evidence::returned_by_trim), [](Evidence& e) { e.refilled = 10 * kMiB; }, "none"},
      {"thread-stacks", refilled_by(&Evidence::returned_of_threads),
       [](Evidence& e) { std::swap(e.returned_of_threads, e.returned_by_program); }, "program-returns"},
      {"setting", refilled(), [](Evidence& e) { e.sets_options = "mallopt"; }, "another-allocator"},
      {"own-allocator", with(refilled(), [](Evidence& e) { e.allocator = e.setting = ""; }),
       [](Evidence& e) { e.returned_by_allocator = std::nullopt; }, "none"},
      {"another-allocator", with(refilled(), [](Evidence& e) { e.setting = ""; }),
       [](Evidence& e) { e.returned_by_trim = 3000 * kMiB, e.refilled = 2000 * kMiB; }, "trims"},
      {"program-returns", refilled_by(&Evidence::returned_by_program),
       [](Evidence& e) { std::swap(e.returned_by_program, e.returned_by_trim); }, "trims"},
      {"redundant", cleared(), [](Evidence& e) { e.redundant = 10 * kMiB; }, "calloc"},
      {"calloc", with(cleared(), [](Evidence& e) { e.redundant = 0; }),
       [](Evidence& e) { std::swap(e.cleared_in_calloc, e.cleared_elsewhere); }, "cleared-in-malloc"},
      {"cleared-in-malloc", with(cleared(), [](Evidence& e) { std::swap(e.cleared_in_calloc, e.cleared_elsewhere); }),
       [](Evidence& e) { e.cleared_elsewhere = std::nullopt; }, "none"},
      {"in-free", with(cleared(), [](Evidence& e) { e.costly = Costly::kInFree; }),
       [](Evidence& e) { e.costly = Costly::kCleared; }, "redundant"},
      {"by-hand-fresh", by_hand(), [](Evidence& e) { e.by_hand_fresh = kMiB; }, "by-hand-used"},
      {"by-hand-aligned", with(by_hand(), aligned), [](Evidence& e) { e.by_hand_aligned = 0; }, "by-hand-fresh"},
      {"by-hand-used", with(by_hand(), [](Evidence& e) { e.by_hand_fresh = kMiB; }),
       [](Evidence& e) { e.by_hand_fresh = std::nullopt; }, "none"},
      {"by-program", with(by_hand(), [](Evidence& e) { e.costly = Costly::kByProgram; }),
       [](Evidence& e) { e.costly = Costly::kByHand; }, "by-hand-fresh"},
      {"stores", with(by_hand(), [](Evidence& e) { e.costly = Costly::kStores; }),
       [](Evidence& e) { e.costly = Costly::kByHand; }, "by-hand-fresh"},
      {"copied-by-children", copies(100, 50'000), [](Evidence& e) { e.copied_by_children = 100; }, "none"},
      {"copied-by-parent", copies(50'000, 100), [](Evidence& e) { e.copied_by_parent = 90; }, "none"},
  };
}

TEST(AdviceTable, EachRowIsRightForOneProgramAndNotForAnotherThatLooksAlike) {
  std::set<std::string> tried;
  for (const Pair& pair : pairs()) {
    tried.insert(pair.row);
    EXPECT_EQ(row_of(pair.right), pair.row);
    Evidence alike = pair.right;
    pair.change(alike);
    EXPECT_EQ(row_of(alike), pair.other) << "in place of " << pair.row;
  }
  for (const AdviceRow& row : advice_rows()) EXPECT_TRUE(tried.contains(row.name)) << row.name << " has no pair";
}

TEST(AdviceTable, NothingFollowsFromWhatIsNotKnown) {
  for (const Pair& pair : pairs()) {
    const std::set<std::string> needs_no_count{"in-free", "by-program", "stores"};
    if (needs_no_count.contains(pair.row)) continue;
    Evidence unknown;
    unknown.costly = pair.right.costly;
    EXPECT_EQ(row_of(unknown), "none") << pair.row;
  }
}

TEST(AdviceTable, NoSettingWithoutABoundIsNamedWithoutOne) {
  Evidence evidence = refilled();
  evidence.allocator = "jemalloc";
  evidence.setting = "MALLOC_CONF=dirty_decay_ms:-1";
  evidence.setting_instead = "dirty_decay_ms:0";
  evidence.setting_unbounded = true;
  EXPECT_EQ(row_of(evidence), "another-allocator");
  evidence.memory_limit = trial_memory(85 * kMiB);
  EXPECT_EQ(row_of(evidence), "setting");
  const std::string words = advice_words(advice_row(evidence), evidence);
  EXPECT_NE(words.find("under a limit of 426 MiB"), std::string::npos) << words;
  EXPECT_NE(words.find("in place of dirty_decay_ms:0"), std::string::npos) << words;
  EXPECT_EQ(advice_words(nullptr, evidence), "No advice: what was counted does not show what would help.");
}

}  // namespace
}  // namespace zerotax
