#include <gtest/gtest.h>

#include "point/point_document.h"
#include "run/fleet/hosts.h"

namespace zerotax::fleet {
namespace {

Environment host(const std::string& cpu) {
  Environment made;
  made.kernel = std::string("6.18");
  made.cpu = cpu;
  made.thp = std::string("madvise");
  made.page_bytes = std::uint64_t{4096};
  made.memory_bytes = std::uint64_t{1};
  return made;
}

Point point_on(const std::string& name) {
  return point_from_json({{"allocator", "x"},
                          {"case", "calloc_loop"},
                          {"size_bytes", 1},
                          {"touch", 0.0},
                          {"thread", "main"},
                          {"status", "ok"},
                          {"calloc_ns", {{"median", 10}, {"p05", 9}, {"p95", 11}}},
                          {"zeroed_bytes", 7},
                          {"host", name}});
}

TEST(Hosts, OfTheSameKernelCpuHugePagesAndPageSizeAreAlike) {
  Environment other = host("A");
  other.memory_bytes = std::uint64_t{2};
  EXPECT_EQ(unlike_hosts(host("A"), other), "");
  other.thp = std::string("never");
  EXPECT_EQ(unlike_hosts(host("A"), other), "thp: madvise and never");
  EXPECT_EQ(unlike_hosts(host("A"), host("B")), "cpu: A and B");
  Environment unknown = host("A");
  unknown.cpu = NotAvailable{"cannot be read"};
  EXPECT_EQ(unlike_hosts(host("A"), unknown), "cpu: A and n/a");
}

TEST(Hosts, AlikeOnesThatMeasuredMostPointsHaveTheTimes) {
  const Hosts hosts{{"n1", host("A")}, {"n2", host("B")}, {"n3", host("B")}};
  const auto comparable = comparable_times({point_on("n1"), point_on("n2"), point_on("n3")}, hosts);
  EXPECT_EQ(comparable->hosts, (std::vector<std::string>{"n2", "n3"}));
  EXPECT_EQ(comparable->left_out, (std::map<std::string, std::string>{{"n1", "cpu: B and A"}}));
}

TEST(Hosts, ARunWithoutHostsHasAllItsTimes) {
  EXPECT_FALSE(comparable_times({point_on("n1")}, {}));
  std::vector<Point> points{point_on("n1")};
  EXPECT_EQ(leave_out_times({}, points), 0U);
  EXPECT_EQ(points[0].number(Metric::kCallocNs), 10);
}

Load load_of(double others, bool busy) { return {2, 0.1, 0.2, others, busy, "Verdict: words."}; }

TEST(Hosts, TheLoadOfARunIsThatOfTheWorstHost) {
  EXPECT_FALSE(load_of_hosts({}));
  EXPECT_EQ(load_of_hosts({{"n1", load_of(0.1, false)}})->sentence,
            "Measured on 1 host, none under load; most was on n1: words.");
  const auto load =
      load_of_hosts({{"n1", load_of(0.1, false)}, {"n2", load_of(1.5, true)}, {"n3", load_of(1.1, true)}});
  EXPECT_EQ(*load->others_cpus, 1.5);
  EXPECT_TRUE(load->busy);
  EXPECT_EQ(load->sentence, "Measured under load on 2 of 3 hosts; most was on n2: words.");
}

TEST(Hosts, ALoadThatWasNotMeasuredIsTheLeast) {
  Load unknown = load_of(0, false);
  unknown.others_cpus = NotAvailable{"too short"};
  EXPECT_TRUE(is_worse_load(load_of(0.1, false), unknown));
  EXPECT_FALSE(is_worse_load(unknown, load_of(0.1, false)));
}

TEST(Hosts, TimesOfOthersBecomeUnavailableAndCountsStay) {
  const Hosts hosts{{"n1", host("A")}, {"n2", host("B")}};
  std::vector<Point> points{point_on("n1"), point_on("n1"), point_on("n2")};
  const auto comparable = comparable_times(points, hosts);
  EXPECT_EQ(leave_out_times(comparable, points), 1U);
  EXPECT_EQ(points[0].number(Metric::kCallocNs), 10);
  EXPECT_EQ(points[2].why_not(Metric::kCallocNs), "measured on n2, which is unlike the other hosts (cpu: A and B)");
  EXPECT_EQ(points[2].count(Metric::kZeroedBytes), 7U);
  EXPECT_EQ(left_out_text(comparable, 1),
            "Times of 1 point are left out, because the measuring hosts differ from the others: n2 (cpu: A and B).");
  EXPECT_EQ(left_out_text(comparable, 0), "");
}

}  // namespace
}  // namespace zerotax::fleet
