"""CFFI up to version 1.9 (2016): malloc, then CFFI's own memset over the whole buffer."""

import cffi_before_1_10
import cffi_recv

if __name__ == "__main__":
    cffi_recv.main(__doc__, cffi_before_1_10.new_buffer)
