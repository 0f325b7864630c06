#include "observe/kernel_symbols.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

namespace zerotax {
namespace {

class KernelSymbolsTest : public testing::Test {
 protected:
  void TearDown() override { std::filesystem::remove(path_); }
  KernelSymbols of(const std::string& text) {
    std::ofstream(path_) << text;
    return KernelSymbols(path_);
  }

 private:
  std::string path_ = std::filesystem::temp_directory_path() / ("zerotax-kallsyms-" + std::to_string(::getpid()));
};

TEST_F(KernelSymbolsTest, AnAddressBelongsToTheFunctionThatBeginsBeforeIt) {
  const KernelSymbols symbols = of(
      "ffffffff81000000 T _stext\nffffffff81000100 t do_fault\nffffffff81000200 D data\nffffffffc0000000 T mod\t[m]\n");
  ASSERT_TRUE(symbols.known());
  EXPECT_EQ(symbols.name(0xffffffff81000100), "do_fault");
  EXPECT_EQ(symbols.name(0xffffffff810001ff), "do_fault");
  EXPECT_EQ(symbols.name(0xffffffff810000ff), "_stext");
  EXPECT_EQ(symbols.name(0xffffffff81000250), "do_fault") << "data is not a function";
  EXPECT_EQ(symbols.name(0xffffffffc0000001), "mod");
  EXPECT_EQ(symbols.name(0x1000), "kernel function");
}

TEST_F(KernelSymbolsTest, HiddenAddressesNameNothing) {
  const KernelSymbols symbols = of("0000000000000000 T _stext\n0000000000000000 t do_fault\n");
  EXPECT_FALSE(symbols.known());
  EXPECT_EQ(symbols.name(0xffffffff81000100), "kernel function");
}

TEST(KernelSymbols, AFileThatIsNotThereNamesNothing) { EXPECT_FALSE(KernelSymbols("/no/such/file").known()); }

}  // namespace
}  // namespace zerotax
