#include "doctor/check.h"

#include <algorithm>
#include <exception>
#include <tuple>

#include "doctor/settings.h"

namespace zerotax::doctor {
namespace {

std::vector<Check>& checks() {
  static std::vector<Check> all;
  return all;
}

Finding look_at(const Check& check, const Machine& machine) {
  try {
    return check.look(machine);
  } catch (const std::exception& failure) {
    return unknown(failure.what());
  }
}

}  // namespace

const char* weight_word(Weight weight) {
  constexpr const char* kWords[] = {"ok", "note", "limits", "spoils", "stops", "unknown"};
  return kWords[static_cast<std::size_t>(weight)];
}

const char* topic_word(Topic topic) {
  constexpr const char* kWords[] = {"CPU and load", "memory", "what the kernel offers", "what is permitted", "zerotax"};
  return kWords[static_cast<std::size_t>(topic)];
}

Check::Check(Topic of, const char* called, Look with) : topic(of), name(called), look(with) {
  checks().push_back(*this);
}

std::vector<Row> examine(const Machine& machine) {
  std::vector<Row> rows;
  for (const Check& check : checks()) rows.push_back({check.topic, check.name, look_at(check, machine)});
  for (const Setting& setting : settings()) rows.push_back({setting.topic, setting.name, look_at(setting, machine)});
  std::sort(rows.begin(), rows.end(), [](const Row& one, const Row& other) {
    return std::tie(one.topic, one.name) < std::tie(other.topic, other.name);
  });
  return rows;
}

Finding not_asked() { return unknown("only the running kernel can tell, and these files are from another machine"); }

Finding unknown(const std::string& why) { return {NotAvailable{why}, Weight::kUnknown, "", ""}; }

}  // namespace zerotax::doctor
