#include "probe/version.h"

#include <dlfcn.h>
#include <elf.h>
#include <link.h>

#include <algorithm>
#include <cstdio>
#include <cstring>

namespace zerotax {
namespace {

const VersionReader* first_reader = nullptr;

struct ImageSearch {
  const char* object;
  const char* marker;
  char* text;
  std::size_t bytes;
  bool found = false;
};

int search_image(dl_phdr_info* object, std::size_t /*size*/, void* context) {
  auto& search = *static_cast<ImageSearch*>(context);
  if (std::strstr(object->dlpi_name, search.object) == nullptr) return 0;
  for (int i = 0; i < object->dlpi_phnum && !search.found; ++i) {
    const auto& header = object->dlpi_phdr[i];
    if (header.p_type != PT_LOAD || (header.p_flags & PF_R) == 0) continue;
    const auto* begin = reinterpret_cast<const char*>(object->dlpi_addr + header.p_vaddr);
    const char* end = begin + header.p_filesz;
    const char* at = std::search(begin, end, search.marker, search.marker + std::strlen(search.marker));
    if (at == end) continue;
    at += std::strlen(search.marker);
    while (at < end && (*at == ' ' || *at == '\t')) ++at;
    std::size_t length = 0;
    while (at + length < end && (std::strchr("0123456789.", at[length]) != nullptr && at[length] != 0)) ++length;
    std::snprintf(search.text, search.bytes, "%.*s", static_cast<int>(length), at);
    search.found = length > 0;
  }
  return search.found ? 1 : 0;
}

struct BuildIdSearch {
  const void* base;
  char* text;
  std::size_t bytes;
};

int search_build_id(dl_phdr_info* object, std::size_t /*size*/, void* context) {
  auto& search = *static_cast<BuildIdSearch*>(context);
  if (reinterpret_cast<const void*>(object->dlpi_addr) != search.base) return 0;
  for (int i = 0; i < object->dlpi_phnum; ++i) {
    const auto& header = object->dlpi_phdr[i];
    if (header.p_type != PT_NOTE) continue;
    const auto* at = reinterpret_cast<const char*>(object->dlpi_addr + header.p_vaddr);
    const char* end = at + header.p_memsz;
    while (at + sizeof(ElfW(Nhdr)) <= end) {
      ElfW(Nhdr) note;
      std::memcpy(&note, at, sizeof note);
      const char* name = at + sizeof note;
      const char* data = name + ((note.n_namesz + 3) & ~3U);
      if (note.n_type == NT_GNU_BUILD_ID && std::memcmp(name, "GNU", 4) == 0) {
        auto used = static_cast<std::size_t>(std::snprintf(search.text, search.bytes, "build-id "));
        for (unsigned b = 0; b < std::min(note.n_descsz, 8U) && used + 2 < search.bytes; ++b, used += 2) {
          std::snprintf(search.text + used, search.bytes - used, "%02x", static_cast<unsigned char>(data[b]));
        }
        return 1;
      }
      at = data + ((note.n_descsz + 3) & ~3U);
    }
  }
  return 1;
}

}  // namespace

VersionReader::VersionReader(const char* allocator, Read read)
    : allocator_(allocator), read_(read), next_(first_reader) {
  first_reader = this;
}

const char* read_version(const RunningMalloc& running, char* version, std::size_t bytes) {
  const char* known_as = nullptr;
  for (const VersionReader* reader = first_reader; reader != nullptr && known_as == nullptr; reader = reader->next_) {
    version[0] = '\0';
    if (reader->read_(running, version, bytes)) known_as = reader->allocator_;
  }
  if (known_as != nullptr && version[0] != '\0') return known_as;
  version[0] = '\0';
  BuildIdSearch search{running.base, version, bytes};
  ::dl_iterate_phdr(search_build_id, &search);
  return known_as;
}

void* find_in_running(const RunningMalloc& running, const char* symbol) {
  void* found = ::dlsym(RTLD_DEFAULT, symbol);
  Dl_info info{};
  if (found == nullptr || ::dladdr(found, &info) == 0 || info.dli_fbase != running.base) return nullptr;
  return found;
}

bool find_in_image(const char* object, const char* marker, char* text, std::size_t bytes) {
  ImageSearch search{object, marker, text, bytes};
  ::dl_iterate_phdr(search_image, &search);
  return search.found;
}

}  // namespace zerotax
