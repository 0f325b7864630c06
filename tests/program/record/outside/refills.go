// The same in Go: maps 16 MiB that it keeps, then a mapping of 1 MiB, filled and unmapped as many times as the second word says.
package main

import (
	"bufio"
	"fmt"
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

// With a third word, waits for a line before the work and after it, as refills.c does.
func wait(say string) {
	if len(os.Args) > 3 {
		fmt.Println(say)
		bufio.NewReaderSize(os.Stdin, 16).ReadString('\n')
	}
}

func main() {
	rounds, _ := strconv.Atoi(os.Args[2])
	wait("ready")
	kept := mapped(16 << 20)
	fillHere(kept)
	for i := 0; i < rounds; i++ {
		if os.Args[1] == "zeros" {
			clearHere(kept)
		} else {
			refillHere()
		}
	}
	wait("0 0")
	os.Exit(5)
}
