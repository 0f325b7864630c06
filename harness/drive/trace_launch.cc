#include "drive/trace_launch.h"

#include <fmt/format.h>

#include <filesystem>

#include "base/error.h"
#include "drive/program_launch.h"

namespace zerotax {
namespace {

namespace fs = std::filesystem;

void check_folder(const std::string& folder) {
  std::error_code failure;
  if (fs::exists(folder, failure) && (!fs::is_directory(folder, failure) || !fs::is_empty(folder, failure))) {
    throw UsageError(fmt::format("'{}' is there already", folder), "remove it, or name another folder with -o");
  }
  fs::create_directories(folder, failure);
  if (failure) {
    throw UsageError(fmt::format("'{}' cannot be made: {}", folder, failure.message()), "name another folder with -o");
  }
}

}  // namespace

ForegroundResult run_traced(const TraceLaunch& launch) {
  const std::string program = resolve_program(launch.words.front());
  std::string library;
  if (launch.functions) {
    check_takes_preload(program, "have its functions traced");
    library = project_library("libzerotax-functions.so");
  }
  check_folder(launch.folder);
  ForegroundCommand command = foreground_command(program, launch.words, library, std::nullopt);
  command.environment.emplace_back("ZEROTAX_TRACE_DIR", fs::absolute(launch.folder).string());
  return run_program(command, "trace run");
}

}  // namespace zerotax
