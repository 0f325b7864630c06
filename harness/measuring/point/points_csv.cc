#include "point/points_csv.h"

#include <fmt/format.h>

#include "base/csv.h"
#include "point/metrics.h"
#include "point/point_json.h"

namespace zerotax {
namespace {

std::string field(const Json& value) {
  if (value.is_null() || is_not_available(value)) return "";
  return csv_field(value.is_string() ? value.get<std::string>() : json_line(value));
}

/// A column: its name, and where its value is in a point. A value that is absent or n/a becomes an empty field.
struct Column {
  std::string name;
  Json::json_pointer place;
};

/// "/fork/child/copies".
Json::json_pointer pointer_to(const MetricRow& row) {
  Json::json_pointer place;
  for (const char* key : keys_of(row.group)) place /= std::string(key);
  return place / std::string(row.key);
}

std::vector<Column> make_columns() {
  std::vector<Column> columns;
  for (const char* name :
       {"allocator", "version", "preload", "env", "case", "size_bytes", "touch", "thread", "ops", "status", "reason"}) {
    columns.push_back({name, Json::json_pointer("/" + std::string(name))});
  }
  for (const MetricRow& row : metric_rows()) {
    const std::vector<std::string> names = csv_columns(row);
    const Json::json_pointer place = pointer_to(row);
    if (names.size() == 1) columns.push_back({names.front(), place});
    if (names.size() < 2) continue;
    for (std::size_t i = 0; i < names.size(); ++i)
      columns.push_back({names[i], place / std::string(kSpreadParts.at(i))});
  }
  return columns;
}

}  // namespace

std::string points_csv(const std::vector<Point>& points) {
  static const std::vector<Column> columns = make_columns();
  std::string text;
  for (const Column& column : columns) text += (text.empty() ? "" : ",") + column.name;
  text += "\n";
  for (const Point& each : points) {
    const Json point = to_json(each);
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
