#include <fmt/format.h>

#include "base/csv.h"
#include "core/results.h"

namespace zerotax {
namespace {

std::string field(const Json& value) {
  if (value.is_null() || is_not_available(value)) return "";
  return csv_field(value.is_string() ? value.get<std::string>() : value.dump());
}

/// A column: its name, and where its value is in a point. What is not there, or n/a, is an empty field.
struct Column {
  std::string name;
  Json::json_pointer place;
};

std::vector<Column> make_columns() {
  std::vector<Column> columns;
  const auto add = [&](const std::string& name, const std::string& place) {
    columns.push_back({name, Json::json_pointer("/" + place)});
  };
  const auto add_spread = [&](const std::string& name, const std::string& place) {
    for (const std::string part : {"median", "p05", "p95"}) add(name + "_" + part, place + "/" + part);
  };
  for (const char* name :
       {"allocator", "version", "preload", "env", "case", "size_bytes", "touch", "thread", "ops", "status", "reason"}) {
    add(name, name);
  }
  for (const char* name : {"calloc_ns", "touch_ns", "free_ns"}) add_spread(name, name);
  for (const char* name :
       {"zero_ns", "zeroed_bytes", "redundant_zeroed_bytes", "populated_bytes", "zeroed_method", "zeroed_bound",
        "zeroed_in_free_bytes", "redundant_zeroed_in_free_bytes", "zeroed_in_free_method", "zeroed_in_free_bound",
        "calloc_faults", "touch_faults", "free_faults", "calloc_syscalls", "free_syscalls"}) {
    add(name, name);
  }
  for (const std::string name : {"received_bytes", "mb_per_s", "cpu_s_per_gb", "zeroed_per_received_byte",
                                 "redundant_per_received_byte", "faults_per_mb"}) {
    add(name, "transfer/" + name);
  }
  for (const std::string name : {"fork_ns", "exit_ns"}) add_spread(name, "fork/" + name);
  add("populated_at_fork_bytes", "fork/populated_bytes");
  add("page_table_bytes", "fork/page_table_bytes");
  for (const std::string process : {"child", "parent"}) {
    add_spread(process + "_write_ns", "fork/" + process + "/write_ns");
    for (const std::string name : {"faults", "copies", "reuses", "zero_fills"}) {
      add(process + "_" + name, "fork/" + process + "/" + name);
    }
  }
  return columns;
}

}  // namespace

std::string points_csv(const std::vector<Json>& points) {
  static const std::vector<Column> columns = make_columns();
  std::string text;
  for (const Column& column : columns) text += (text.empty() ? "" : ",") + column.name;
  text += "\n";
  for (const Json& point : points) {
    std::string line;
    for (const Column& column : columns) {
      const bool first = &column == &columns.front();
      line += (first ? "" : ",") + (point.contains(column.place) ? field(point.at(column.place)) : "");
    }
    text += line + "\n";
  }
  return text;
}

}  // namespace zerotax
