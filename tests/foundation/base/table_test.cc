#include "base/table.h"

#include <gtest/gtest.h>

#include <stdexcept>

namespace zerotax {
namespace {

Table example() {
  Table table({{.name = "allocator"},
               {.name = "size", .unit = Unit::kBytes},
               {.name = "calls", .unit = Unit::kCount, .width = 8, .zero = "-"},
               {.name = "time", .unit = Unit::kNs},
               {.name = "at", .gap = 2}});
  table.add({"glibc", 1536, 1234567, 1500.0, "main"});
  table.add({"µ", 20971520, 0, Measured<double>(NotAvailable{"no clock"})});
  return table;
}

TEST(Table, AlignsByWhatATerminalShows) {
  EXPECT_EQ(example().text(),
            "allocator     size     calls    time  at\n"
            "glibc     1.50 KiB 1,234,567 1.50 µs  main\n"
            "µ           20 MiB         -     n/a\n");
}

TEST(Table, IsMarkdownWithoutPadding) {
  EXPECT_EQ(example().markdown(),
            "| allocator | size | calls | time | at |\n|---|---:|---:|---:|---|\n"
            "| glibc | 1.50 KiB | 1,234,567 | 1.50 µs | main |\n| µ | 20 MiB | - | n/a |  |\n");
}

TEST(Table, IsCsvWithoutUnits) {
  EXPECT_EQ(example().csv(), "allocator,size,calls,time,at\nglibc,1536,1234567,1500,main\nµ,20971520,0,,\n");
}

TEST(Table, KeepsNotesWhereTheyWereAdded) {
  Table table({{.name = "a"}, {.name = "b", .unit = Unit::kPercent}});
  table.add({"x", 0.5});
  table.note("  and 2 more");
  table.add({"y", std::optional<double>()});
  EXPECT_EQ(table.text(false), "x 50.0 %\n  and 2 more\ny\n");
  EXPECT_EQ(table.csv(), "a,b\nx,0.5\ny,\n");
}

TEST(Table, EscapesWhatWouldEndACellOfMarkdown) {
  Table table({{.name = "a"}});
  table.add({"x|y"});
  EXPECT_EQ(table.markdown(), "| a |\n|---|\n| x&#124;y |\n");
}

TEST(Table, RefusesARowThatIsTooLong) {
  Table table({{.name = "a"}});
  EXPECT_THROW(table.add({"1", "2"}), std::invalid_argument);
}

}  // namespace
}  // namespace zerotax
