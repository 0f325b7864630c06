#include <gtest/gtest.h>

#include "point/point_json.h"
#include "run/fleet/hosts.h"

namespace zerotax::fleet {
namespace {

Json host(const std::string& cpu) {
  return {{"kernel", "6.18"}, {"cpu", cpu}, {"thp", "madvise"}, {"page_bytes", 4096}, {"memory_bytes", 1}};
}

Json point_on(const std::string& name) {
  return {{"allocator", "x"},
          {"case", "calloc_loop"},
          {"size_bytes", 1},
          {"touch", 0.0},
          {"thread", "main"},
          {"status", "ok"},
          {"calloc_ns", {{"median", 10}, {"p05", 9}, {"p95", 11}}},
          {"zeroed_bytes", 7},
          {"host", name}};
}

TEST(Hosts, OfTheSameKernelCpuHugePagesAndPageSizeAreAlike) {
  Json other = host("A");
  other["memory_bytes"] = 2;
  EXPECT_EQ(unlike_hosts(host("A"), other), "");
  other["thp"] = "never";
  EXPECT_EQ(unlike_hosts(host("A"), other), "thp: madvise and never");
  EXPECT_EQ(unlike_hosts(host("A"), host("B")), "cpu: A and B");
  Json unknown = host("A");
  unknown["cpu"] = not_available("cannot be read");
  EXPECT_EQ(unlike_hosts(host("A"), unknown), "cpu: A and n/a");
}

TEST(Hosts, AlikeOnesThatMeasuredMostPointsHaveTheTimes) {
  const Hosts hosts{{"n1", host("A")}, {"n2", host("B")}, {"n3", host("B")}};
  const Json comparable = comparable_times({point_on("n1"), point_on("n2"), point_on("n3")}, hosts);
  EXPECT_EQ(comparable.at("hosts"), (Json{"n2", "n3"}));
  EXPECT_EQ(comparable.at("left_out"), (Json{{"n1", "cpu: B and A"}}));
}

TEST(Hosts, ARunWithoutHostsHasAllItsTimes) {
  EXPECT_TRUE(comparable_times({point_on("n1")}, {}).is_null());
  std::vector<Point> points = typed_points({point_on("n1")});
  EXPECT_EQ(leave_out_times(nullptr, points), 0U);
  EXPECT_EQ(points[0].number(Metric::kCallocNs), 10);
}

Json load_of(double others, bool busy) {
  return {{"cpus", 2},    {"start", 0.1},
          {"end", 0.2},   {"others_cpus", others},
          {"busy", busy}, {"sentence", "Verdict: words."}};
}

TEST(Hosts, TheLoadOfARunIsThatOfTheWorstHost) {
  EXPECT_TRUE(load_of_hosts({}).is_null());
  EXPECT_EQ(load_of_hosts({{"n1", load_of(0.1, false)}}).at("sentence"),
            "Measured on 1 host, none under load; most was on n1: words.");
  const Json load =
      load_of_hosts({{"n1", load_of(0.1, false)}, {"n2", load_of(1.5, true)}, {"n3", load_of(1.1, true)}});
  EXPECT_EQ(load.at("others_cpus"), 1.5);
  EXPECT_EQ(load.at("busy"), true);
  EXPECT_EQ(load.at("sentence"), "Measured under load on 2 of 3 hosts; most was on n2: words.");
}

TEST(Hosts, ALoadThatWasNotMeasuredIsTheLeast) {
  Json unknown = load_of(0, false);
  unknown["others_cpus"] = not_available("too short");
  EXPECT_TRUE(is_worse_load(load_of(0.1, false), unknown));
  EXPECT_FALSE(is_worse_load(unknown, load_of(0.1, false)));
}

TEST(Hosts, TimesOfOthersBecomeUnavailableAndCountsStay) {
  const Hosts hosts{{"n1", host("A")}, {"n2", host("B")}};
  const std::vector<Json> all{point_on("n1"), point_on("n1"), point_on("n2")};
  const Json comparable = comparable_times(all, hosts);
  std::vector<Point> points = typed_points(all);
  EXPECT_EQ(leave_out_times(comparable, points), 1U);
  EXPECT_EQ(points[0].number(Metric::kCallocNs), 10);
  EXPECT_EQ(points[2].why_not(Metric::kCallocNs), "measured on n2, which is unlike the other hosts (cpu: A and B)");
  EXPECT_EQ(points[2].count(Metric::kZeroedBytes), 7U);
  EXPECT_EQ(left_out_text(comparable, 1),
            "Times of 1 point are left out: they were measured on hosts unlike the others: n2 (cpu: A and B).");
  EXPECT_EQ(left_out_text(comparable, 0), "");
}

}  // namespace
}  // namespace zerotax::fleet
