#include <fmt/format.h>
#include <gtest/gtest.h>

#include "round_trips.h"
#include "snapshot/sweep.h"

namespace zerotax::snapshot {
namespace {

Result result(const char* alternative, const Measured<double>& slowdown, const char* allocator = "glibc") {
  Result made;
  made.allocator = allocator;
  made.alternative = alternative;
  made.status = Status::kOk;
  made.slowdown = slowdown;
  made.writers_wall_ns = Quantiles{{7e8, 6e8, 9e8}};
  made.stopped_ns = Quantiles{{7e6, 1e6, 9e6}};
  made.memory = Memory{1 << 27, (1 << 27) + (1 << 25), 1};
  if (made.alternative != "none") made.checked_elements = 8;
  return made;
}

Result ended(const char* alternative, Status status, const char* reason, const char* allocator = "glibc") {
  Result made = result(alternative, NotAvailable{reason}, allocator);
  made.status = status;
  made.reason = reason;
  return made;
}

Snapshot judged(const std::vector<Result>& results, unsigned writers = 2, unsigned checkpointers = 1,
                unsigned repeat = 3) {
  Snapshot snapshot;
  Parameters& parameters = snapshot.parameters;
  parameters.array_bytes = 1 << 26;
  parameters.batch_bytes = 1 << 21;
  parameters.writers = writers;
  parameters.checkpointers = checkpointers;
  parameters.repeat = repeat;
  snapshot.results = results;
  add_verdict(snapshot);
  return snapshot;
}

Measured<std::string> sentence_of(const std::vector<Result>& results) { return judged(results).sentence; }

TEST(SnapshotDocument, IsTheSameAfterReadingIt) {
  expect_round_trips("zerotax.snapshot/1", [](const Json& json) {
    Snapshot snapshot = read_snapshot(json);
    add_verdict(snapshot);
    return Json(snapshot);
  });
}

TEST(SweepDocument, IsTheSameAfterReadingIt) {
  expect_round_trips("zerotax.snapshot_sweep/1", [](const Json& json) {
    Json back = json.get<Sweep>();
    if (!json.contains("loss")) back.erase("loss");  // earlier versions did not write `loss`
    return back;
  });
}

TEST(SnapshotVerdict, RunsThatContradictEachOtherAreNamed) {
  const auto contradiction = [](double p95) {
    Result fork = result("fork", 6.5);
    (*fork.writers_wall_ns).p95 = p95;
    const Snapshot snapshot = judged({result("none", 1.0), fork});
    EXPECT_EQ(snapshot.notes.size(), snapshot.contradiction ? 2U : 1U);
    return snapshot.contradiction.value_or("");
  };
  EXPECT_EQ(contradiction(9e8), "");
  EXPECT_NE(contradiction(9.1e8).find("fork (600 ms to 910 ms)"), std::string::npos) << contradiction(9.1e8);
}

TEST(SnapshotVerdict, NamesTheLeastAndTheMostOfTheFirstAllocator) {
  EXPECT_EQ(*sentence_of({result("none", 1.0), result("fork", 6.5), result("shared_stop", 1.3), result("uffd_wp", 2.7),
                          result("fork", 9.0, "jemalloc")}),
            "A snapshot of 64 MiB under writers: they need 1.3 times as long with shared_stop, 6.5 times with fork.");
}

TEST(SnapshotVerdict, WhatFailedOrWasNotMeasuredBesideNoneIsNotCompared) {
  const Result unknown = result("fork_huge", NotAvailable{"the alternative none was not measured"});
  EXPECT_FALSE(
      sentence_of({result("none", 1.0), result("uffd_wp", 2.7), ended("fork", Status::kFailed, "it failed"), unknown}));
}

TEST(SnapshotVerdict, AMarkIsOfWhatTookASnapshotAndWasMeasuredBesideNone) {
  Result unseen = result("fork_huge", 3.0);
  unseen.memory = NotAvailable{"no PSS"};
  const std::vector<Result> results =
      judged({result("none", 1.0), result("fork", 6.5),
              ended("uffd_wp", Status::kSkipped, "userfaultfd is not permitted"), unseen})
          .results;
  EXPECT_EQ(results[0].mark.why(), "what the others are compared with");
  EXPECT_EQ(*results[1].mark, (Mark{6.5, 0.5, 7e6}));
  EXPECT_EQ(results[2].mark.why(), "skipped: userfaultfd is not permitted");
  EXPECT_EQ(*results[3].mark, (Mark{3.0, NotAvailable{"no PSS"}, 7e6}));
  const Snapshot alone = judged({result("fork", NotAvailable{"the alternative none was not measured"})});
  EXPECT_EQ(alone.results[0].mark.why(), "the alternative none was not measured");
}

TEST(SnapshotVerdict, NotesSayWhatRanWhatFailedAndWhoElseWasMeasured) {
  using Notes = std::vector<std::string>;
  const std::string apart = " Memory and faults are of runs of their own; faults are slower while they are traced.";
  EXPECT_EQ(judged({result("none", 1.0), ended("uffd_wp", Status::kFailed, "out of memory"),
                    result("none", 1.0, "scudo"), ended("uffd_wp", Status::kFailed, "out of memory", "jemalloc")})
                .notes,
            (Notes{"2 writers, 1 thread that copies, batches of 2 MiB; medians of 3 runs." + apart,
                   "uffd_wp: failed: out of memory.", "Of glibc; measured also: jemalloc, scudo."}));
  EXPECT_EQ(judged({result("none", 1.0)}, 1, 2, 1).notes,
            (Notes{"1 writer, 2 threads that copy, batches of 2 MiB; one run." + apart}));
}

}  // namespace
}  // namespace zerotax::snapshot
