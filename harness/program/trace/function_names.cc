#include "trace/function_names.h"

#include <algorithm>

#include "trace/fields.h"

namespace zerotax::trace {

void FunctionNames::add(const std::string& process, const CtfEvent& event) {
  if (event.type->name != "function_module") return;
  Module module;
  module.begin = ctf_field<std::uint64_t>(event, "begin");
  module.end = ctf_field<std::uint64_t>(event, "end");
  module.bias = ctf_field<std::uint64_t>(event, "bias");
  module.path = ctf_field<std::string>(event, "path");
  module.build_id = ctf_field<std::vector<unsigned char>>(event, "build_id");
  module.build_id.resize(std::min(module.build_id.size(), ctf_field<std::size_t>(event, "build_id_bytes")));
  modules_[process].push_back(std::move(module));
}

const NamedFrame& FunctionNames::frame(const std::string& process, std::uint64_t address) {
  const auto known = frames_.find({process, address});
  if (known != frames_.end()) return known->second;
  const Module* found = nullptr;
  for (const Module& module : modules_[process]) {
    if (address >= module.begin && address < module.end) found = &module;
  }
  return frames_[{process, address}] = found == nullptr
                                           ? symbols_.frame("", {}, address)
                                           : symbols_.frame(found->path, found->build_id, address - found->bias);
}

std::string FunctionNames::label(const std::string& process, std::uint64_t address) {
  return frame_label(frame(process, address), true);
}

}  // namespace zerotax::trace
