// Package s3test runs an object storage that speaks S3, for tests.
package s3test

import (
	"bytes"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// Credentials of the object storage.
const (
	AccessKey = "operator"
	SecretKey = "not-for-messages"
)

// Bucket is the name of the only bucket.
const Bucket = "safe"

// Start runs an object storage with one bucket until the test ends. It returns its URL, and the directory
// that has the objects of the bucket as files.
func Start(t testing.TB) (url, dir string) {
	t.Helper()
	module, err := exec.Command("go", "env", "GOMOD").Output()
	if err != nil {
		t.Fatal(err)
	}
	tool := filepath.Join(filepath.Dir(string(module)), "internal", "dev", "tools", "versitygw", "go.mod")
	program, err := exec.Command("go", "tool", "-n", "-modfile="+tool, "versitygw").Output()
	if err != nil {
		t.Fatal(err)
	}
	free, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := free.Addr().String()
	if err := free.Close(); err != nil {
		t.Fatal(err)
	}
	data, attributes := t.TempDir(), t.TempDir()
	dir = filepath.Join(data, Bucket)
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	server := exec.Command(strings.TrimSpace(string(program)), "--port", address, "--access", AccessKey, "--secret", SecretKey, "posix", "--sidecar", attributes, data)
	var log bytes.Buffer
	server.Stdout, server.Stderr = &log, &log
	if err := server.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan struct{})
	go func() {
		_ = server.Wait()
		close(ended)
	}()
	t.Cleanup(func() {
		_ = server.Process.Kill()
		<-ended // it was killed
	})
	for {
		conn, err := net.Dial("tcp", address)
		if err == nil {
			_ = conn.Close()
			return "http://" + address, dir
		}
		select {
		case <-ended:
			t.Fatalf("the object storage ended: %v\n%s", server.ProcessState, log.String())
		case <-time.After(20 * time.Millisecond):
		}
	}
}
