#include "run/experiment.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <mutex>
#include <stdexcept>

#include "run/interrupt.h"

namespace zerotax {
namespace {

using Words = std::vector<std::string>;

/// Records events in their order.
class Diary {
 public:
  Item item(const std::string& name, const std::string& batch, bool audited, bool measured) {
    Item item;
    item.key = name;
    item.batch = batch;
    if (audited) item.audit = [this, name](const Say&) { write("audit " + name); };
    if (measured) item.measure = [this, name](const Say&) { write("measure " + name); };
    return item;
  }
  Experiment::Options options(std::size_t side_by_side = 1) {
    return {side_by_side, false, [this](const Item& item) { write("finished " + item.key); }};
  }
  void write(const std::string& what) {
    const std::scoped_lock held(lock_);
    words.push_back(what);
  }

  Words words;

 private:
  std::mutex lock_;
};

TEST(Experiment, AuditsABatchBeforeItMeasuresAnyOfItAndFinishesItemsInTheirOrder) {
  Diary diary;
  EXPECT_TRUE(Experiment("", diary.options())
                  .run({diary.item("a", "1", true, true), diary.item("b", "1", true, true),
                        diary.item("c", "2", true, true), diary.item("d", "3", false, true)}));
  EXPECT_EQ(diary.words, (Words{"audit a", "audit b", "measure a", "finished a", "measure b", "finished b", "audit c",
                                "measure c", "finished c", "measure d", "finished d"}));
}

TEST(Experiment, FinishesWhatIsOnlyAuditedAtOnce) {
  Diary diary;
  EXPECT_TRUE(
      Experiment("", diary.options()).run({diary.item("a", "", true, false), diary.item("b", "", true, false)}));
  EXPECT_EQ(diary.words, (Words{"audit a", "finished a", "audit b", "finished b"}));
}

TEST(Experiment, RunsNothingBesideWhatIsMeasuredAndNoMoreAuditsThanAllowed) {
  std::atomic<int> running = 0;
  std::atomic<int> most = 0;
  std::vector<Item> items(6);
  for (Item& item : items) {
    item.audit = [&](const Say&) {
      most = std::max<int>(most, ++running);
      --running;
    };
    item.measure = [&](const Say&) {
      EXPECT_EQ(++running, 1);
      --running;
    };
  }
  EXPECT_TRUE(Experiment("", {2, false, {}}).run(items));
  EXPECT_LE(most, 2);
}

TEST(Experiment, EndsAtAStopAndDoesNotFinishWhatWasUnderWay) {
  for (const bool audited : {true, false}) {
    Diary diary;
    std::vector<Item> items{diary.item("a", "1", audited, !audited), diary.item("b", "2", audited, !audited),
                            diary.item("c", "3", audited, !audited)};
    (audited ? items[1].audit : items[1].measure) = [](const Say&) { throw Stop{}; };
    Experiment experiment("", diary.options());
    EXPECT_FALSE(experiment.run(items));
    EXPECT_EQ(diary.words.back(), "finished a");
    EXPECT_TRUE(experiment.run({})) << "no signal asked to stop";
  }
}

TEST(Experiment, HandsOtherExceptionsOn) {
  Item item;
  item.measure = [](const Say&) { throw std::runtime_error("no machine"); };
  EXPECT_THROW(static_cast<void>(Experiment("").run({item})), std::runtime_error);
  std::swap(item.audit, item.measure);
  EXPECT_THROW(static_cast<void>(Experiment("").run({item})), std::runtime_error);
}

Words order_of(Rounds order) {
  Words words;
  for (const Item& item : in_rounds(3, 3, order, [](unsigned round, std::size_t place) {
         Item made;
         made.key = std::to_string(round) + std::to_string(place);
         return made;
       })) {
    words.push_back(item.key);
  }
  return words;
}

TEST(Experiment, VisitsEachPlaceOnceInEachRound) {
  EXPECT_EQ(order_of(Rounds::kForward), (Words{"00", "01", "02", "10", "11", "12", "20", "21", "22"}));
  EXPECT_EQ(order_of(Rounds::kAlternating), (Words{"00", "01", "02", "12", "11", "10", "20", "21", "22"}));
}

TEST(PairOrder, AlternatesWithThePlaceOrFlipsTheCoinsOfItsSeed) {
  PairOrder alternating;
  EXPECT_TRUE(alternating.first_goes_first(0));
  EXPECT_FALSE(alternating.first_goes_first(1));
  EXPECT_TRUE(alternating.first_goes_first(0)) << "the order depends on the place only";
  PairOrder coins(2016);
  Random same(2016);
  for (std::size_t i = 0; i < 100; ++i) EXPECT_EQ(coins.first_goes_first(i), same.below(2) == 0) << i;
}

}  // namespace
}  // namespace zerotax
