#include "trace/verbs.h"

#include <fcntl.h>
#include <fmt/format.h>

#include <cstdio>
#include <filesystem>

#include "base/error.h"
#include "cli/subcommand.h"
#include "files/cannot_write.h"
#include "files/new_file.h"
#include "trace/document.h"

namespace zerotax::trace {

void add_patterns(Arguments& verb, const std::string& option, std::vector<std::string>& to, const char* shown,
                  const std::string& description) {
  verb.option(option, to, description + " (repeatable; * and ? match)").shown_as(shown).word().repeatable();
}

void refuse_program_words(const std::string& verb) {
  if (Subcommand::program_words().empty()) return;
  throw UsageError(fmt::format("zerotax trace {} does not run a program, but -- is given", verb),
                   "leave out -- and everything after it, or use zerotax trace run");
}

void check_trace_given(const std::string& verb, const std::string& folder) {
  if (!folder.empty()) return;
  throw UsageError("no trace is given", fmt::format("give its folder, as in zerotax trace {} FOLDER", verb));
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
  std::fflush(stdout);  // the output may be the same file
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
