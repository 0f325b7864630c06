// The list of policies. A new policy needs a file in this folder and an entry here. Constructors cannot register
// policies, because malloc is called before constructors run.
#ifndef ZEROTAX_ALLOCATORS_LARGECACHE_POLICIES_LIST_H_
#define ZEROTAX_ALLOCATORS_LARGECACHE_POLICIES_LIST_H_

#include "largecache/policy.h"

// The first policy is the default.
#define LARGECACHE_POLICIES(X) \
  X(kLibmalloc116) X(kLibmalloc283) X(kXzone792) X(kUnmap) X(kPurge) X(kMemset) X(kDirty) X(kAdaptive)

namespace zerotax::largecache {

#define LARGECACHE_DECLARE(name) extern const Policy name;
LARGECACHE_POLICIES(LARGECACHE_DECLARE)
#undef LARGECACHE_DECLARE

}  // namespace zerotax::largecache

#endif  // ZEROTAX_ALLOCATORS_LARGECACHE_POLICIES_LIST_H_
