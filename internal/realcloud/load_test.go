package realcloud_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"
	"sync"
	"testing"
	"time"
)

// loadVariable is the environment variable that turns the test binary into a client that sends
// requests all the time.
const loadVariable = "KOLLA_TEST_LOAD"

// load is the result of a series of requests.
type load struct {
	Requests int      `json:"requests"`
	Failed   int      `json:"failed"`
	Failures []string `json:"failures"` // the first few
	Slowest  string   `json:"slowest"`
}

// orders tells the client which requests to send.
type orders struct {
	URLs  []string `json:"urls"`  // for most workers, in turn
	Token string   `json:"token"` // where one worker gets tokens
	Body  string   `json:"body"`  // body of the token request
}

// runLoad sends requests until standard input ends, and prints the result. Each worker pauses
// 200 ms before a request and uses a new connection. Without the pause, two processors would
// have no time for the starting pods.
func runLoad(given string) {
	const workers, kept = 4, 5
	var o orders
	if err := json.Unmarshal([]byte(given), &o); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	stop := make(chan struct{})
	go func() {
		_, _ = io.Copy(io.Discard, os.Stdin)
		close(stop)
	}()
	client := &http.Client{Timeout: time.Minute, Transport: &http.Transport{DisableKeepAlives: true}}
	var mu sync.Mutex
	var result load
	var slowest time.Duration
	var all sync.WaitGroup
	for worker := range workers {
		next := worker
		request := func() (*http.Request, error) {
			next++
			return http.NewRequest(http.MethodGet, o.URLs[next%len(o.URLs)], nil)
		}
		if worker == 0 {
			request = func() (*http.Request, error) {
				return http.NewRequest(http.MethodPost, o.Token, strings.NewReader(o.Body))
			}
		}
		all.Go(func() {
			for {
				select {
				case <-stop:
					return
				case <-time.After(200 * time.Millisecond):
				}
				began := time.Now()
				err := ask(client, request)
				mu.Lock()
				result.Requests++
				slowest = max(slowest, time.Since(began))
				if err != nil {
					result.Failed++
					if len(result.Failures) < kept {
						result.Failures = append(result.Failures, began.Format(time.StampMilli)+" "+err.Error())
					}
				}
				mu.Unlock()
			}
		})
	}
	all.Wait()
	result.Slowest = slowest.Round(time.Millisecond).String()
	_ = json.NewEncoder(os.Stdout).Encode(result)
}

func ask(client *http.Client, request func() (*http.Request, error)) error {
	r, err := request()
	if err != nil {
		return err
	}
	r.Header.Set("Content-Type", "application/json")
	response, err := client.Do(r)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	if _, err := io.Copy(io.Discard, response.Body); err != nil {
		return err
	}
	if response.StatusCode >= 400 { // a list of versions has status 300
		return fmt.Errorf("status %s", response.Status)
	}
	return nil
}

// underLoad sends requests through the VIP to Keystone and to the given URLs while work runs.
func (c *cloud) underLoad(t *testing.T, work func(), urls ...string) load {
	t.Helper()
	const auth = `{"auth": {"identity": {"methods": ["password"], "password":
		{"user": {"name": "admin", "domain": {"id": "default"}, "password": %q}}}}}`
	given, err := json.Marshal(orders{
		URLs:  append(urls, "http://"+vip+":5000/v3"),
		Token: "http://" + vip + ":5000/v3/auth/tokens",
		Body:  fmt.Sprintf(auth, c.password(t)),
	})
	if err != nil {
		t.Fatal(err)
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd, err := c.cluster.Outside(t.Context(), loaderAddress, "", self)
	if err != nil {
		t.Fatal(err)
	}
	cmd.Env = append(os.Environ(), loadVariable+"="+string(given))
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	stdin, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	work()
	stdin.Close()
	if err := cmd.Wait(); err != nil {
		t.Fatalf("ask through the VIP: %v\n%s", err, out.String())
	}
	var result load
	if err := json.Unmarshal(out.Bytes(), &result); err != nil {
		t.Fatalf("read what the client says: %v\n%s", err, out.String())
	}
	return result
}

// lockedBuffer is a buffer that a command writes and the test reads.
type lockedBuffer struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (b *lockedBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.Write(p)
}

func (b *lockedBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return strings.TrimSpace(b.buf.String())
}
