#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/json.h"
#include "observe/script_function.h"

namespace zerotax {

/// Names of places in program files, from their symbol tables and debug information (also where that is in a file of
/// its own, found by build-id), by elfutils' libdwfl. Nothing is asked of the network.
class Symbols {
 public:
  Symbols();
  ~Symbols();
  Symbols(const Symbols&) = delete;
  Symbols& operator=(const Symbols&) = delete;

  /// The frame of results/schema/record.schema.json: module, address, function, file and line, where known. `address`
  /// is in the file's own numbering. A file that has changed since (another build-id, if one is given) names nothing.
  Json frame(const std::string& module, const std::vector<unsigned char>& build_id, std::uint64_t address);

 private:
  struct File;
  File& open(const std::string& module, const std::vector<unsigned char>& build_id);

  std::map<std::string, std::unique_ptr<File>> files_;
};

/// The same of a function of a script, which lies in no file but has a name, and the script's file.
Json script_frame_json(const ScriptFunction& script);

/// "main (known.c:3)", "0x1234 (libx.so)": a frame in few words; without the place if `function_only`.
std::string frame_label(const Json& frame, bool function_only);

}  // namespace zerotax
