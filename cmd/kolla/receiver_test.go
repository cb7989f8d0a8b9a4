package main

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"sync"

	"github.com/rogpeppe/go-internal/testscript"
)

// receiver starts a server that appends each request to a file, and puts its URL into a
// variable: receiver VARIABLE FILE. It refuses requests to /refused.
func receiver(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: receiver VARIABLE FILE")
	}
	path := ts.MkAbs(args[1])
	ts.Check(os.WriteFile(path, nil, 0o644))
	var mu sync.Mutex
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		defer mu.Unlock()
		body, err := io.ReadAll(r.Body)
		file, openErr := os.OpenFile(path, os.O_APPEND|os.O_WRONLY, 0)
		if err != nil || openErr != nil {
			w.WriteHeader(http.StatusInternalServerError)
			return
		}
		fmt.Fprintf(file, "%s %s %s\n", r.Method, r.URL, body)
		if file.Close() != nil || r.URL.Path == "/refused" {
			w.WriteHeader(http.StatusForbidden)
		}
	}))
	ts.Defer(server.Close)
	ts.Setenv(args[0], server.URL)
}
