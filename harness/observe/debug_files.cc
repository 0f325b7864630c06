#include "observe/debug_files.h"

#include <elfutils/libdwelf.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <gelf.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>
#include <cstring>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "base/names.h"
#include "os/clock.h"
#include "os/elf_file.h"
#include "os/file_rights.h"
#include "os/process_file.h"

namespace zerotax {
namespace {

constexpr const char* kSystem = "/usr/lib/debug";
constexpr std::size_t kReadAtOnce = std::size_t{64} << 10;
/// A checksum takes about three seconds per GiB, and whoever lays the files decides how many there are.
constexpr std::int64_t kMostChecksumNs = 5'000'000'000;

/// How the right file is recognized.
struct Wanted {
  std::string build_id;  ///< in hexadecimal; empty: none
  std::uint32_t checksum = 0;
  FileId file;  ///< that it belongs to: this one it is not
};

/// The checksum of .gnu_debuglink, which is that of zlib (gdb's manual, "Separate Debug Files"). Nothing if that takes
/// too long, or the file cannot be read.
std::optional<std::uint32_t> checksum_of(int file) {
  static const std::array<std::uint32_t, 256> table = [] {
    std::array<std::uint32_t, 256> made{};
    for (std::uint32_t i = 0; i < made.size(); ++i) {
      made[i] = i;
      for (int bit = 0; bit < 8; ++bit) made[i] = (made[i] & 1) != 0 ? 0xedb88320U ^ (made[i] >> 1) : made[i] >> 1;
    }
    return made;
  }();
  static std::atomic<std::int64_t> left_ns = kMostChecksumNs;
  std::vector<unsigned char> part(kReadAtOnce);
  std::uint32_t sum = ~0U;
  off_t at = 0;
  while (left_ns > 0) {
    const std::int64_t begin = monotonic_ns();
    const ssize_t got = ::pread(file, part.data(), part.size(), at);
    if (got < 0) return std::nullopt;
    if (got == 0) return ~sum;
    for (ssize_t i = 0; i < got; ++i) sum = table[(sum ^ part[static_cast<std::size_t>(i)]) & 0xff] ^ (sum >> 8);
    at += got;
    left_ns -= monotonic_ns() - begin;
  }
  return std::nullopt;
}

std::string in_hexadecimal(const void* bits, ssize_t bytes) {
  std::string text;
  for (ssize_t i = 0; i < bytes; ++i) text += fmt::format("{:02x}", static_cast<const unsigned char*>(bits)[i]);
  return text;
}

bool is_wanted(int file, const Wanted& wanted) {
  if (file_id(file) == wanted.file || !is_elf_file(file)) return false;
  if (wanted.build_id.empty()) return wanted.checksum != 0 && checksum_of(file) == wanted.checksum;
  Elf* elf = ::elf_begin(file, ELF_C_READ, nullptr);
  const void* bits = nullptr;
  const ssize_t bytes = elf != nullptr ? ::dwelf_elf_gnu_build_id(elf, &bits) : 0;
  const bool same = in_hexadecimal(bits, bytes) == wanted.build_id;
  ::elf_end(elf);
  return same;
}

/// A file of the system: of root, below /usr/lib/debug.
UniqueFd open_of_system(const std::string& path, const Wanted& wanted) {
  const UniqueFd root(::open(kSystem, O_PATH | O_DIRECTORY | O_CLOEXEC));
  if (!root) return {};
  UniqueFd found = open_regular_file(root.get(), path, Links::kInsideRoot, kMostProgramBytes).fd;
  struct stat status {};
  const bool trusted = found && ::fstat(found.get(), &status) == 0 && status.st_uid == 0;
  return trusted && is_wanted(found.get(), wanted) ? std::move(found) : UniqueFd();
}

UniqueFd open_by_build_id(const Wanted& wanted) {
  if (wanted.build_id.size() < 4) return {};
  const std::string path =
      fmt::format(".build-id/{}/{}.debug", wanted.build_id.substr(0, 2), wanted.build_id.substr(2));
  return open_of_system(path, wanted);
}

/// Of "/usr/lib/libx.so": "/usr/lib", "/lib" and "", which are folders of the system's, for files of either name of a
/// folder.
UniqueFd open_by_folder(const std::string& folder, const std::string& name, const Wanted& wanted) {
  for (std::size_t begin = 0; begin != std::string::npos; begin = folder.find('/', begin + 1)) {
    if (UniqueFd found = open_of_system(folder.substr(begin) + "/" + name, wanted)) return found;
  }
  return open_of_system(name, wanted);
}

/// As whom the folder of a file is entered: a process's own user, or the owner of a file that no process is known of.
std::optional<FileUser> user_of(const FileOrigin& origin, const UniqueFd& root) {
  if (origin.pid > 0) {
    if (const auto user = file_user(origin.pid)) return user;
  }
  struct stat status {};
  const std::string below = origin.name.substr(std::min<std::size_t>(1, origin.name.size()));
  if (::fstatat(root.get(), below.c_str(), &status, AT_SYMLINK_NOFOLLOW) != 0) return std::nullopt;
  return FileUser{status.st_uid, status.st_gid};
}

UniqueFd open_beside(const FileOrigin& origin, const std::string& folder, const std::string& name,
                     const Wanted& wanted) {
  for (const UniqueFd& root : root_folders(origin.pid)) {
    const auto user = user_of(origin, root);
    if (!user) continue;
    const FileRights rights(*user);
    // What is beside another file of the name says nothing of this one.
    if (!rights || file_id(root.get(), origin.name) != origin.id) continue;
    for (const char* below : {"/", "/.debug/"}) {
      UniqueFd found = open_regular_file(root.get(), folder + below + name, Links::kInsideRoot, kMostProgramBytes).fd;
      if (found && is_wanted(found.get(), wanted)) return found;
    }
  }
  return {};
}

UniqueFd debug_file_of(const FileOrigin& origin, const char* link, const Wanted& wanted) {
  if (UniqueFd found = open_by_build_id(wanted)) return found;
  const std::string name = link != nullptr ? link : file_name(origin.name) + ".debug";
  const std::string folder = origin.name.substr(0, origin.name.size() - file_name(origin.name).size());
  // A path would lead anywhere.
  if (name.empty() || name.find('/') != std::string::npos || !folder.starts_with('/')) return {};
  if (UniqueFd found = open_beside(origin, folder, name, wanted)) return found;
  return open_by_folder(folder.substr(0, folder.size() - 1), name, wanted);
}

/// The file that several files of debug information share (dwz(1)), which only the system has.
UniqueFd shared_debug_file_of(Dwfl_Module* module) {
  Dwarf_Addr bias = 0;
  Dwarf* debug = ::dwfl_module_getdwarf(module, &bias);
  const char* name = nullptr;
  const void* bits = nullptr;
  const ssize_t bytes = debug != nullptr ? ::dwelf_dwarf_gnu_debugaltlink(debug, &name, &bits) : 0;
  if (bytes <= 0) return {};
  const Wanted wanted{in_hexadecimal(bits, bytes), 0, {}};
  UniqueFd found = open_by_build_id(wanted);
  const std::string_view path = name;
  const std::size_t below = path.find(".dwz/");
  if (!found && below != std::string_view::npos) found = open_of_system(std::string(path.substr(below)), wanted);
  // Otherwise libdw would look for the name itself, at its first use; of this value it takes that none was found
  // (dwarf_getalt.c).
  if (!found) ::dwarf_setalt(debug, reinterpret_cast<Dwarf*>(std::intptr_t{-1}));  // NOLINT(performance-no-int-to-ptr)
  return found;
}

}  // namespace

void set_origin(Dwfl_Module* module, const FileOrigin& origin) {
  void** data = nullptr;
  ::dwfl_module_info(module, &data, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr);
  if (data != nullptr) *data = const_cast<FileOrigin*>(&origin);
}

int find_no_program(Dwfl_Module*, void**, const char*, Dwarf_Addr, char**, Elf**) { return -1; }

int find_debug_file(Dwfl_Module* module, void** origin, const char* /*module_name*/, Dwarf_Addr /*base*/,
                    const char* /*file_name*/, const char* link, GElf_Word checksum, char** /*found_name*/) {
  GElf_Addr bias = 0;
  Elf* file = ::dwfl_module_getelf(module, &bias);
  if (file == nullptr || *origin == nullptr) return -1;
  GElf_Word own_checksum = 0;
  const char* own = ::dwelf_elf_gnu_debuglink(file, &own_checksum);
  if (link != nullptr && (own == nullptr || std::strcmp(own, link) != 0)) return shared_debug_file_of(module).release();
  const auto& of = *static_cast<const FileOrigin*>(*origin);
  const unsigned char* bits = nullptr;
  GElf_Addr where = 0;
  const int bytes = ::dwfl_module_build_id(module, &bits, &where);
  return debug_file_of(of, link, {in_hexadecimal(bits, bytes), checksum, of.id}).release();
}

}  // namespace zerotax
