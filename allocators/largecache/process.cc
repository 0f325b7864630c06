#include "largecache/process.h"

#include <pthread.h>

#include "largecache/config.h"
#include "largecache/message.h"

namespace zerotax::largecache {
namespace {

void Prepare() { process_heap.PrepareFork(); }
void Parent() { process_heap.ParentAfterFork(); }
void Child() { process_heap.ChildAfterFork(); }

}  // namespace

constinit LargeHeap process_heap{&PolicyFromEnvironment};

void InstallForkHandlers() {
  // May allocate; hence not from inside an allocation, whose caller may be pthread_atfork itself.
  if (pthread_atfork(&Prepare, &Parent, &Child) != 0) {
    Message().Text("no memory for fork handlers: a child of a threaded process may hang").Send();
  }
}

}  // namespace zerotax::largecache
