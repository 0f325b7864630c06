extern "C" __attribute__((noinline)) void called_by_called() { asm volatile(""); }

extern "C" void called_in_library() {
  called_by_called();
  called_by_called();
}
