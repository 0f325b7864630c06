#include "files/output_file.h"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>

#include "base/error.h"
#include "base/json.h"
#include "files/new_file.h"
#include "files/output_kind.h"
#include "os/elf_file.h"
#include "os/input_file.h"

namespace zerotax {

bool is_debian_library(const std::string& word) { return word.starts_with("deb:"); }

bool is_cut_short(const std::string& path) {
  std::error_code failure;
  const std::uint64_t size = std::filesystem::file_size(path, failure);
  const ElfFile file(path);
  if (failure || !file.segments()) return true;
  for (const GElf_Phdr& part : *file.segments()) {
    if (part.p_type == PT_LOAD && (part.p_offset > size || part.p_filesz > size - part.p_offset)) return true;
  }
  return false;
}

void write_file(const std::string& path, const std::string& text) {
  NewFile file(path);
  file.add(text);
  file.keep();
}

void check_writable(const std::string& path) { NewFile(path).hold_pipe(); }

Json read_json_file(const std::string& path) {
  try {
    return parse_strict_json(read_input_file(path));
  } catch (const JsonTextError& failure) {
    throw UsageError(fmt::format("{} {}", path, failure.what()), "give a file that zerotax wrote");
  }
}

namespace {

namespace fs = std::filesystem;

bool look_at(const std::string& path, struct stat& status) {
  return (path == "-" ? ::fstat(STDOUT_FILENO, &status) : ::stat(path.c_str(), &status)) == 0;
}

fs::path whole(const std::string& path) {
  std::error_code failure;
  const fs::path absolute = fs::absolute(path, failure);  // weakly_canonical() leaves a relative path relative if no
                                                          // part of it exists
  fs::path found = fs::weakly_canonical(absolute, failure);
  if (failure) found = absolute.lexically_normal();
  return found.has_filename() ? found : found.parent_path();
}

}  // namespace

bool is_same_file(const std::string& one, const std::string& other) {
  if (one == "-" && other == "-") return true;
  struct stat first {};
  struct stat second {};
  const bool there = look_at(one, first);
  if (there != look_at(other, second)) return false;
  // Several outputs may go to one terminal or /dev/null.
  if (there) return first.st_dev == second.st_dev && first.st_ino == second.st_ino && !S_ISCHR(first.st_mode);
  return one != "-" && other != "-" && whole(one) == whole(other);
}

void check_outputs(const std::vector<NamedPath>& outputs, const std::vector<NamedPath>& inputs) {
  for (auto output = outputs.begin(); output != outputs.end(); ++output) {
    if (output->path.empty()) continue;
    for (auto other = outputs.begin(); other != output; ++other) {
      if (other->path.empty() || !is_same_file(other->path, output->path)) continue;
      throw UsageError(fmt::format("{} and {} both write {}", other->option, output->option,
                                   output->path == "-" ? "standard output" : output->path),
                       "give each option its own file");
    }
    for (const NamedPath& input : inputs) {
      if (input.path.empty() || output->path == "-" || !is_same_file(input.path, output->path)) continue;
      throw UsageError(fmt::format("{} {} would overwrite {}", output->option, output->path, input.option),
                       "give the option its own file");
    }
  }
  for (const NamedPath& output : outputs) {
    if (output.path.empty()) continue;
    if (own_descriptor(output.path) == STDOUT_FILENO) output_rules().takes_standard_output = true;
    if (!own_descriptor(output.path)) {
      check_replaceable(output.option, output.path);
      remember_output(output.option, output.path);
    }
    check_writable(output.path);
  }
}

void check_outside(const std::vector<NamedPath>& outputs, const NamedPath& folder) {
  if (folder.path.empty()) return;
  const fs::path root = whole(folder.path);
  for (const NamedPath& output : outputs) {
    if (output.path.empty() || output.path == "-") continue;
    const fs::path path = whole(output.path);
    if (std::mismatch(root.begin(), root.end(), path.begin(), path.end()).first != root.end()) continue;
    throw UsageError(fmt::format("{} {} is inside the folder of {}", output.option, output.path, folder.option),
                     "give a file outside the folder, which will contain all results anyway");
  }
}

void check_new_folder(const NamedPath& folder) {
  const std::string& path = folder.path;
  std::error_code failure;
  if (fs::exists(path, failure)) {
    if (fs::is_directory(path, failure) && fs::is_empty(path, failure)) return;
    throw UsageError(fmt::format("{} already exists and is not an empty folder", path),
                     fmt::format("give {} a new folder", folder.option));
  }
  fs::path parent = absolute_path(path).parent_path();
  while (!fs::exists(parent, failure) && parent.has_relative_path()) parent = parent.parent_path();
  // Creates a folder as a trial. Permission is not enough; /proc, for example, allows no folders.
  const std::string trial = fmt::format("{}/zerotax.{}.new", parent.string(), ::getpid());
  if (::mkdir(trial.c_str(), 0777) == 0) {
    ::rmdir(trial.c_str());
    return;
  }
  throw UsageError(fmt::format("cannot make the folder {}", path),
                   fmt::format("give {} a folder that you may write to", folder.option));
}

void make_new_folder(const NamedPath& folder) {
  check_new_folder(folder);
  std::error_code failure;
  fs::create_directories(folder.path, failure);
  if (!failure) return;
  throw UsageError(fmt::format("cannot make the folder {}: {}", folder.path, failure.message()),
                   fmt::format("give {} a folder that you may write to", folder.option));
}

std::vector<NamedPath> library_inputs(const std::vector<std::string>& allocator_words) {
  std::vector<NamedPath> inputs;
  for (const std::string& word : allocator_words) {
    const auto equals = word.find('=');
    // A Debian package is not a file of the user.
    if (equals != std::string::npos && !is_debian_library(word.substr(equals + 1)))
      inputs.push_back({"the library of " + word.substr(0, equals), word.substr(equals + 1)});
  }
  return inputs;
}

}  // namespace zerotax
