// Decisions of the adaptive policy, on synthetic programs whose cheapest strategy is known.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <utility>
#include <vector>

#include "largecache/adaptive/adaptive_model.h"

namespace zerotax::largecache {
namespace {

// Costs measured on one machine, in nanoseconds.
constexpr Costs kCosts{
    .zero_page = 40, .fault = 1450, .scan = 700, .scan_page = 11, .scan_run = 50, .purge = 450, .purge_page = 250};

// The populated pages of a block. The numbers of pages and of runs are kept up to date, because sanitizers make
// repeated counting slow.
class PlainPages {
 public:
  // Adds one page at each end that is never populated, so that each page of the block has two neighbors.
  explicit PlainPages(std::uint32_t pages) : populated_(pages + std::size_t{2}, 0) {}

  [[nodiscard]] bool has(std::uint32_t page) const { return populated_[page + 1] != 0; }
  [[nodiscard]] std::uint32_t count() const { return count_; }
  [[nodiscard]] std::uint32_t runs() const { return runs_; }

  // Returns whether the page was not populated before.
  bool add(std::uint32_t page) {
    unsigned char* at = populated_.data() + page;
    if (at[1] != 0) return false;
    at[1] = 1;
    ++count_;
    runs_ += 1U - at[0] - at[2];
    return true;
  }

  void remove(std::uint32_t page) {
    unsigned char* at = populated_.data() + page;
    if (at[1] == 0) return;
    at[1] = 0;
    --count_;
    runs_ -= 1U - at[0] - at[2];
  }

  void clear() {
    populated_.assign(populated_.size(), 0);
    count_ = 0;
    runs_ = 0;
  }

 private:
  std::vector<unsigned char> populated_;
  std::uint32_t count_ = 0;
  std::uint32_t runs_ = 0;
};

// Returns the next step after a sample that found `populated` populated pages.
Next look_found(History& history, std::uint32_t populated) {
  return look_done(history, kCosts, {populated, 1, 0, populated * kCosts.zero_page});
}

// A block of `pages` pages, the program that touches it, and a clock that adds up the cost of each step. The real costs
// may exceed the measured costs that the policy knows.
class Simulated {
 public:
  explicit Simulated(std::uint32_t pages, const Costs& real = kCosts) : pages_(pages), real_(real), populated_(pages) {
    history_.purged = true;
  }

  void touch(std::uint32_t page) {
    if (populated_.add(page)) ns_ += real_.fault;
  }

  void calloc() {
    switch (choose(history_, pages_, 1)) {
      case Action::kLook:
        look_at();
        break;
      case Action::kWhole:
        for (std::uint32_t page = 0; page < pages_ && populated_.count() < pages_; ++page) touch(page);
        ns_ += pages_ * real_.zero_page;
        break;
      case Action::kPurge: {
        const double ticks = purge_all();
        purge_done(history_, kCosts, wants_time(history_) ? ticks : 0);
      }
    }
  }

  double take_time() { return std::exchange(ns_, 0); }

  [[nodiscard]] int looks() const { return looks_; }

 private:
  double purge_all() {
    const double ticks = real_.purge + populated_.count() * real_.purge_page;
    populated_.clear();
    ns_ += ticks;
    return ticks;
  }

  void look_at() {
    largecache::Look look{populated_.count(), populated_.runs(), 0};
    for (std::uint32_t i = 0; i < history_.sample_count; ++i) look.samples_found += populated_.has(history_.samples[i]);
    look.zero_ticks = look.populated * real_.zero_page;
    ns_ += look.zero_ticks + real_.scan + look.populated * real_.scan_page;
    ns_ += (std::max(1U, look.runs) - 1) * real_.scan_run;
    ++looks_;
    switch (look_done(history_, kCosts, look)) {
      case Next::kNothing:
        break;
      case Next::kPurge:
        purge_all();
        break;
      case Next::kSample:
        take_sample();
    }
  }

  void take_sample() {
    std::vector<std::uint32_t> there;
    for (std::uint32_t page = 0; page < pages_; ++page) {
      if (populated_.has(page)) there.push_back(page);
    }
    std::vector<std::uint32_t> chosen;
    std::ranges::sample(there, std::back_inserter(chosen), sample_size(history_), random_);
    history_.sample_count = static_cast<std::uint8_t>(chosen.size());
    for (std::size_t i = 0; i < chosen.size(); ++i) {
      history_.samples[i] = chosen[i];
      populated_.remove(chosen[i]);
      ns_ += real_.purge + real_.purge_page;
    }
    sample_taken(history_);
  }

  std::uint32_t pages_;
  Costs real_;
  PlainPages populated_;
  History history_;
  double ns_ = 0;
  int looks_ = 0;
  std::mt19937 random_{7};
};

enum class Pattern { kFirst, kSpread, kRandom };

void touch_some(Simulated& block, std::uint32_t pages, std::uint32_t touched, Pattern pattern, std::mt19937& random) {
  for (std::uint32_t i = 0; i < touched; ++i) {
    block.touch(pattern == Pattern::kFirst    ? i
                : pattern == Pattern::kSpread ? static_cast<std::uint32_t>(std::uint64_t{i} * pages / touched)
                                              : static_cast<std::uint32_t>(random() % pages));
  }
}

// Returns the mean time of an operation after a warm-up.
double mean_time(Simulated& block, std::uint32_t pages, std::uint32_t touched, Pattern pattern, int warm,
                 int measured) {
  std::mt19937 random(3);
  for (int i = 0; i < warm + measured; ++i) {
    block.calloc();
    touch_some(block, pages, touched, pattern, random);
    if (i + 1 == warm) block.take_time();
  }
  return block.take_time() / measured;
}

// Returns the steady-state time of the cheapest fixed strategy: always purge, always clear the whole block, or always
// look.
double cheapest(std::uint32_t pages, std::uint32_t touched, Pattern pattern, const Costs& costs = kCosts) {
  const double purge = costs.purge + touched * (costs.purge_page + costs.fault);
  const double whole = pages * costs.zero_page;
  // A program that touches different pages in each round populates all pages in the end.
  const std::uint32_t populated = pattern == Pattern::kRandom ? pages : touched;
  // As long as no two touched pages are neighbors, each page is a separate run.
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
        const double mean = mean_time(block, pages, touched, pattern, 600, 2000);
        EXPECT_LE(mean, 1.05 * cheapest(pages, touched, pattern))
            << pages << " pages, " << share << " touched, pattern " << static_cast<int>(pattern);
      }
    }
  }
}

// Zeroing takes longer in a block that exceeds the processor's caches. Purging takes longer where pages lie far apart.
TEST(Adaptive, GoesByWhatThisBlockTakesRatherThanByThePagesThatWereMeasured) {
  constexpr std::uint32_t kPages = 25600;
  Costs slow_zeros = kCosts;
  slow_zeros.zero_page *= 12;
  Costs slow_purges = kCosts;
  slow_purges.purge_page *= 5;
  for (const Costs& real : {slow_zeros, slow_purges}) {
    for (const std::uint32_t touched : {26U, 256U, 2560U}) {
      Simulated block(kPages, real);
      EXPECT_LE(mean_time(block, kPages, touched, Pattern::kRandom, 100, 500),
                1.05 * cheapest(kPages, touched, Pattern::kRandom, real))
          << touched << " touched, " << real.zero_page << " ns to zero a page";
      EXPECT_LT(block.looks(), 40) << touched << " touched";
    }
  }
}

TEST(Adaptive, IsNotMisledByOneLookThatWasInterrupted) {
  History history;
  history.purged = true;
  for (int i = 0; i < 10; ++i) {
    ASSERT_EQ(choose(history, 1000, 1), Action::kLook) << i;
    look_done(history, kCosts, {100, 1, 0, 100 * kCosts.zero_page + (i == 5 ? 1e7 : 0)});
  }
}

TEST(Adaptive, ForgetsWhatAPurgeTookOfFewerPages) {
  constexpr std::uint32_t kPages = 25600;
  Simulated block(kPages);
  mean_time(block, kPages, 26, Pattern::kRandom, 0, 300);
  EXPECT_LE(mean_time(block, kPages, 256, Pattern::kRandom, 300, 500), 1.02 * cheapest(kPages, 256, Pattern::kRandom));
}

// The program touches 40 different pages in each round, in a block that is purged from the third call on.
TEST(Adaptive, TakesTwoUnusualPurgesInARowForAChangeAndOneForAnInterruption) {
  for (const int unusual : {1, 2}) {
    History history;
    history.purged = true;
    for (const std::uint32_t populated : {40U, 80U}) {
      ASSERT_EQ(choose(history, 1000, 1), Action::kLook);
      look_done(history, kCosts, {populated, populated, 0, 100 * populated * kCosts.zero_page});
    }
    for (int i = 0; i < 4; ++i) {
      ASSERT_EQ(choose(history, 1000, 1), Action::kPurge) << i;
      purge_done(history, kCosts, i == 2 || i == 1 + unusual ? 1e7 : kCosts.purge + 40 * kCosts.purge_page);
    }
    EXPECT_EQ(choose(history, 1000, 1), unusual == 1 ? Action::kPurge : Action::kLook);
  }
}

TEST(Adaptive, ForgetsABlockThatWasTouchedWholeOnce) {
  constexpr std::uint32_t kPages = 25600;
  Simulated block(kPages);
  mean_time(block, kPages, kPages, Pattern::kFirst, 0, 300);
  const double untouched = mean_time(block, kPages, 26, Pattern::kFirst, 3000, 1000);
  EXPECT_LE(untouched, 1.05 * cheapest(kPages, 26, Pattern::kFirst));
}

// In each round, the program touches 150 further pages, until all are populated. Each page costs the populating once.
TEST(Adaptive, KeepsABlockThatIsSoonPopulatedWhole) {
  History history;
  history.purged = true;
  for (std::uint32_t populated = 150; populated <= 1024; populated += 150) {
    ASSERT_NE(choose(history, 1024, 1), Action::kPurge) << populated;
    EXPECT_EQ(look_found(history, populated), Next::kNothing);
  }
  EXPECT_NE(choose(history, 1024, 1), Action::kPurge);
}

TEST(Adaptive, NoticesThatABlockWhichWasNeverTouchedIsTouched) {
  constexpr std::uint32_t kPages = 25600;
  Simulated block(kPages);
  mean_time(block, kPages, 0, Pattern::kFirst, 0, 500);
  EXPECT_LE(mean_time(block, kPages, 256, Pattern::kFirst, 8, 200), 1.05 * cheapest(kPages, 256, Pattern::kFirst));
}

TEST(Adaptive, PurgesOnceAfterAForkRatherThanHaveSharedPagesCopied) {
  History history;
  history.purged = true;
  ASSERT_EQ(choose(history, 100, 1), Action::kLook);
  look_found(history, 10);
  ASSERT_EQ(choose(history, 100, 1), Action::kLook);
  look_found(history, 10);
  EXPECT_EQ(choose(history, 100, 2), Action::kPurge);
  purge_done(history, kCosts, 1000);
  EXPECT_EQ(choose(history, 100, 2), Action::kLook);
}

TEST(Adaptive, LooksAfreshAtARequestOfAnotherLength) {
  History history;
  choose(history, 100, 1);
  look_found(history, 100);
  ASSERT_EQ(choose(history, 100, 1), Action::kWhole);
  EXPECT_EQ(choose(history, 101, 1), Action::kLook);
}

TEST(Adaptive, WhereTheKernelDoesNotSayTellsTouchedPagesByTheTimeOfAPurge) {
  for (const auto& [touched, wholes] : {std::pair{0U, false}, std::pair{20U, false}, std::pair{1000U, true}}) {
    History history;
    int whole = 0;
    bool all_populated = false;
    for (int i = 0; i < 100; ++i) {
      if (choose_blindly(history, 1000, 1) == Action::kWhole) {
        ++whole;
        all_populated = true;
      } else {
        const double populated = all_populated ? 1000 : touched;
        all_populated = false;
        blind_purge_done(history, kCosts, kCosts.purge + populated * kCosts.purge_page);
      }
    }
    EXPECT_EQ(whole > 80, wholes) << touched;
    EXPECT_EQ(whole > 0, wholes) << touched;
  }
}

}  // namespace
}  // namespace zerotax::largecache
