#include "point/typed_point.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>
#include <stdexcept>

#include "point/point.h"
#include "point/point_document.h"
#include "run/planning.h"
#include "small_pages.h"

namespace zerotax {
namespace {

namespace fs = std::filesystem;
const fs::path kReference = ZEROTAX_SOURCE_DIR "/results/reference";

std::vector<Json> points_of_lines(const fs::path& path) {
  std::vector<Json> points;
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) points.push_back(Json::parse(line));
  return points;
}

/// Every committed point: of the study, of the reports, of cases that receive and of cases that fork.
std::vector<Json> committed_points() {
  std::vector<Json> points;
  for (const auto& entry : fs::recursive_directory_iterator(kReference)) {
    std::vector<Json> found;
    if (entry.path().extension() == ".jsonl") found = points_of_lines(entry.path());
    if (entry.path().extension() == ".json") {
      const Json document = Json::parse(std::ifstream(entry.path()));
      if (document.is_object() && document.contains("points") && document["points"].is_array()) {
        found = document["points"].get<std::vector<Json>>();
      }
    }
    for (const Json& point : found) {
      if (point.contains("first_ops"))
        points.push_back(point);  // some documents have points of a different kind,
                                  // without first_ops
    }
  }
  return points;
}

Json a_point() {
  const auto points = points_of_lines(kReference / "points.jsonl");
  return points.at(0);
}

Json skipped() {
  Plan plan;
  plan.allocators.push_back({"mine", "/p", "/lib/mine.so", {{"B", "1"}, {"A", "2"}}, ""});
  add_points(plan, {{"calloc_loop"}, {4096}, {0.5}, {"worker"}}, {});
  return to_json(skipped_point(plan, plan.points.at(0), "a test"));
}

std::string refusal(const Json& json) {
  try {
    point_from_json(json);
  } catch (const std::invalid_argument& failure) {
    return failure.what();
  }
  return "";
}

TEST(TypedPoint, EveryCommittedPointIsWrittenAsItWasRead) {
  const std::vector<Json> points = committed_points();
  ASSERT_GT(points.size(), 1500U);
  std::set<std::string> groups;
  for (const Json& point : points) {
    ASSERT_EQ(to_json(point_from_json(point)).dump(), point.dump());
    for (const char* group : {"transfer", "fork"}) {
      if (point.contains(group)) groups.insert(group);
    }
  }
  EXPECT_EQ(groups, (std::set<std::string>{"fork", "transfer"}));
}

TEST(TypedPoint, ASkippedPointHasAReasonForEveryMetricOfAPoint) {
  const Json json = skipped();
  const Point point = point_from_json(json);
  EXPECT_EQ(to_json(point).dump(), json.dump());
  EXPECT_EQ(point.status, PointStatus::kSkipped);
  EXPECT_EQ(point.reason, "a test");
  for (const MetricRow& row : metric_rows()) {
    const bool is_there = row.group == MetricGroup::kPoint;
    EXPECT_EQ(point.why_not(row.metric), is_there ? "skipped: a test" : "not measured by this pass") << row.key;
    EXPECT_EQ(point[row.metric].is_absent(), !is_there) << row.key;
  }
}

TEST(TypedPoint, IdentityIsTyped) {
  const Point point = point_from_json(skipped());
  EXPECT_EQ(point.allocator, "mine");
  EXPECT_TRUE(point.version.is_not_available());
  EXPECT_EQ(point.preload, "/lib/mine.so");
  EXPECT_EQ(point.env.at("A"), "2");
  EXPECT_EQ(point.size_bytes, 4096U);
  EXPECT_EQ(point.touch, 0.5);
  EXPECT_EQ(point.thread, "worker");
  EXPECT_EQ(point.audited_ops, 0U);
  EXPECT_EQ(allocator_label(point), "mine [A=2 B=1]");
  EXPECT_EQ(key_of(point), point_key("mine", "calloc_loop", 4096, 0.5, "worker"));
}

TEST(TypedPoint, AnswersForAMetricByItsKind) {
  Json json = a_point();
  json["calloc_ns"] = {{"median", 20.5}, {"p05", 10.0}, {"p95", 30.0}};
  json["calloc_syscalls"] = {{"mmap", 2}};
  json["zeroed_bytes"] = {{"na", "why"}};
  json.erase("home");
  const Point point = point_from_json(json);
  EXPECT_EQ(point.number(Metric::kCallocNs), 20.5);
  EXPECT_EQ(point.count(Metric::kCallocNs), std::nullopt);
  EXPECT_EQ(point.spread(Metric::kCallocNs)->p95, 30.0);
  EXPECT_EQ(point.count(Metric::kFreeFaults), 0U);
  EXPECT_EQ(point.number(Metric::kFreeFaults), 0.0);
  EXPECT_EQ(point.calls(Metric::kCallocSyscalls, "mmap"), 2U);
  EXPECT_EQ(point.calls(Metric::kCallocSyscalls, "brk"), 0U);
  EXPECT_EQ(point.count(Metric::kZeroedBytes), std::nullopt);
  EXPECT_EQ(point.why_not(Metric::kZeroedBytes), "why");
  EXPECT_TRUE(point.is_word(Metric::kInlineStores, "watched"));
  EXPECT_TRUE(point[Metric::kHome].is_absent());
  EXPECT_FALSE(to_json(point).contains("home"));
  EXPECT_EQ(point.first()->number(Metric::kCallocNs), json["first_ops"][0]["calloc_ns"].get<double>());
}

/// The tests below compare a point's answers with sums of values from the point's JSON. This function adds the values
/// for calloc, touching and free of an operation.
std::optional<double> sum_in(const Json& values, const std::string& unit, bool touched) {
  double sum = 0;
  for (const std::string part : {"calloc_", "touch_", "free_"}) {
    const Json value = values.value(part + unit, Json());
    if (value.is_number()) {
      sum += value.get<double>();
    } else if (value.is_object() && value.contains("median")) {
      sum += value.at("median").get<double>();
    } else if (part != "touch_" || touched) {
      return std::nullopt;
    }
  }
  return sum;
}

TEST(TypedPoint, CostsOfAnOperationAreThoseOfItsJson) {
  for (const Json& json : points_of_lines(kReference / "points.jsonl")) {
    const Point point = point_from_json(json);
    const bool touched = json.at("touch") != 0.0;
    ASSERT_EQ(operation_ns(point), sum_in(json, "ns", touched));
    ASSERT_EQ(operation_faults(point), sum_in(json, "faults", touched));
    const Json& first = json.at("first_ops");
    ASSERT_EQ(first_operation_ns(point), first.empty() ? std::nullopt : sum_in(first[0], "ns", touched));
    ASSERT_EQ(first_operation_faults(point), first.empty() ? std::nullopt : sum_in(first[0], "faults", touched));
    ASSERT_EQ(is_healthy(point), is_healthy_status(json.at("status")));
  }
  EXPECT_EQ(first_operation_ns(Point()), std::nullopt);
  EXPECT_EQ(operation_ns(Point()), std::nullopt);
}

TEST(TypedPoint, BytesFoundByTheirPagesAreEvidenceFromTwoPagesOn) {
  ONLY_WITH_SMALL_PAGES();
  Point point;
  point[Metric::kZeroedBytes] = MetricValue::whole(8191);
  EXPECT_EQ(point.evident_count(Metric::kZeroedBytes), 8191U);
  point[Metric::kZeroedBound] = MetricValue::word("at most");
  EXPECT_EQ(point.evident_count(Metric::kZeroedBytes), 0U);
  EXPECT_TRUE(point.is_upper_bound(Metric::kZeroedBytes));
  EXPECT_FALSE(point.is_upper_bound(Metric::kZeroedInFreeBytes));
  EXPECT_FALSE(point.is_upper_bound(Metric::kCallocFaults));
  point[Metric::kZeroedBytes] = MetricValue::whole(8192);
  EXPECT_EQ(point.evident_count(Metric::kZeroedBytes), 8192U);
}

TEST(TypedPoint, KeysOfALaterVersionArePassedOver) {
  const Json json = a_point();
  Json later = json;
  later["later_ns"] = 1;
  later["calloc_ns"]["p99"] = 1.0;
  later["first_ops"][0]["later_ns"] = {{"na", "why"}};
  EXPECT_EQ(to_json(point_from_json(later)).dump(), json.dump());
}

TEST(TypedPoint, AValueOfAnotherTypeIsRefusedWithItsPlace) {
  const auto with = [](const char* pointer, const Json& value) {
    Json json = a_point();
    json[Json::json_pointer(pointer)] = value;
    return refusal(json);
  };
  EXPECT_EQ(with("/zeroed_bytes", "x"), "/zeroed_bytes is not a whole number");
  EXPECT_EQ(with("/zeroed_bytes", 0.5), "/zeroed_bytes is not a whole number");
  EXPECT_EQ(with("/zeroed_bytes", -1), "/zeroed_bytes is not a number of at least 0");
  EXPECT_EQ(with("/calloc_ns", 7), "/calloc_ns is not a time with median, p05 and p95");
  EXPECT_EQ(with("/first_ops/2/home", 7), "/first_ops/2/home is not a word");
  EXPECT_EQ(with("/calloc_syscalls", 7), "/calloc_syscalls is not system calls by name");
  EXPECT_EQ(with("/zero_ns", Json{{"na", ""}}), "/zero_ns is not a reason");
  EXPECT_EQ(with("/status", "fine"), "/status: unknown status 'fine'");
  EXPECT_EQ(with("/size_bytes", "big"), "/size_bytes: \"big\" has the wrong type");
  EXPECT_EQ(with("/first_ops", 3), "/first_ops: not a list");
  EXPECT_EQ(refusal(7), "a point is not an object");
}

TEST(TypedPoint, ModesAreReadAndWrittenInTheirOrder) {
  Json json = a_point();
  const Json violations = json["violations"];
  json.erase("violations");
  json["modes"]["audit"] = Json::parse(R"([
    {"ops": 3, "share": 0.75, "zeroed_bytes": 4096, "redundant_zeroed_bytes": 0, "populated_bytes": 1,
     "zeroed_bound": "at most"},
    {"ops": 1, "share": 0.25, "zeroed_bytes": 0, "redundant_zeroed_bytes": 0, "populated_bytes": 1}])");
  json["modes"]["timing"] = Json::parse(R"([{"ops": 9, "share": 0.9, "calloc_faults": 7, "calloc_ns": 12.5},
                      {"ops": 1, "share": 0.1, "calloc_faults": 700, "calloc_ns": 1200.0}])");
  json["violations"] = violations;
  const Point point = point_from_json(json);
  EXPECT_EQ(to_json(point).dump(), json.dump());
  ASSERT_EQ(point.audit_modes.size(), 2U);
  EXPECT_TRUE(point.audit_modes[0].is_upper_bound(Metric::kZeroedBytes));
  EXPECT_EQ(point.timing_modes.at(1).count(Metric::kCallocFaults), 700U);
  EXPECT_EQ(point.timing_modes.at(0).number(Metric::kCallocNs), 12.5);
}

TEST(TypedPoint, StatusesHaveOneWordEach) {
  for (const PointStatus status : all_statuses()) EXPECT_EQ(status_of_word(word_of(status)), status);
  EXPECT_STREQ(word_of(PointStatus::kNotZero), "not_zero");
  EXPECT_EQ(status_of_word("fine"), std::nullopt);
  EXPECT_TRUE(is_healthy(PointStatus::kSkipped));
  EXPECT_FALSE(is_healthy(PointStatus::kMisaligned));
  EXPECT_TRUE(has_result(PointStatus::kMisaligned));
  EXPECT_FALSE(has_result(PointStatus::kTimeout));
}

/// An earlier version wrote the committed file. All its columns still exist, with the same values.
TEST(TypedPoint, TheCommittedCsvIsWhatThePointsSay) {
  const auto rows_of = [](const std::string& text) {
    std::vector<std::vector<std::string>> rows(1, std::vector<std::string>(1));
    bool quoted = false;
    for (const char letter : text) {
      quoted = quoted != (letter == '"');
      if (letter == ',' && !quoted) {
        rows.back().emplace_back();
      } else if (letter == '\n' && !quoted) {
        rows.emplace_back(1);
      } else {
        rows.back().back() += letter;
      }
    }
    return rows;
  };
  std::ostringstream committed;
  committed << std::ifstream(kReference / "points.csv").rdbuf();
  const auto old_rows = rows_of(committed.str());
  const auto rows = rows_of(points_csv(typed_points(points_of_lines(kReference / "points.jsonl"))));
  ASSERT_EQ(rows.size(), old_rows.size());
  std::size_t at = 0;
  for (std::size_t column = 0; column < old_rows[0].size(); ++column, ++at) {
    while (at < rows[0].size() && rows[0][at] != old_rows[0][column]) ++at;
    ASSERT_LT(at, rows[0].size()) << old_rows[0][column] << " is gone, or has moved forward";
    for (std::size_t row = 1; row + 1 < rows.size(); ++row) ASSERT_EQ(rows[row].at(at), old_rows[row].at(column));
  }
}

}  // namespace
}  // namespace zerotax
