#include "thresholds/map.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "base/size.h"
#include "round_trips.h"
#include "thresholds/document.h"
#include "thresholds/table.h"

namespace zerotax::thresholds {
namespace {

Signature later(const char* zeroed, const char* redundant, std::set<std::string> free = {},
                const char* first_home = "arena") {
  const Behaviour behaviour{"arena", zeroed, redundant, "none", {}, std::move(free)};
  Behaviour first = behaviour;
  first.home = first_home;
  return {"ok", first, behaviour, {}};
}

const Signature kBack = later("none", "none", {"munmap"});
const Signature kKept = later("none", "none");
const Signature kNeedless = later("all", "all");
const Signature kCrashed{"crashed", {}, {}, {}};

/// A lane from 16 KiB to 2 GiB: its first behavior, and the sizes from which it changes.
ThresholdLane lane(const char* allocator, const char* thread, const Signature& first,
                   const std::vector<std::pair<std::uint64_t, Signature>>& then) {
  ThresholdLane made{{allocator, "", {}, {}, "1.0"}, 0, thread, true, {}, 16 * kKiB, 2 * kGiB};
  made.found.at_from = first;
  made.found.probes = made.found.grid = 1;
  for (const auto& [at, above] : then) {
    const Signature below = made.found.thresholds.empty() ? first : made.found.thresholds.back().above;
    made.found.thresholds.push_back({at - 1, at, below, above});
  }
  return made;
}

Thresholds found(const std::vector<ThresholdLane>& lanes) {
  return {{kSchema, "1.0", "2026-11-20T00:00:00Z", {}, {}}, kPlainCase, {}, lanes};
}

Json map_of(const std::vector<ThresholdLane>& lanes) { return thresholds_json(found(lanes)); }

std::string pieces_of_lane(const Json& lane) {
  std::string text;
  for (const Json& piece : lane.at("pieces")) {
    text += std::to_string(piece.at("from_bytes").get<std::uint64_t>()) + "-" +
            std::to_string(piece.at("to_bytes").get<std::uint64_t>()) + " " + piece.at("word").get<std::string>() + " ";
  }
  return text;
}

TEST(ThresholdsMap, ABehaviourHasItsWord) {
  const auto word = [](const Signature& signature) { return std::string(zerotax::word(doing_of(signature))); };
  EXPECT_EQ(word(kBack), "no_zeros_back");
  EXPECT_EQ(word(later("none", "none", {"madvise"})), "no_zeros_back");
  EXPECT_EQ(word(later("none", "none", {"brk"})), "no_zeros_back");
  EXPECT_EQ(word(later("none", "none", {"mprotect"})), "no_zeros_kept");
  EXPECT_EQ(word(kKept), "no_zeros_kept");
  EXPECT_EQ(word(later("all", "none")), "dirty");
  EXPECT_EQ(word(later("part", "none")), "dirty");
  EXPECT_EQ(word(kNeedless), "needless");
  EXPECT_EQ(word(later("all", "part", {"munmap"})), "needless");
  for (const Signature& unknown :
       {later("n/a", "n/a"), later("all", "n/a"), later("none", "none", {"n/a"}), kCrashed}) {
    EXPECT_EQ(word(unknown), "unknown");
  }
}

TEST(ThresholdsMap, PiecesThatAreAlikeAreOneAndEveryMarkIsKept) {
  const Json map =
      map_of({lane("glibc", "main", kNeedless,
                   {{131'049, later("all", "all", {}, "mapping")}, {33'550'313, kBack}, {kGiB, kCrashed}})});
  EXPECT_EQ(pieces_of_lane(map["lanes"][0]),
            "16384-33550312 needless 33550313-1073741823 no_zeros_back 1073741824-2147483648 unknown ");
  EXPECT_EQ(map["thresholds"][0]["steady"], false) << "only the first calloc changes";
  EXPECT_EQ(map["thresholds"][1]["steady"], true);
  EXPECT_EQ(map["thresholds"][1]["doubtful"], false);
  EXPECT_EQ(map["title"], "What calloc does, by size: glibc changes at 3 sizes, each found to the byte");
  EXPECT_EQ(map["sentence"], "3 thresholds in 1 search, each found to the byte.");
}

TEST(ThresholdsMap, AWorkerThatDoesAsTheMainThreadIsMarked) {
  const auto like_main = [](const Signature& above) {
    return map_of({lane("a", "main", kKept, {{kMiB, kBack}}),
                   lane("a", "worker", kKept, {{kMiB, above}})})["lanes"][1]["like_main"];
  };
  EXPECT_EQ(like_main(kBack), true);
  EXPECT_EQ(like_main(kNeedless), false);
  EXPECT_EQ(map_of({lane("a", "worker", kKept, {})})["lanes"][0]["like_main"], false) << "no other thread was searched";
}

TEST(ThresholdsMap, WhatIsNotExactIsCountedAndDoubtful) {
  ThresholdLane inexact = lane("a", "main", kKept, {{kMiB, kBack}, {2 * kMiB, kKept}});
  inexact.found.thresholds[1].after_bytes -= 100;
  const Json map = map_of({inexact});
  EXPECT_EQ(map["thresholds"][1]["doubtful"], true);
  EXPECT_EQ(map["sentence"], "2 thresholds in 1 search, 1 of 2 found to the byte.");
}

TEST(ThresholdsMap, NotesAreOfWhatTheMapShows) {
  const auto notes = [](const std::vector<ThresholdLane>& lanes) { return map_of(lanes)["notes"]; };
  ThresholdLane doubtful = lane("a", "main", kKept, {{kMiB, kBack}, {2 * kMiB, kKept}, {kGiB, kCrashed}});
  EXPECT_EQ(notes({lane("a", "main", kKept, {{kMiB, kBack}})}), Json::array());
  doubtful.found.noisy = {kMiB};
  constexpr const char* kWhy = ". The size behaved differently when probed again, or behavior changes back and forth.";
  constexpr const char* kEnded = "Unknown where a point ended as: crashed.";
  EXPECT_EQ(notes({doubtful}), Json::array({fmt::format("Dashed: 1 unreliable mark{}", kWhy), kEnded}));
  doubtful.found.thresholds[1].after_bytes -= 100;
  EXPECT_EQ(notes({doubtful}), Json::array({fmt::format("Dashed: 2 unreliable marks{}", kWhy), kEnded}));
  ThresholdLane worker = doubtful;
  worker.thread = "worker";
  EXPECT_EQ(notes({doubtful, worker}), notes({doubtful})) << "the lane that equals the main thread's is not drawn";
  worker.found.thresholds.pop_back();
  EXPECT_EQ(notes({doubtful, worker}),
            Json::array({"A worker thread has its own bar only where the thread differs from the main thread.",
                         fmt::format("Dashed: 4 unreliable marks{}", kWhy), kEnded}));
}

TEST(ThresholdsMap, HowPointsEndedIsInWords) {
  Signature late = kCrashed;
  late.status = "timeout";
  Signature dirty = kCrashed;
  dirty.status = "not_zero";
  EXPECT_EQ(map_of({lane("a", "main", dirty, {{kMiB, late}})})["notes"],
            Json::array({"Unknown where a point ended as: not zero, timed out."}));
}

TEST(ThresholdsMap, NoChangeIsSaidAndSettingsAreInTheName) {
  ThresholdLane never = lane("scudo", "main", kKept, {});
  never.allocator.env = {{"A", "1"}, {"B", "2"}};
  const Json map = map_of({never});
  EXPECT_EQ(map["title"], "What calloc does, by size: no change found in scudo [A=1 B=2]");
  EXPECT_EQ(map["sentence"], "No thresholds found in 1 search.");
  EXPECT_EQ(map["lanes"][0]["name"], "scudo [A=1 B=2]");
}

TEST(ThresholdsTable, WithoutAThresholdHowManySizesWereLookedAt) {
  ThresholdLane never = lane("scudo", "main", kKept, {});
  EXPECT_NE(thresholds_text({never}).find("    no change found: only 1 size was probed\n"), std::string::npos);
  never.found.probes = never.found.grid = 34;
  EXPECT_NE(thresholds_text({never}).find("    no change found: all 34 probed sizes behave alike\n"), std::string::npos)
      << thresholds_text({never});
}

TEST(ThresholdsTable, WhatFreeZeroesIsSaidOfTheStart) {
  Signature clearing = kKept;
  clearing.reuse.in_free = {"all", "part"};
  const std::string text = thresholds_text({lane("scudo", "main", clearing, {})});
  EXPECT_NE(text.find("    from the start: writes no zeros, keeps memory; free zeroes the whole\n"
                      "      block, partly needlessly\n"),
            std::string::npos)
      << text;
  clearing.reuse.in_free = {"none", "none"};
  EXPECT_EQ(thresholds_text({lane("scudo", "main", clearing, {})}).find("; free"), std::string::npos);
}

TEST(ThresholdsMap, AnEarlierFileGetsTheSameMap) {
  const Json made = map_of({lane("glibc", "main", kNeedless, {{131'049, kBack}}), lane("glibc", "worker", kKept, {})});
  Json earlier = made;
  for (const char* key : {"title", "sentence", "notes", "words"}) earlier.erase(key);
  for (Json& each : earlier["lanes"]) {
    for (const char* key : {"name", "pieces", "like_main"}) each.erase(key);
  }
  for (Json& each : earlier["thresholds"]) {
    for (const char* key : {"steady", "doubtful"}) each.erase(key);
  }
  EXPECT_EQ(thresholds_json(read_thresholds(earlier)), made);
}

TEST(ThresholdsDocument, ThoseThatAreCommittedComeBackByteForByte) {
  expect_round_trips("zerotax.thresholds/1", [](const Json& json) { return thresholds_json(read_thresholds(json)); });
}

TEST(ThresholdsPlot, HasARowForEachLaneAndAMarkForEachThreshold) {
  const Thresholds document =
      found({lane("glibc", "main", kKept, {{32 * kMiB, kNeedless}}),
             lane("glibc", "worker", kKept, {{32 * kMiB, kNeedless}}), lane("scudo", "main", kBack, {})});
  const std::string text = thresholds_plot(document, {80, false});
  EXPECT_NE(text.find("\nglibc touch 0 ------"), std::string::npos) << text;
  EXPECT_NE(text.find("-|#"), std::string::npos) << text;
  EXPECT_NE(text.find("\nscudo touch 0 ......"), std::string::npos) << text;
  EXPECT_EQ(text.find("worker"), std::string::npos) << "the worker behaves the same";
  EXPECT_NE(text.find("# zeroes needlessly"), std::string::npos) << text;
  EXPECT_EQ(text.find("dirty"), std::string::npos) << "no lane zeroes dirty memory";
}

TEST(ThresholdsNext, MeasuresBothSidesOfTheFirstThatCostsMore) {
  const Thresholds costly = found(
      {lane("scudo", "main", kNeedless, {{kMiB, kKept}}), lane("glibc", "worker", kKept, {{32 * kMiB, kNeedless}})});
  EXPECT_EQ(next_step(costly),
            "zerotax run --allocator glibc --size 33554431 --size 33554432 --touch 0 --thread worker");
  EXPECT_EQ(next_step(found({lane("scudo", "main", kNeedless, {{kMiB, kKept}})})), "");
}

}  // namespace
}  // namespace zerotax::thresholds
