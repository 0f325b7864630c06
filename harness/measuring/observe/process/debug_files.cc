#include "observe/process/debug_files.h"

#include <elfutils/libdwelf.h>
#include <gelf.h>
#include <unistd.h>

#include <array>
#include <climits>
#include <cstring>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "observe/file_reader_messages.h"

namespace zerotax {
namespace {

constexpr std::size_t kReadAtOnce = std::size_t{64} << 10;
/// Maximum number of candidates for a debug file, because debug information can be in only a few places.
constexpr std::uint64_t kMostFiles = 64;

AskForFile ask_for_file;

/// Computes the checksum that .gnu_debuglink contains: zlib's CRC-32 (GDB manual, "Separate Debug Files").
std::uint32_t checksum_of(int file) {
  static const std::array<std::uint32_t, 256> table = [] {
    std::array<std::uint32_t, 256> made{};
    for (std::uint32_t i = 0; i < made.size(); ++i) {
      made[i] = i;
      for (int bit = 0; bit < 8; ++bit) made[i] = (made[i] & 1) != 0 ? 0xedb88320U ^ (made[i] >> 1) : made[i] >> 1;
    }
    return made;
  }();
  std::vector<unsigned char> part(kReadAtOnce);
  std::uint32_t sum = ~0U;
  off_t at = 0;
  for (ssize_t got = 0; (got = ::pread(file, part.data(), part.size(), at)) > 0; at += got) {
    for (ssize_t i = 0; i < got; ++i) sum = table[(sum ^ part[static_cast<std::size_t>(i)]) & 0xff] ^ (sum >> 8);
  }
  return ~sum;
}

std::string_view bytes_of(const void* bits, ssize_t bytes) {
  return bytes > 0 ? std::string_view(static_cast<const char*>(bits), static_cast<std::size_t>(bytes)) : "";
}

bool is_wanted(int file, std::string_view build_id, std::uint32_t checksum) {
  if (build_id.empty()) return checksum != 0 && checksum_of(file) == checksum;
  Elf* elf = ::elf_begin(file, ELF_C_READ, nullptr);
  const void* bits = nullptr;
  const ssize_t bytes = elf != nullptr ? ::dwelf_elf_gnu_build_id(elf, &bits) : 0;
  const bool same = bytes_of(bits, bytes) == build_id;
  ::elf_end(elf);
  return same;
}

int find(std::uint32_t number, bool shared, std::string_view build_id, const char* link, std::uint32_t checksum) {
  if (!ask_for_file) return -1;
  for (std::uint64_t skip = 0; skip < kMostFiles; ++skip) {
    UniqueFd found = ask_for_file(MessageWriter()
                                      .number(static_cast<std::uint64_t>(ReadAnswer::kDebugFile))
                                      .number(number)
                                      .number(shared ? 1 : 0)
                                      .text(build_id)
                                      .text(link != nullptr ? std::string_view(link).substr(0, PATH_MAX) : "")
                                      .number(skip));
    if (!found) return -1;
    if (is_wanted(found.get(), build_id, checksum)) return found.release();
  }
  return -1;
}

/// Finds the file that several debug files share (dwz(1)).
int find_shared(Dwfl_Module* module) {
  Dwarf_Addr bias = 0;
  Dwarf* debug = ::dwfl_module_getdwarf(module, &bias);
  const char* name = nullptr;
  const void* bits = nullptr;
  const ssize_t bytes = debug != nullptr ? ::dwelf_dwarf_gnu_debugaltlink(debug, &name, &bits) : 0;
  if (bytes <= 0) return -1;
  const int found = find(file_number(module), true, bytes_of(bits, bytes), name, 0);
  // Without this call, libdw would itself search for the file at the first use. The value -1 means that the file was
  // not found (dwarf_getalt.c).
  if (found < 0) {
    ::dwarf_setalt(debug, reinterpret_cast<Dwarf*>(std::intptr_t{-1}));  // NOLINT(performance-no-int-to-ptr)
  }
  return found;
}

}  // namespace

void set_ask_for_file(AskForFile ask) { ask_for_file = std::move(ask); }

void set_file_number(Dwfl_Module* module, std::uint32_t number) {
  void** data = nullptr;
  ::dwfl_module_info(module, &data, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr);
  // NOLINTNEXTLINE(performance-no-int-to-ptr)
  if (data != nullptr) *data = reinterpret_cast<void*>(std::uintptr_t{number});
}

std::uint32_t file_number(Dwfl_Module* module) {
  void** data = nullptr;
  ::dwfl_module_info(module, &data, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr);
  return data != nullptr ? static_cast<std::uint32_t>(reinterpret_cast<std::uintptr_t>(*data)) : 0;
}

int find_debug_file(Dwfl_Module* module, void** /*data*/, const char* /*module_name*/, Dwarf_Addr /*base*/,
                    const char* /*file_name*/, const char* link, GElf_Word checksum, char** /*found_name*/) {
  GElf_Addr bias = 0;
  Elf* file = ::dwfl_module_getelf(module, &bias);
  if (file == nullptr) return -1;
  GElf_Word own_checksum = 0;
  const char* own = ::dwelf_elf_gnu_debuglink(file, &own_checksum);
  if (link != nullptr && (own == nullptr || std::strcmp(own, link) != 0)) return find_shared(module);
  const unsigned char* bits = nullptr;
  GElf_Addr where = 0;
  const int bytes = ::dwfl_module_build_id(module, &bits, &where);
  return find(file_number(module), false, bytes_of(bits, bytes), link, checksum);
}

}  // namespace zerotax
