#include "observe/flame_graph.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <memory>

#include "base/lines.h"
#include "base/printable.h"
#include "base/size.h"
#include "base/table.h"
#include "base/units.h"

namespace zerotax {
namespace {

/// Makes a name fit into a line: printable, and without the semicolon that separates functions.
std::string clean(const std::string& name) {
  std::string text;
  for (const char each : printable(name)) text += each == ';' ? std::string("\\x3b") : std::string(1, each);
  return text;
}

/// Makes the last name of a line safe. The weight follows this name. flamegraph.pl and difffolded.pl would read a
/// number at the end of the name as the first of two weights.
std::string clean_last(const std::string& name) {
  std::string text = clean(name);
  const std::size_t blank = text.find_last_of(' ');
  const bool ends_in_number =
      blank != std::string::npos && text.find_first_not_of("0123456789.", blank + 1) == std::string::npos;
  return ends_in_number ? text.replace(blank, 1, "\\x20") : text;
}

constexpr double kWidth = 1200;
constexpr double kMargin = 12;
constexpr double kRow = 19;
constexpr double kHead = 62;
constexpr double kLetter = 6.7;  // average width of a character at 11 px
constexpr double kSmallest = 0.001;

/// A function in the call tree, with the weight of everything that it called.
struct Node {
  std::uint64_t weight = 0;
  std::map<std::string, std::unique_ptr<Node>> callees;
};

std::unique_ptr<Node> tree_of(const FoldedStacks& stacks) {
  auto root = std::make_unique<Node>();
  for (const auto& [names, value] : stacks) {
    Node* node = root.get();
    node->weight += value;
    for (const std::string& name : names) {
      auto& callee = node->callees[name];
      if (!callee) callee = std::make_unique<Node>();
      node = callee.get();
      node->weight += value;
    }
  }
  return root;
}

std::string escaped(const std::string& text) {
  std::string out;
  for (const char c : printable(text)) {
    switch (c) {
      case '&':
        out += "&amp;";
        break;
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case '"':
        out += "&quot;";
        break;
      default:
        out += c;
    }
  }
  return out;
}

/// Returns a warm color that depends only on the name, or blue for functions that zero memory.
std::string colour(const std::string& name, bool leaf) {
  if (leaf) return "#4477aa";
  std::uint32_t hash = 2166136261;  // FNV-1a
  for (const char c : name) hash = (hash ^ static_cast<unsigned char>(c)) * 16777619;
  return fmt::format("hsl({},{}%,{}%)", 22 + hash % 26, 70 + (hash >> 8) % 20, 68 + (hash >> 16) % 12);
}

class Drawing {
 public:
  Drawing(const Node& root, const FlameGraphWords& words) : root_(root), words_(words), depth_(depth_of(root, 1)) {}

  std::string svg() {
    const double height = kHead + kRow * static_cast<double>(depth_) + 2 * kMargin;
    std::string text = fmt::format(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0:.0f}\" height=\"{1:.0f}\" viewBox=\"0 0 {0:.0f} "
        "{1:.0f}\" "
        "font-family=\"DejaVu Sans, Verdana, sans-serif\" font-size=\"11\">\n"
        "<rect width=\"100%\" height=\"100%\" fill=\"#ffffff\"/>\n"
        "<text x=\"{2}\" y=\"26\" font-size=\"17\">{3}</text>\n<text x=\"{2}\" y=\"46\" fill=\"#555555\">{4}</text>\n",
        kWidth, height, kMargin, escaped(words_.title), escaped(words_.subtitle));
    draw("all", root_, kMargin, kWidth - 2 * kMargin, 0);
    return text + boxes_ + "</svg>\n<!-- zerotax -->\n";
  }

 private:
  [[nodiscard]] bool is_shown(const Node& node) const {
    return static_cast<double>(node.weight) >= kSmallest * static_cast<double>(root_.weight);
  }

  [[nodiscard]] std::size_t depth_of(const Node& node, std::size_t depth) const {
    std::size_t deepest = depth;
    for (const auto& [name, callee] : node.callees) {
      if (is_shown(*callee)) deepest = std::max(deepest, depth_of(*callee, depth + 1));
    }
    return deepest;
  }

  [[nodiscard]] std::string figure(std::uint64_t weight) const {
    const double share =
        100 * static_cast<double>(weight) / static_cast<double>(std::max<std::uint64_t>(root_.weight, 1));
    if (words_.nanoseconds) return fmt::format("{}, {:.1f} %", format_ns(static_cast<double>(weight)), share);
    return fmt::format("{}, {:.1f} %", weight == 0 ? "0" : format_size(weight), share);
  }

  void draw(const std::string& raw, const Node& node, double x, double width, std::size_t level) {
    const std::string name = printable(raw);
    const double y = kHead + kRow * static_cast<double>(depth_ - 1 - level);
    const auto room = static_cast<std::size_t>(std::max(0.0, (width - 6) / kLetter));
    // A box without room for three letters gets no name.
    const std::string label = room < 4 && shown_width(name) > room ? "" : first_characters(name, room);
    boxes_ += fmt::format(
        R"(<g><title>{}: {}</title><rect x="{:.2f}" y="{:.0f}" width="{:.2f}" height="{:.0f}" rx="2" )"
        R"(fill="{}" stroke="#ffffff" stroke-width="0.8"/>)",
        escaped(name), escaped(figure(node.weight)), x, y, width, kRow - 1, colour(name, node.callees.empty()));
    if (!label.empty()) {
      boxes_ += fmt::format(R"(<text x="{:.2f}" y="{:.0f}" fill="{}">{}</text>)", x + 4, y + 13,
                            node.callees.empty() ? "#ffffff" : "#000000", escaped(label));
    }
    boxes_ += "</g>\n";
    for (const auto& [callee_name, callee] : node.callees) {
      const double part = width * static_cast<double>(callee->weight) / static_cast<double>(node.weight);
      if (is_shown(*callee)) draw(callee_name, *callee, x, part, level + 1);
      x += part;
    }
  }

  const Node& root_;
  const FlameGraphWords& words_;
  std::size_t depth_;
  std::string boxes_;
};

}  // namespace

std::string folded_text(const FoldedStacks& stacks) {
  std::string text;
  for (const auto& [names, value] : stacks) {
    for (std::size_t i = 0; i + 1 < names.size(); ++i) text += clean(names[i]) + ";";
    text += fmt::format("{} {}\n", names.empty() ? "" : clean_last(names.back()), value);
  }
  return text;
}

std::string flame_graph_svg(const FoldedStacks& stacks, const FlameGraphWords& words) {
  return Drawing(*tree_of(stacks), words).svg();
}

}  // namespace zerotax
