// What the adaptive policy decides, on synthetic programs whose cheapest way is known.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <utility>
#include <vector>

#include "largecache/policies/adaptive_model.h"

namespace zerotax::largecache {
namespace {

// Of one machine, in nanoseconds.
constexpr Costs kCosts{
    .zero_page = 40, .fault = 1450, .scan = 700, .scan_page = 11, .scan_run = 50, .purge = 450, .purge_page = 250};

// Which pages of a block are populated. Their number and that of their runs are kept up to date: a call that counted
// them would take a step for each page, and the sanitizers make each step slow.
class Pages {
 public:
  // One more at either end, never populated, so that each page has two neighbours.
  explicit Pages(std::uint32_t pages) : populated_(pages + std::size_t{2}, 0) {}

  [[nodiscard]] bool Has(std::uint32_t page) const { return populated_[page + 1] != 0; }
  [[nodiscard]] std::uint32_t Count() const { return count_; }
  [[nodiscard]] std::uint32_t Runs() const { return runs_; }

  // Whether the page is populated only now.
  bool Add(std::uint32_t page) {
    unsigned char* at = populated_.data() + page;
    if (at[1] != 0) return false;
    at[1] = 1;
    ++count_;
    runs_ += 1U - at[0] - at[2];
    return true;
  }

  void Remove(std::uint32_t page) {
    unsigned char* at = populated_.data() + page;
    if (at[1] == 0) return;
    at[1] = 0;
    --count_;
    runs_ -= 1U - at[0] - at[2];
  }

  void Clear() {
    populated_.assign(populated_.size(), 0);
    count_ = 0;
    runs_ = 0;
  }

 private:
  std::vector<unsigned char> populated_;
  std::uint32_t count_ = 0;
  std::uint32_t runs_ = 0;
};

// What follows a look of this outcome.
Next LookFound(History& history, std::uint32_t populated) {
  return LookDone(history, kCosts, {populated, 1, 0, populated * kCosts.zero_page});
}

// A block of so many pages, the program that touches it, and a clock that adds up what everything would take. That may
// be more than it was when the costs were measured.
class Simulated {
 public:
  explicit Simulated(std::uint32_t pages, const Costs& real = kCosts) : pages_(pages), real_(real), populated_(pages) {
    history_.purged = true;
  }

  void Touch(std::uint32_t page) {
    if (populated_.Add(page)) ns_ += real_.fault;
  }

  void Calloc() {
    switch (Choose(history_, pages_, 1)) {
      case Action::kLook:
        LookAt();
        break;
      case Action::kWhole:
        for (std::uint32_t page = 0; page < pages_ && populated_.Count() < pages_; ++page) Touch(page);
        ns_ += pages_ * real_.zero_page;
        break;
      case Action::kPurge: {
        const double ticks = PurgeAll();
        PurgeDone(history_, kCosts, WantsTime(history_) ? ticks : 0);
      }
    }
  }

  double TakeTime() { return std::exchange(ns_, 0); }

  [[nodiscard]] int looks() const { return looks_; }

 private:
  double PurgeAll() {
    const double ticks = real_.purge + populated_.Count() * real_.purge_page;
    populated_.Clear();
    ns_ += ticks;
    return ticks;
  }

  void LookAt() {
    largecache::Look look{populated_.Count(), populated_.Runs(), 0};
    for (std::uint32_t i = 0; i < history_.sample_count; ++i) look.samples_found += populated_.Has(history_.samples[i]);
    look.zero_ticks = look.populated * real_.zero_page;
    ns_ += look.zero_ticks + real_.scan + look.populated * real_.scan_page;
    ns_ += (std::max(1U, look.runs) - 1) * real_.scan_run;
    ++looks_;
    switch (LookDone(history_, kCosts, look)) {
      case Next::kNothing:
        break;
      case Next::kPurge:
        PurgeAll();
        break;
      case Next::kSample:
        TakeSample();
    }
  }

  void TakeSample() {
    std::vector<std::uint32_t> there;
    for (std::uint32_t page = 0; page < pages_; ++page) {
      if (populated_.Has(page)) there.push_back(page);
    }
    std::vector<std::uint32_t> chosen;
    std::ranges::sample(there, std::back_inserter(chosen), SampleSize(history_), random_);
    history_.sample_count = static_cast<std::uint8_t>(chosen.size());
    for (std::size_t i = 0; i < chosen.size(); ++i) {
      history_.samples[i] = chosen[i];
      populated_.Remove(chosen[i]);
      ns_ += real_.purge + real_.purge_page;
    }
    SampleTaken(history_);
  }

  std::uint32_t pages_;
  Costs real_;
  Pages populated_;
  History history_;
  double ns_ = 0;
  int looks_ = 0;
  std::mt19937 random_{7};
};

enum class Pattern { kFirst, kSpread, kRandom };

void TouchSome(Simulated& block, std::uint32_t pages, std::uint32_t touched, Pattern pattern, std::mt19937& random) {
  for (std::uint32_t i = 0; i < touched; ++i) {
    block.Touch(pattern == Pattern::kFirst    ? i
                : pattern == Pattern::kSpread ? static_cast<std::uint32_t>(std::uint64_t{i} * pages / touched)
                                              : static_cast<std::uint32_t>(random() % pages));
  }
}

// Mean time of an operation after a warm-up.
double Mean(Simulated& block, std::uint32_t pages, std::uint32_t touched, Pattern pattern, int warm, int measured) {
  std::mt19937 random(3);
  for (int i = 0; i < warm + measured; ++i) {
    block.Calloc();
    TouchSome(block, pages, touched, pattern, random);
    if (i + 1 == warm) block.TakeTime();
  }
  return block.TakeTime() / measured;
}

// The cheapest of the fixed ways in their steady state.
double Cheapest(std::uint32_t pages, std::uint32_t touched, Pattern pattern, const Costs& costs = kCosts) {
  const double purge = costs.purge + touched * (costs.purge_page + costs.fault);
  const double whole = pages * costs.zero_page;
  // A program that always touches other pages has populated all of them in the end.
  const std::uint32_t populated = pattern == Pattern::kRandom ? pages : touched;
  // Spread pages are runs of their own as long as no two of them are neighbours.
  const double runs = pattern == Pattern::kSpread && 2 * touched <= pages ? touched : 1;
  const double look =
      costs.scan + populated * (costs.scan_page + costs.zero_page) + std::max(0.0, runs - 1) * costs.scan_run;
  return std::min({purge, whole, look});
}

TEST(Adaptive, ComesWithinAFewPercentOfTheCheapestWay) {
  for (const std::uint32_t pages : {64U, 1024U, 25600U}) {
    for (const double share : {0.0, 0.001, 0.01, 0.1, 0.5, 1.0}) {
      for (const Pattern pattern : {Pattern::kFirst, Pattern::kSpread, Pattern::kRandom}) {
        const auto touched = static_cast<std::uint32_t>(std::ceil(share * pages));
        Simulated block(pages);
        const double mean = Mean(block, pages, touched, pattern, 600, 2000);
        EXPECT_LE(mean, 1.05 * Cheapest(pages, touched, pattern))
            << pages << " pages, " << share << " touched, pattern " << static_cast<int>(pattern);
      }
    }
  }
}

// Zeroing takes longer in a block that is longer than the processor's caches, giving back where pages lie far apart.
TEST(Adaptive, GoesByWhatThisBlockTakesRatherThanByThePagesThatWereMeasured) {
  constexpr std::uint32_t kPages = 25600;
  Costs slow_zeros = kCosts;
  slow_zeros.zero_page *= 12;
  Costs slow_purges = kCosts;
  slow_purges.purge_page *= 5;
  for (const Costs& real : {slow_zeros, slow_purges}) {
    for (const std::uint32_t touched : {26U, 256U, 2560U}) {
      Simulated block(kPages, real);
      EXPECT_LE(Mean(block, kPages, touched, Pattern::kRandom, 100, 500),
                1.05 * Cheapest(kPages, touched, Pattern::kRandom, real))
          << touched << " touched, " << real.zero_page << " ns to zero a page";
      EXPECT_LT(block.looks(), 40) << touched << " touched";
    }
  }
}

TEST(Adaptive, IsNotMisledByOneLookThatWasInterrupted) {
  History history;
  history.purged = true;
  for (int i = 0; i < 10; ++i) {
    ASSERT_EQ(Choose(history, 1000, 1), Action::kLook) << i;
    LookDone(history, kCosts, {100, 1, 0, 100 * kCosts.zero_page + (i == 5 ? 1e7 : 0)});
  }
}

TEST(Adaptive, ForgetsWhatAPurgeTookOfFewerPages) {
  constexpr std::uint32_t kPages = 25600;
  Simulated block(kPages);
  Mean(block, kPages, 26, Pattern::kRandom, 0, 300);
  EXPECT_LE(Mean(block, kPages, 256, Pattern::kRandom, 300, 500), 1.02 * Cheapest(kPages, 256, Pattern::kRandom));
}

// 40 pages each time, always others, in a block that is purged from the third call on.
TEST(Adaptive, TakesTwoUnusualPurgesInARowForAChangeAndOneForAnInterruption) {
  for (const int unusual : {1, 2}) {
    History history;
    history.purged = true;
    for (const std::uint32_t populated : {40U, 80U}) {
      ASSERT_EQ(Choose(history, 1000, 1), Action::kLook);
      LookDone(history, kCosts, {populated, populated, 0, 100 * populated * kCosts.zero_page});
    }
    for (int i = 0; i < 4; ++i) {
      ASSERT_EQ(Choose(history, 1000, 1), Action::kPurge) << i;
      PurgeDone(history, kCosts, i == 2 || i == 1 + unusual ? 1e7 : kCosts.purge + 40 * kCosts.purge_page);
    }
    EXPECT_EQ(Choose(history, 1000, 1), unusual == 1 ? Action::kPurge : Action::kLook);
  }
}

TEST(Adaptive, ForgetsABlockThatWasTouchedWholeOnce) {
  constexpr std::uint32_t kPages = 25600;
  Simulated block(kPages);
  Mean(block, kPages, kPages, Pattern::kFirst, 0, 300);
  const double untouched = Mean(block, kPages, 26, Pattern::kFirst, 3000, 1000);
  EXPECT_LE(untouched, 1.05 * Cheapest(kPages, 26, Pattern::kFirst));
}

// Another 150 pages each time, until there are none left: to populate a page is paid once.
TEST(Adaptive, KeepsABlockThatIsSoonPopulatedWhole) {
  History history;
  history.purged = true;
  for (std::uint32_t populated = 150; populated <= 1024; populated += 150) {
    ASSERT_NE(Choose(history, 1024, 1), Action::kPurge) << populated;
    EXPECT_EQ(LookFound(history, populated), Next::kNothing);
  }
  EXPECT_NE(Choose(history, 1024, 1), Action::kPurge);
}

TEST(Adaptive, NoticesThatABlockWhichWasNeverTouchedIsTouched) {
  constexpr std::uint32_t kPages = 25600;
  Simulated block(kPages);
  Mean(block, kPages, 0, Pattern::kFirst, 0, 500);
  EXPECT_LE(Mean(block, kPages, 256, Pattern::kFirst, 8, 200), 1.05 * Cheapest(kPages, 256, Pattern::kFirst));
}

TEST(Adaptive, PurgesOnceAfterAForkRatherThanHaveSharedPagesCopied) {
  History history;
  history.purged = true;
  ASSERT_EQ(Choose(history, 100, 1), Action::kLook);
  LookFound(history, 10);
  ASSERT_EQ(Choose(history, 100, 1), Action::kLook);
  LookFound(history, 10);
  EXPECT_EQ(Choose(history, 100, 2), Action::kPurge);
  PurgeDone(history, kCosts, 1000);
  EXPECT_EQ(Choose(history, 100, 2), Action::kLook);
}

TEST(Adaptive, LooksAfreshAtARequestOfAnotherLength) {
  History history;
  Choose(history, 100, 1);
  LookFound(history, 100);
  ASSERT_EQ(Choose(history, 100, 1), Action::kWhole);
  EXPECT_EQ(Choose(history, 101, 1), Action::kLook);
}

TEST(Adaptive, WhereTheKernelDoesNotSayTellsTouchedPagesByTheTimeOfAPurge) {
  for (const auto& [touched, wholes] : {std::pair{0U, false}, std::pair{20U, false}, std::pair{1000U, true}}) {
    History history;
    int whole = 0;
    bool all_populated = false;
    for (int i = 0; i < 100; ++i) {
      if (ChooseBlindly(history, 1000, 1) == Action::kWhole) {
        ++whole;
        all_populated = true;
      } else {
        const double populated = all_populated ? 1000 : touched;
        all_populated = false;
        BlindPurgeDone(history, kCosts, kCosts.purge + populated * kCosts.purge_page);
      }
    }
    EXPECT_EQ(whole > 80, wholes) << touched;
    EXPECT_EQ(whole > 0, wholes) << touched;
  }
}

}  // namespace
}  // namespace zerotax::largecache
