#include <fmt/format.h>
#include <gtest/gtest.h>

#include "snapshot/document.h"

namespace zerotax::snapshot {
namespace {

Json result(const char* alternative, const Json& slowdown, const char* allocator = "glibc") {
  const bool none = std::string(alternative) == "none";
  return {{"allocator", allocator},
          {"alternative", alternative},
          {"status", "ok"},
          {"reason", nullptr},
          {"has_child", false},
          {"slowdown", slowdown},
          {"writers_wall_ns", {{"median", 7e8}, {"p05", 6e8}, {"p95", 9e8}}},
          {"stopped_ns", {{"median", 7e6}, {"p05", 1e6}, {"p95", 9e6}}},
          {"memory", {{"before_bytes", 1 << 27}, {"peak_bytes", (1 << 27) + (1 << 25)}}},
          {"checked_elements", none ? not_available("it takes no snapshot") : Json(8)}};
}

Json judged(const std::vector<Json>& results, int writers = 2, int checkpointers = 1, int repeat = 3) {
  Json snapshot{{"parameters",
                 {{"array_bytes", 1 << 26},
                  {"batch_bytes", 1 << 21},
                  {"writers", writers},
                  {"checkpointers", checkpointers},
                  {"repeat", repeat}}},
                {"alternatives", Json::array()},
                {"results", results}};
  add_verdict(snapshot);
  return snapshot;
}

Json sentence_of(const std::vector<Json>& results) { return judged(results)["sentence"]; }

TEST(SnapshotVerdict, RunsThatContradictEachOtherAreNamed) {
  const auto notes = [](double p95) {
    Json fork = result("fork", 6.5);
    fork["writers_wall_ns"]["p95"] = p95;
    return judged({result("none", 1.0), fork})["notes"].dump();
  };
  EXPECT_EQ(notes(9e8).find("contradict"), std::string::npos);
  EXPECT_NE(notes(9.1e8).find("fork (600 ms to 910 ms)"), std::string::npos) << notes(9.1e8);
}

TEST(SnapshotVerdict, NamesTheLeastAndTheMostOfTheFirstAllocator) {
  EXPECT_EQ(sentence_of({result("none", 1.0), result("fork", 6.5), result("shared_stop", 1.3), result("uffd_wp", 2.7),
                         result("fork", 9.0, "jemalloc")}),
            "A snapshot of 64 MiB under writers: they need 1.3 times as long with shared_stop, 6.5 times with fork.");
}

TEST(SnapshotVerdict, WhatFailedOrWasNotMeasuredBesideNoneIsNotCompared) {
  Json failed = result("fork", 9.0);
  failed["status"] = "failed";
  const Json unknown = result("fork_huge", not_available("the alternative none was not measured"));
  EXPECT_TRUE(is_not_available(sentence_of({result("none", 1.0), result("uffd_wp", 2.7), failed, unknown})));
}

TEST(SnapshotVerdict, AMarkIsOfWhatTookASnapshotAndWasMeasuredBesideNone) {
  Json failed = result("uffd_wp", not_available("skipped"));
  failed["status"] = "skipped";
  failed["reason"] = "userfaultfd is not permitted";
  Json unseen = result("fork_huge", 3.0);
  unseen["memory"] = not_available("no PSS");
  const Json results = judged({result("none", 1.0), result("fork", 6.5), failed, unseen})["results"];
  EXPECT_EQ(results[0]["mark"], not_available("what the others are compared with"));
  EXPECT_EQ(results[1]["mark"], (Json{{"slowdown", 6.5}, {"memory_share", 0.5}, {"stopped_ns", 7e6}}));
  EXPECT_EQ(results[2]["mark"], not_available("skipped: userfaultfd is not permitted"));
  EXPECT_EQ(results[3]["mark"],
            (Json{{"slowdown", 3.0}, {"memory_share", not_available("no PSS")}, {"stopped_ns", 7e6}}));
  const Json alone = judged({result("fork", not_available("the alternative none was not measured"))});
  EXPECT_EQ(alone["results"][0]["mark"], not_available("the alternative none was not measured"));
}

TEST(SnapshotVerdict, NotesSayWhatRanWhatFailedAndWhoElseWasMeasured) {
  constexpr const char* kApart =
      " Memory and faults are of runs of their own; faults are slower while they are traced.";
  Json failed = result("uffd_wp", not_available("failed"));
  failed["status"] = "failed";
  failed["reason"] = "out of memory";
  Json other = failed;
  other["allocator"] = "jemalloc";
  EXPECT_EQ(judged({result("none", 1.0), failed, result("none", 1.0, "scudo"), other})["notes"],
            Json::array({fmt::format("2 writers, 1 thread that copies, batches of 2 MiB; medians of 3 runs.{}", kApart),
                         "uffd_wp: failed: out of memory.", "Of glibc; measured also: jemalloc, scudo."}));
  EXPECT_EQ(judged({result("none", 1.0)}, 1, 2, 1)["notes"],
            Json::array({fmt::format("1 writer, 2 threads that copy, batches of 2 MiB; one run.{}", kApart)}));
}

}  // namespace
}  // namespace zerotax::snapshot
