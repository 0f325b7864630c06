#include "trace/event_names.h"

#include <fmt/format.h>

#include "base/error.h"

namespace zerotax::trace {
namespace {

constexpr const char* kNameCharacters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_*?";

void check_event_name(const char* option, const std::string& name) {
  if (!name.empty() && name.find_first_not_of(kNameCharacters) == std::string::npos) return;
  throw UsageError(fmt::format("invalid {} '{}'", option, name),
                   "give the name of a type of event: letters, digits and _, with * and ? to match several");
}

}  // namespace

std::string event_list(const std::vector<std::string>& names) {
  std::string list;
  for (const std::string& name : names) {
    check_event_name("--event", name.starts_with('!') ? name.substr(1) : name);
    list += (list.empty() ? "" : ",") + name;
  }
  return list;
}

void check_trigger(const std::string& until) {
  if (until.empty()) return;
  if (until.starts_with("kernel_")) {
    throw UsageError(
        fmt::format("--until '{}' is an event of the kernel, and only the program's own end its trace", until),
        "name a type of event that the program records");
  }
  check_event_name("--until", until);
}

}  // namespace zerotax::trace
