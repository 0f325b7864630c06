"""CFFI as it was in 2016, up to version 1.9: malloc, then a memset of its own over all of the buffer."""

import cffi_before_1_10
import cffi_recv

if __name__ == "__main__":
    cffi_recv.main(__doc__, cffi_before_1_10.new_buffer)
