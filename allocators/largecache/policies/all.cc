#include <string_view>

#include "largecache/policies/list.h"

namespace zerotax::largecache {

#define LARGECACHE_ADDRESS(name) &(name),
constinit const Policy* const kPolicies[] = {LARGECACHE_POLICIES(LARGECACHE_ADDRESS) nullptr};
#undef LARGECACHE_ADDRESS

const Policy* find_policy(const char* name) {
  for (const Policy* const* policy = kPolicies; *policy != nullptr; ++policy) {
    if (std::string_view((*policy)->name) == name) return *policy;
  }
  return nullptr;
}

}  // namespace zerotax::largecache
