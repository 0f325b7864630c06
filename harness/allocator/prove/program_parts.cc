#include "prove/program_parts.h"

namespace zerotax::prove {

const std::map<std::string, std::string>& embedded_program_parts() {
  static const std::map<std::string, std::string> all{
#include "embedded_program_parts.inc"
  };
  return all;
}

}  // namespace zerotax::prove
