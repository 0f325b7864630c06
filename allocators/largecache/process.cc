#include "largecache/process.h"

#include <pthread.h>

#include <array>
#include <cstdio>
#include <string_view>

#include "largecache/adaptive/decay_thread.h"
#include "largecache/config.h"
#include "largecache/message.h"

namespace zerotax::largecache {
namespace {

void prepare() { process_heap.prepare_fork(); }
void parent() { process_heap.parent_after_fork(); }
void child() { process_heap.child_after_fork(); }

}  // namespace

constinit LargeHeap process_heap{&settings_from_environment, &start_decay_thread};

const Policy& process_policy() {
  static_cast<void>(process_heap.is_large(1));  // reads the settings
  return process_heap.policy();
}

const char* version() {
  static std::array<char, 64> text;
  std::string_view policy = process_policy().name;
  constexpr std::string_view kApples = "libmalloc-";
  if (policy.starts_with(kApples)) policy.remove_prefix(kApples.size());
  std::snprintf(text.data(), text.size(), "0.1.0 (%.*s)", static_cast<int>(policy.size()), policy.data());
  return text.data();
}

void install_fork_handlers() {
  // Must not be called from inside an allocation, because this function may allocate, and the caller may be
  // pthread_atfork itself.
  if (pthread_atfork(&prepare, &parent, &child) != 0) {
    Message().add_text("no memory for fork handlers: a child of a threaded process may hang").print();
  }
}

}  // namespace zerotax::largecache
