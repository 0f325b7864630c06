#include "os/load.h"

#include <fmt/format.h>

#include <charconv>

#include "doctor/check.h"

namespace zerotax::doctor {
namespace {

Finding look_at_load(const Machine& machine) {
  const Reading line = machine.line("/proc/loadavg");
  if (!line) return unknown(line.why);
  double load = 0;
  if (std::from_chars(line.text->data(), line.text->data() + line.text->size(), load).ec != std::errc()) {
    return unknown("/proc/loadavg contains no number");
  }
  const std::size_t cpus = machine.allowed_cpus();
  const LoadLevel level = load_level(load, cpus);
  const std::string state = fmt::format("{:.2f} in the last minute, {} CPU{}", load, cpus, cpus == 1 ? "" : "s");
  const char* remedy = "ps -eo pcpu,pid,user,comm --sort=-pcpu | head";
  if (level == LoadLevel::kBusy) {
    return {state, Weight::kSpoils, "all times (run, study, compare, fork): other programs are running", remedy};
  }
  if (level == LoadLevel::kNoisy) {
    return {state, Weight::kNote, "times are noisier than necessary; counts are not affected", remedy};
  }
  return {state, Weight::kOk, "", ""};
}

const Check load_check(Topic::kCpu, "load", look_at_load);

}  // namespace
}  // namespace zerotax::doctor
