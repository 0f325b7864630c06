#include "trace/verbs.h"

#include <fcntl.h>
#include <fmt/format.h>

#include <cstdio>
#include <filesystem>

#include "base/error.h"
#include "files/new_file.h"
#include "trace/document.h"

namespace zerotax::trace {

void add_patterns(Arguments& verb, const std::string& option, std::vector<std::string>& to, const char* shown,
                  const std::string& description) {
  verb.option(option, to, description + " (repeatable; * and ? are wildcards; a ! before it excludes)")
      .shown_as(shown)
      .word()
      .repeatable();
}

std::vector<std::string> unwanted_of(std::vector<std::string>& patterns) {
  std::vector<std::string> unwanted;
  for (const std::string& each : patterns) {
    if (each.starts_with('!')) unwanted.push_back(each.substr(1));
  }
  std::erase_if(patterns, [](const std::string& each) { return each.starts_with('!'); });
  return unwanted;
}

void add_trace_folder(Arguments& verb, std::string& folder) {
  verb.option("folder", folder, "folder of the trace").path();
  verb.exactly_one({"folder"},
                   {"no trace is given", fmt::format("give its folder, as in zerotax trace {} FOLDER", verb.name())});
}

std::vector<NamedPath> trace_files(const std::string& folder) {
  std::vector<NamedPath> files;
  std::error_code failure;
  if (!std::filesystem::is_directory(folder, failure)) return files;
  for (const std::string& process : ctf_process_folders(folder)) {
    for (const auto& entry : std::filesystem::directory_iterator(process, failure)) {
      const std::string name = entry.path().filename();
      if (name == "metadata" || name.starts_with("stream-") || name.starts_with(recorder::kRingPrefix)) {
        files.push_back({"a file of the trace", entry.path()});
      }
    }
  }
  return files;
}

void write_perfetto_file(const std::string& path, CtfTrace& trace) {
  if (path.empty()) return;
  std::fflush(stdout);  // standard output may be the same file
  NewFile made(path);
  std::FILE* file = ::fdopen(::fcntl(made.fd(), F_DUPFD_CLOEXEC, 3), "w");
  if (file == nullptr) cannot_write(path, errno);
  write_perfetto(trace, file);
  const bool failed = std::ferror(file) != 0;
  if (std::fclose(file) != 0 || failed) {
    throw UsageError(fmt::format("'{}' could not be written completely", path), "free some space");
  }
  made.keep();
}

}  // namespace zerotax::trace
