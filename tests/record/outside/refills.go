// The same in Go: maps 16 MiB that it keeps, then a mapping of 1 MiB, filled and unmapped as many times as the second word says.
package main

import (
	"os"
	"strconv"
	"syscall"
)

func mapped(bytes int) []byte {
	memory, err := syscall.Mmap(-1, 0, bytes, syscall.PROT_READ|syscall.PROT_WRITE,
		syscall.MAP_PRIVATE|syscall.MAP_ANON)
	if err != nil {
		os.Exit(3)
	}
	return memory
}

//go:noinline
func fillHere(memory []byte) {
	for i := 0; i < len(memory); i += 64 {
		memory[i] = 7
	}
}

//go:noinline
func refillHere() {
	memory := mapped(1 << 20)
	fillHere(memory)
	syscall.Munmap(memory)
}

//go:noinline
func clearHere(memory []byte) {
	for i := range memory {
		memory[i] = 0
	}
}

func main() {
	rounds, _ := strconv.Atoi(os.Args[2])
	kept := mapped(16 << 20)
	fillHere(kept)
	for i := 0; i < rounds; i++ {
		if os.Args[1] == "zeros" {
			clearHere(kept)
		} else {
			refillHere()
		}
	}
	os.Exit(5)
}
