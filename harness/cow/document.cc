#include "cow/document.h"

namespace zerotax::cow {
namespace {

/// Why a method that sees only some faults lacks a metric.
constexpr const char* kNotSeen = "visible to root only";

Json counts_json(const FaultCounts& counts, bool every_fault) {
  const auto figure = [&](std::uint64_t value) { return every_fault ? Json(value) : not_available(kNotSeen); };
  return {{"copies", counts.copies},
          {"reuses", counts.reuses},
          {"zero_fills", counts.zero_fills},
          {"refills", counts.refills},
          {"file_faults", counts.file_faults},
          {"other", counts.other},
          {"kernel", figure(counts.kernel)},
          {"copied_bytes", counts.copied_bytes},
          {"zeroed_bytes", figure(counts.zeroed_bytes)},
          {"copy_ns", figure(counts.copy_ns)}};
}

Json memory_figure(const std::optional<std::uint64_t>& bytes, const char* why) {
  return bytes ? Json(*bytes) : not_available(why);
}

void add_memory(Json& json, const ProcessMemory& memory) {
  constexpr const char* kWhy = "the process had ended when an interval ended, or belongs to another user";
  json["rss_bytes"] = memory_figure(memory.rss, kWhy);
  json["pss_bytes"] = memory_figure(
      memory.pss, memory.rss
                      ? "not read at that moment: reading it holds up the process, so it is limited to 1 % of the time"
                      : kWhy);
  json["vsz_bytes"] = memory_figure(memory.vsz, kWhy);
}

const char* kind_of(const MappingFaults& mapping) {
  if (mapping.name.empty()) return "anonymous";
  if (mapping.name == "[heap]") return "heap";
  if (mapping.name == "[stack]") return "stack";
  if (mapping.name[0] == '/') return "file";
  return mapping.end == 0 ? "unknown" : "special";
}

Json process_json(const TracedProcess& process, FaultCounts& totals, bool every_fault) {
  totals.add(process.counts);
  Json json = {{"pid", process.pid}, {"parent", process.parent}, {"name", process.name}};
  json["counts"] = counts_json(process.counts, every_fault);
  add_memory(json, process.memory);
  json["mappings"] = Json::array();
  for (const MappingFaults& mapping : process.mappings) {
    json["mappings"].push_back({{"begin", mapping.begin},
                                {"end", mapping.end},
                                {"kind", kind_of(mapping)},
                                {"name", mapping.name},
                                {"counts", counts_json(mapping.counts, every_fault)}});
  }
  return json;
}

Json interval_json(const FaultInterval& interval, bool every_fault) {
  FaultCounts totals;
  Json processes = Json::array();
  for (const auto& [pid, process] : interval.processes) {
    totals.add(process.counts);
    Json entry = {{"pid", pid}, {"child", process.child}, {"counts", counts_json(process.counts, every_fault)}};
    add_memory(entry, process.memory);
    processes.push_back(std::move(entry));
  }
  return {{"from_s", interval.from_s},
          {"to_s", interval.to_s},
          {"began", interval.began},
          {"ended", interval.ended},
          {"counts", counts_json(totals, every_fault)},
          {"processes", std::move(processes)}};
}

Json log_json(const FaultData& data) {
  if (!data.log) return nullptr;
  return {{"path", data.log->path},
          {"written", data.log->written},
          {"not_written", data.log->not_written},
          {"problem", data.log->problem}};
}

Json stacks_json(const FaultData& data) {
  if (!data.stacks) return not_available("not asked for (--stacks)");
  return {{"taken", data.stacks->taken}, {"lost", data.stacks->lost}, {"skipped", data.stacks->skipped}};
}

}  // namespace

Json cow_json(const CowSubject& subject, const FaultData& data, const Json& environment) {
  Json json;
  json["schema"] = "zerotax.cow/1";
  json["zerotax_version"] = ZEROTAX_VERSION;
  json["started"] = subject.started;
  json["environment"] = environment;
  json["command"] = subject.command;
  json["pid"] = subject.pid;
  json["exit_status"] = subject.exit_status;
  json["method"] = data.every_fault ? "tracepoints" : "software";
  json["counted"] = subject.counted;
  json["interval_s"] = subject.interval_s;
  json["wall_s"] = subject.wall_s;
  json["buffer_bytes"] = data.buffer_bytes;
  json["faults_file"] = log_json(data);
  FaultCounts totals;
  Json processes = Json::array();
  for (const TracedProcess& process : data.processes)
    processes.push_back(process_json(process, totals, data.every_fault));
  json["totals"] = counts_json(totals, data.every_fault);
  json["totals"]["lost"] = data.lost;
  json["processes"] = std::move(processes);
  json["intervals"] = Json::array();
  for (const FaultInterval& interval : data.intervals)
    json["intervals"].push_back(interval_json(interval, data.every_fault));
  json["script_names"] = data.scripts.json();
  json["stacks"] = stacks_json(data);
  json["code"] = Json::array();
  for (const CodeFaults& code : data.code) {
    json["code"].push_back({{"function", code.frame.function},
                            {"module", code.frame.module},
                            {"counts", counts_json(code.counts, data.every_fault)}});
  }
  add_verdict(json);
  return json;
}

}  // namespace zerotax::cow
