// A web server that answers with JSON, and its clients: web serve COUNTER prints its port; web load PORT asks for ever.
package main

import (
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"sync/atomic"
	"syscall"
	"unsafe"
)

type item struct {
	Name   string
	Values []int
}

func serve(path string) {
	file, _ := os.OpenFile(path, os.O_RDWR, 0)
	memory, err := syscall.Mmap(int(file.Fd()), 0, 4096, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_SHARED)
	if err != nil {
		panic(err)
	}
	count := (*uint64)(unsafe.Pointer(&memory[0]))
	http.HandleFunc("/", func(answer http.ResponseWriter, _ *http.Request) {
		items := make([]item, 50)
		for i := range items {
			items[i] = item{fmt.Sprint("item ", i), make([]int, 40)}
		}
		text, _ := json.Marshal(items)
		answer.Write(text)
		atomic.AddUint64(count, 1)
	})
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		panic(err)
	}
	fmt.Println(listener.Addr().(*net.TCPAddr).Port)
	http.Serve(listener, nil)
}

func load(port string) {
	for i := 0; i < 3; i++ {
		go func() {
			for {
				if answer, err := http.Get("http://127.0.0.1:" + port + "/"); err == nil {
					io.Copy(io.Discard, answer.Body)
					answer.Body.Close()
				}
			}
		}()
	}
	select {}
}

func main() {
	if os.Args[1] == "serve" {
		serve(os.Args[2])
	}
	load(os.Args[2])
}
