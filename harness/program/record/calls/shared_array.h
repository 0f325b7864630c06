#pragma once

#include <atomic>
#include <cstddef>
#include <memory>
#include <utility>

namespace zerotax::record {

/// Total bytes of all nodes of all arrays.
inline std::atomic<std::size_t> shared_array_bytes{0};

/// An array that grows when it is written to. Copying takes constant time and no memory, because two copies share all
/// nodes that neither has changed since. The array is a tree of nodes of 64 elements, and a write copies the shared
/// nodes on its path. Not thread-safe.
template <typename T>
class SharedArray {
 public:
  /// Returns the element at an index, or nullptr if it was never written.
  [[nodiscard]] const T* find(std::size_t index) const {
    if (!is_within(index)) return nullptr;
    const void* node = root_.get();
    for (unsigned level = levels_; node != nullptr && level != 0; --level) {
      node = static_cast<const Inner*>(node)->items[place(index, level)].get();
    }
    return node != nullptr ? &static_cast<const Leaf*>(node)->items[place(index, 0)] : nullptr;
  }

  [[nodiscard]] T at(std::size_t index) const {
    const T* const found = find(index);
    return found != nullptr ? *found : T{};
  }

  /// Returns an element to write to. The reference is valid until the array is copied or another element is edited.
  T& edit(std::size_t index) {
    while (!is_within(index)) grow();
    std::shared_ptr<void>* node = &root_;
    for (unsigned level = levels_; level != 0; --level) {
      node = &own<Inner>(*node).items[place(index, level)];
    }
    return own<Leaf>(*node).items[place(index, 0)];
  }

 private:
  static constexpr unsigned kBits = 6;
  static constexpr std::size_t kItems = std::size_t{1} << kBits;

  template <typename Item>
  struct Node {
    Item items[kItems]{};

    Node() { shared_array_bytes.fetch_add(sizeof(Node), std::memory_order_relaxed); }
    Node(const Node& other) {
      for (std::size_t i = 0; i < kItems; ++i) items[i] = other.items[i];
      shared_array_bytes.fetch_add(sizeof(Node), std::memory_order_relaxed);
    }
    Node& operator=(const Node&) = delete;
    ~Node() { shared_array_bytes.fetch_sub(sizeof(Node), std::memory_order_relaxed); }
  };
  using Inner = Node<std::shared_ptr<void>>;
  using Leaf = Node<T>;

  static std::size_t place(std::size_t index, unsigned level) { return (index >> (level * kBits)) % kItems; }
  [[nodiscard]] bool is_within(std::size_t index) const {
    const unsigned bits = (levels_ + 1) * kBits;
    return bits >= 64 || index >> bits == 0;
  }

  template <typename Which>
  static Which& own(std::shared_ptr<void>& node) {
    if (node == nullptr) {
      node = std::make_shared<Which>();
    } else if (node.use_count() != 1) {
      node = std::make_shared<Which>(*static_cast<const Which*>(node.get()));
    }
    return *static_cast<Which*>(node.get());
  }

  void grow() {
    ++levels_;
    if (root_ == nullptr) return;
    auto above = std::make_shared<Inner>();
    above->items[0] = std::move(root_);
    root_ = std::move(above);
  }

  std::shared_ptr<void> root_;
  unsigned levels_ = 0;  ///< number of levels above the leaves
};

}  // namespace zerotax::record
