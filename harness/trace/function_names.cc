#include "trace/function_names.h"

#include "trace/fields.h"

namespace zerotax::trace {

void FunctionNames::add(const std::string& process, const CtfEvent& event) {
  if (event.type->name != "function_module") return;
  const Json fields = ctf_fields(event);
  Module module;
  module.begin = fields.at("begin");
  module.end = fields.at("end");
  module.bias = fields.at("bias");
  module.path = fields.at("path");
  module.build_id = fields.at("build_id").get<std::vector<unsigned char>>();
  module.build_id.resize(std::min<std::size_t>(module.build_id.size(), fields.at("build_id_bytes").get<std::size_t>()));
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
