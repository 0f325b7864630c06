#include "run/machine/guest_archive.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sys/random.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <iterator>
#include <string>
#include <string_view>
#include <utility>

#include "base/error.h"
#include "os/input_file.h"
#include "run/machine/token.h"

namespace zerotax::machine {
namespace {

/// A file system that the kernel unpacks into its memory, in cpio's newc format
/// (Documentation/driver-api/early-userspace/buffer-format.rst).
class Archive {
 public:
  void folder(std::string_view name) { entry(name, 0040755, ""); }
  void file(std::string_view name, unsigned mode, std::string_view content) { entry(name, 0100000 | mode, content); }
  /// Returns the whole archive. Add nothing afterwards.
  std::string finish();

 private:
  void entry(std::string_view name, unsigned mode, std::string_view content);
  void pad() { bytes_.append(-bytes_.size() % 4, '\0'); }

  std::string bytes_;
  unsigned count_ = 0;
};

void Archive::entry(std::string_view name, unsigned mode, std::string_view content) {
  // The fields are number, mode, user, group, links, time, size, four device numbers, length of the name, and an unused
  // checksum.
  fmt::format_to(std::back_inserter(bytes_), "070701{:08X}{:08X}{:08X}{:08X}{:08X}{:08X}{:08X}{:032X}{:08X}{:08X}",
                 ++count_, mode, 0, 0, 1, 0, content.size(), 0, name.size() + 1, 0);
  bytes_.append(name).append(1, '\0');
  pad();
  bytes_.append(content);
  pad();
}

std::string Archive::finish() {
  entry("TRAILER!!!", 0, "");
  return std::exchange(bytes_, {});
}

namespace fs = std::filesystem;

/// Returns the words of struct job in guest_init.c.
std::string job_of(const GuestProgram& program) {
  std::string job;
  const auto add = [&](const std::string& word) { job.append(word).append(1, '\0'); };
  add(std::to_string(::getuid()));
  add(std::to_string(::getgid()));
  require_working_folder();
  add(fs::current_path());
  add(program.system.empty() ? "" : "system");
  std::size_t count = 0;
  while (environ[count] != nullptr) ++count;
  add(std::to_string(count));
  for (std::size_t i = 0; i < count; ++i) add(environ[i]);
  add(program.path);
  for (const std::string& word : program.words) add(word);
  return job;
}

}  // namespace

std::string new_token() {
  std::array<unsigned char, kTokenDigits / 2> bytes{};
  if (::getrandom(bytes.data(), bytes.size(), 0) != static_cast<ssize_t>(bytes.size())) {
    throw MachineError(fmt::format("random numbers are unavailable: {}", std::strerror(errno)), "try again later");
  }
  return fmt::format("{:02x}", fmt::join(bytes, ""));
}

std::string archive_for(const GuestKernel& kernel, const GuestProgram& program, const std::string& token) {
  if (::access(program.init.c_str(), R_OK) != 0) {
    throw MachineError(fmt::format("{}, the first process of a virtual machine, is missing", program.init),
                       "build zerotax where the C library can be linked statically (libc6-dev)");
  }
  Archive archive;
  archive.file("init", 0755, read_input_file(program.init));
  archive.file("token", 0600, token);
  archive.folder("modules");
  for (const std::string& module : kernel.modules) {
    archive.file("modules/" + fs::path(module).filename().string(), 0644, read_input_file(module));
  }
  archive.file("job", 0600, job_of(program));
  return archive.finish();
}

}  // namespace zerotax::machine
