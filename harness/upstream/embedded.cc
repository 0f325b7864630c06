#include "upstream/embedded.h"

namespace zerotax::upstream {

const std::map<std::string, std::string>& embedded_forms() {
  static const std::map<std::string, std::string> all{
#include "embedded_forms.inc"
  };
  return all;
}

const std::map<std::string, std::string>& embedded_reproducers() {
  static const std::map<std::string, std::string> all{
#include "embedded_reproducers.inc"
  };
  return all;
}

}  // namespace zerotax::upstream
