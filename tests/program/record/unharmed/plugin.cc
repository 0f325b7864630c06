// Allocates by operator new.
#include <cstddef>

extern "C" void allocate() {
  for (std::size_t bytes = 1; bytes <= std::size_t{1} << 20; bytes *= 2) {
    char* volatile block = new char[bytes]{};
    delete[] block;
    int* volatile number = new int(7);
    delete number;
  }
}
