#include "study/workloads.h"

#include <fmt/format.h>

#include <vector>

#include "files/document.h"
#include "files/output_file.h"
#include "files/results.h"
#include "os/print.h"
#include "replay/calls_file.h"
#include "replay/result.h"
#include "replay/run.h"
#include "run/interrupt.h"
#include "run/program_launch.h"

namespace zerotax::study {
namespace {

replay::Workloads read_stored(const std::string& path) {
  return replay::read_workloads(read_document(path, "workloads", "delete it, and the recordings are replayed again"));
}

/// The plan's allocators as libraries to preload.
std::vector<Allocator> preloaded(const Plan& plan) {
  std::vector<Allocator> allocators;
  for (const Allocator& each : plan.allocators) {
    try {
      Allocator found = *resolve_program_allocator(each.preload ? each.name + "=" + *each.preload : each.name, {});
      found.env = each.env;
      found.version = each.version;
      allocators.push_back(std::move(found));
    } catch (const std::exception& failure) {
      print_text(stderr, "zerotax: {} is left out of real programs: {}\n", each.name, failure.what());
    }
  }
  return allocators;
}

}  // namespace

void check_workloads(const std::string& folder) {
  const std::string path = folder + "/" + kWorkloadsFile;
  if (is_there(path)) read_stored(path);
}

ReplayedWorkloads replay_workloads(const Plan& plan, const std::string& folder) try {
  const std::string recordings = replay::own_recordings();
  if (recordings.empty()) return {};
  replay::Plan how;
  how.allocators = preloaded(plan);
  how.times = !plan.audit_only;
  how.timeout_s = plan.timeout_s;
  if (how.allocators.empty()) return {};
  const std::string path = folder + "/" + kWorkloadsFile;
  replay::Workloads all =
      is_there(path) ? read_stored(path) : replay::Workloads{replay::new_head("zerotax.workloads/1")};
  if (!all.complete || all.workloads.empty()) {
    all.complete = replay::replay_calls(replay::recordings_in({recordings}), how, all.workloads, [&] {
      all.complete = false;
      write_file(path, json_text(replay::workloads_json(all)));
    });
    add_sentence(all);
    write_file(path, json_text(replay::workloads_json(all)));
  }
  if (!all.complete) return {"", interrupted()};
  return {replay::zeros_text(all), 0};
} catch (const replay::OtherPages& other) {
  print_text(stderr, "zerotax: no programs are replayed: {}\n", other.what());
  return {};
}

}  // namespace zerotax::study
