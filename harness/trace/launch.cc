#include "trace/launch.h"

#include <fmt/format.h>

#include <filesystem>

#include "base/error.h"
#include "core/program_launch.h"
#include "observe/fault_tracer.h"
#include "observe/kernel_log.h"

namespace zerotax::trace {
namespace {

namespace fs = std::filesystem;

void check_folder(const std::string& folder) {
  std::error_code failure;
  if (fs::exists(folder, failure) && (!fs::is_directory(folder, failure) || !fs::is_empty(folder, failure))) {
    throw UsageError(fmt::format("'{}' already exists", folder), "remove it, or name another folder with -o");
  }
  fs::create_directories(folder, failure);
  if (failure) {
    throw UsageError(fmt::format("'{}' cannot be created: {}", folder, failure.message()),
                     "name another folder with -o");
  }
}

}  // namespace

TraceRun run_traced(const TraceLaunch& launch) {
  const std::string program = resolve_program(launch.words.front());
  std::string library;
  if (launch.functions) {
    check_takes_preload(program, "have its functions traced");
    library = project_library("libzerotax-functions.so");
  }
  check_folder(launch.folder);
  ForegroundCommand command = foreground_command(program, launch.words, library, std::nullopt);
  command.environment.emplace_back("ZEROTAX_TRACE_DIR", fs::absolute(launch.folder).string());
  if (!launch.kernel) return {run_program(command, "trace run").exit_status, "", 0};
  KernelLog log(fs::absolute(launch.folder).string());
  FaultTracerOptions options;
  options.each = [&](const Fault& fault, FaultClass kind) { log.add(fault, kind); };
  options.event = [&](const FaultEvent& event) { log.add(event); };
  FaultTracer tracer(options);
  const ForegroundResult result = run_program(command, "trace run");
  const FaultData data = tracer.finish();
  return {result.exit_status, data.every_fault ? "every fault" : "faults in user mode", data.lost};
}

}  // namespace zerotax::trace
