#include "largecache/process.h"

#include <pthread.h>

#include <array>
#include <cstdio>
#include <string_view>

#include "largecache/config.h"
#include "largecache/decay_thread.h"
#include "largecache/message.h"

namespace zerotax::largecache {
namespace {

void Prepare() { process_heap.PrepareFork(); }
void Parent() { process_heap.ParentAfterFork(); }
void Child() { process_heap.ChildAfterFork(); }

}  // namespace

constinit LargeHeap process_heap{&SettingsFromEnvironment, &StartDecayThread};

const Policy& ProcessPolicy() {
  static_cast<void>(process_heap.IsLarge(1));  // which reads the settings
  return process_heap.policy();
}

const char* Version() {
  static std::array<char, 64> text;
  std::string_view policy = ProcessPolicy().name;
  constexpr std::string_view kApples = "libmalloc-";
  if (policy.starts_with(kApples)) policy.remove_prefix(kApples.size());
  std::snprintf(text.data(), text.size(), "0.1.0 (%.*s)", static_cast<int>(policy.size()), policy.data());
  return text.data();
}

void InstallForkHandlers() {
  // May allocate; hence it is not called from inside an allocation, whose caller may be pthread_atfork itself.
  if (pthread_atfork(&Prepare, &Parent, &Child) != 0) {
    Message().Text("no memory for fork handlers: a child of a threaded process may hang").Send();
  }
}

}  // namespace zerotax::largecache
