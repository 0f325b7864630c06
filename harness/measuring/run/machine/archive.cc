#include "run/machine/archive.h"

#include <fmt/format.h>

#include <iterator>
#include <utility>

namespace zerotax::machine {

void Archive::entry(std::string_view name, unsigned mode, std::string_view content) {
  // Number, mode, user, group, links, time, size, four numbers of devices, length of the name, a sum that is unused.
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

}  // namespace zerotax::machine
