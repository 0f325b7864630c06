#pragma once

#include <string>
#include <vector>

#include "base/json.h"

namespace zerotax {

/// What the documents of rooms have in common. Each document.cc lists these fields where its schema has them.
struct DocumentHead {
  std::string schema;  ///< "zerotax.NAME/1"
  std::string zerotax_version;
  std::string started;  ///< as utc_now() gives it
  std::vector<std::string> command;
  Json environment;
};

}  // namespace zerotax
