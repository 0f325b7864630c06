#include <gtest/gtest.h>

#include "snapshot/document.h"

namespace zerotax::snapshot {
namespace {

Json result(const char* alternative, const Json& slowdown, const char* allocator = "glibc") {
  const bool none = std::string(alternative) == "none";
  return {{"allocator", allocator},
          {"alternative", alternative},
          {"status", "ok"},
          {"slowdown", slowdown},
          {"checked_elements", none ? not_available("it takes no snapshot") : Json(8)}};
}

Json sentence_of(const std::vector<Json>& results) {
  Json snapshot{{"parameters", {{"array_bytes", 1 << 26}}}, {"results", results}};
  add_verdict(snapshot);
  return snapshot["sentence"];
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

}  // namespace
}  // namespace zerotax::snapshot
