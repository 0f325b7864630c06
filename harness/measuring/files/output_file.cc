#include "files/output_file.h"

#include <fmt/format.h>

#include "base/error.h"
#include "base/strict_json.h"
#include "files/new_file.h"
#include "os/input_file.h"

namespace zerotax {

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

}  // namespace zerotax
