#include "trace/launch.h"

#include <fmt/format.h>

#include <filesystem>
#include <optional>

#include "base/error.h"
#include "observe/fault_tracer.h"
#include "observe/kernel_event_log.h"
#include "os/input_file.h"
#include "run/program_launch.h"
#include "trace/kernel_events.h"

namespace zerotax::trace {
namespace {

namespace fs = std::filesystem;

void check_folder(const std::string& folder) {
  std::error_code failure;
  if (fs::exists(folder, failure) && (!fs::is_directory(folder, failure) || !fs::is_empty(folder, failure))) {
    throw UsageError(fmt::format("'{}' already exists", folder),
                     "remove the existing file or folder, or name another folder with -o");
  }
  fs::create_directories(folder, failure);
  if (failure) {
    require_folder_of(folder);
    throw UsageError(fmt::format("'{}' cannot be created: {}", folder, failure.message()),
                     "name another folder with -o");
  }
}

/// Records kernel events while the program runs.
class KernelWatch {
 public:
  /// Throws the errors of KernelLog, FaultTracer and KernelEventLog.
  KernelWatch(const std::string& folder, bool faults, const std::vector<KernelEventKind>& kinds) : log_(folder) {
    if (faults) {
      FaultTracerOptions options;
      options.each = [&](const Fault& fault, FaultClass kind) { log_.add(fault, kind); };
      options.event = [&](const FaultEvent& event) { log_.add(event); };
      faults_.emplace(options);
    }
    if (!kinds.empty()) events_.emplace(kinds);
  }

  void finish(TraceRun& run) {
    if (faults_) {
      const FaultData data = faults_->finish();
      run.kernel = data.every_fault ? "every fault" : "faults in user mode";
      run.kernel_lost += data.lost;
    }
    if (events_) {
      events_->finish();
      run.kernel_lost += events_->lost();
    }
  }

 private:
  KernelLog log_;
  std::optional<FaultTracer> faults_;
  std::optional<KernelEventLog> events_;
};

}  // namespace

TraceRun run_traced(const TraceLaunch& launch) {
  const std::string program = resolve_program(launch.words.front());
  std::string library;
  if (launch.functions) {
    check_takes_preload(program, "have its functions traced");
    library = project_library("libzerotax-functions.so");
  }
  bool faults = false;
  std::vector<KernelEventKind> kinds;
  for (const std::string& name : launch.kernel) {
    if (name == kFaultsEvent.name) {
      faults = true;
    } else {
      kinds.push_back(kernel_event_kind(name));
    }
  }
  check_folder(launch.folder);
  ForegroundCommand command = foreground_command(program, launch.words, library, std::nullopt);
  command.environment.emplace_back("ZEROTAX_TRACE_DIR", absolute_path(launch.folder).string());
  TraceRun run;
  if (launch.kernel.empty()) {
    run.exit_status = run_program(command, "trace run").exit_status;
    return run;
  }
  KernelWatch watch(absolute_path(launch.folder).string(), faults, kinds);
  run.exit_status = run_program(command, "trace run").exit_status;
  watch.finish(run);
  return run;
}

}  // namespace zerotax::trace
