package realcloud_test

import (
	"bytes"
	"cmp"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"fmt"
	"io"
	mathrand "math/rand/v2"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
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

	LastFailed time.Time     `json:"last_failed"` // when the last request began that failed
	Gap        time.Duration `json:"gap"`         // the longest time between two right answers
	Kept       []string      `json:"kept"`        // words for UNIQUE in the answered requests that count

	// Median and Late are the times after which half and 99 of 100 requests had ended.
	Median time.Duration `json:"median"`
	Late   time.Duration `json:"late"`
	Took   time.Duration `json:"took"` // from the first request to the last answer
}

// orders is the input of the process: the clients to run.
type orders struct {
	// Pause is the time before each request. Without it, two processors have no time for
	// anything else.
	Pause time.Duration `json:"pause"`
	// Timeout is the time of a request after which it has failed; 0: a minute.
	Timeout time.Duration `json:"timeout"`
	Clients []client      `json:"clients"`
	// KeepAlive: a client sends all of its requests over one connection.
	KeepAlive bool `json:"keep_alive"`
	// CA, unless empty, is the PEM of the only CA that the clients trust.
	CA string `json:"ca"`
	// Routes are routes of the machine on which the clients run: "10.244.1.0/24 via 10.200.0.12".
	Routes []string `json:"routes"`
}

// client sends its requests in turn, each over a new connection, unless the orders keep connections.
type client struct {
	Name     string    `json:"name"` // the key of the result; several clients may share one
	Login    *login    `json:"login"`
	Requests []request `json:"requests"`
}

// login is the request for a token. A client gets a new token after some requests.
type login struct {
	URL  string `json:"url"`
	Body string `json:"body"`
	User string `json:"user"` // the ID of the user in the token
}

// request is a request with the expected answer.
type request struct {
	Method string `json:"method"`
	URL    string `json:"url"`
	Body   string `json:"body"`
	Status int    `json:"status"` // 0: any below 400, such as 300 for a list of versions
	Says   string `json:"says"`   // a part of the answer
	Counts bool   `json:"counts"` // the result lists the request when it is answered
	Undo   bool   `json:"undo"`   // the client deletes what the request has made

	// Pause is the usual time before this request, instead of that of the orders. It varies, so that
	// clients do not send at the same time.
	Pause time.Duration `json:"pause"`
}

// runLoad runs clients until standard input ends, and prints their results by name.
func runLoad(given string) {
	var o orders
	if err := json.Unmarshal([]byte(given), &o); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	for _, route := range o.Routes {
		if out, err := exec.Command("ip", append([]string{"route", "add"}, strings.Fields(route)...)...).CombinedOutput(); err != nil {
			fmt.Fprintf(os.Stderr, "add the route %s: %v\n%s", route, err, out)
			os.Exit(1)
		}
	}
	stop := make(chan struct{})
	go func() {
		_, _ = io.Copy(io.Discard, os.Stdin)
		close(stop)
	}()
	r := results{all: map[string]*load{}, took: map[string][]time.Duration{}, answered: map[string]time.Time{}}
	began := time.Now()
	var all sync.WaitGroup
	for number, c := range o.Clients {
		all.Go(func() { c.run(number, o, stop, &r) })
	}
	all.Wait()
	span := time.Since(began)
	for name, took := range r.took {
		slices.Sort(took)
		l := r.all[name]
		l.Slowest = took[len(took)-1].Round(time.Millisecond).String()
		l.Median, l.Late, l.Took = took[len(took)/2], took[len(took)*99/100], span
	}
	_ = json.NewEncoder(os.Stdout).Encode(r.all)
}

// results are the results so far.
type results struct {
	mu   sync.Mutex
	all  map[string]*load
	took map[string][]time.Duration // the times of all requests
	// answered is the time of the last right answer.
	answered map[string]time.Time
}

// add records a request and the time that it took. kept is its word for UNIQUE if it counts.
func (r *results) add(name string, began time.Time, kept string, err error) {
	const first = 5
	r.mu.Lock()
	defer r.mu.Unlock()
	l := r.all[name]
	if l == nil {
		l = &load{}
		r.all[name] = l
	}
	l.Requests++
	r.took[name] = append(r.took[name], time.Since(began))
	if err != nil {
		l.Failed++
		l.LastFailed = began
		if len(l.Failures) < first {
			l.Failures = append(l.Failures, began.Format(time.StampMilli)+" "+err.Error())
		}
		return
	}
	now := time.Now()
	if last, ok := r.answered[name]; ok {
		l.Gap = max(l.Gap, now.Sub(last))
	}
	r.answered[name] = now
	if kept != "" {
		l.Kept = append(l.Kept, kept)
	}
}

// run sends the requests of a client until stop is closed. number is the index of the first
// request.
func (c client) run(number int, o orders, stop chan struct{}, r *results) {
	const each = 20 // requests with one token
	transport := &http.Transport{DisableKeepAlives: !o.KeepAlive}
	if o.CA != "" {
		transport.TLSClientConfig = &tls.Config{RootCAs: x509.NewCertPool()}
		transport.TLSClientConfig.RootCAs.AppendCertsFromPEM([]byte(o.CA))
	}
	over := &http.Client{Timeout: cmp.Or(o.Timeout, time.Minute), Transport: transport}
	token := ""
	for i := number; ; i++ {
		ask, wait := c.Requests[i%len(c.Requests)], o.Pause
		if ask.Pause > 0 {
			wait = ask.Pause/2 + mathrand.N(ask.Pause)
		}
		select {
		case <-stop:
			return
		case <-time.After(wait):
		}
		began := time.Now()
		if c.Login != nil && (token == "" || i%each == 0) {
			var err error
			token, err = c.Login.do(over)
			r.add(c.Name, began, "", err)
			continue
		}
		unique := rand.Text()
		got, err := ask.do(over, token, unique)
		if !ask.Counts {
			unique = ""
		}
		r.add(c.Name, began, unique, err)
		if err == nil && ask.Undo {
			began = time.Now()
			r.add(c.Name, began, "", ask.undo(over, token, got.body))
		}
	}
}

// made matches the ID in the answer to a request that makes something.
var made = regexp.MustCompile(`"id": ?"([0-9a-f-]+)"`)

// undo deletes what a request has made, by the answer. It tries for a minute: what is being made cannot
// be deleted yet.
func (r request) undo(over *http.Client, token, body string) error {
	id := made.FindStringSubmatch(body)
	if id == nil {
		return fmt.Errorf("%s %s: no ID in %.200s", r.Method, r.URL, body)
	}
	for deadline := time.Now().Add(time.Minute); ; time.Sleep(time.Second) {
		got, err := request{Method: http.MethodDelete, URL: r.URL + "/" + id[1]}.do(over, token, "")
		if got.status == http.StatusNotFound { // an answer before has got lost
			return nil
		}
		if err == nil || time.Now().After(deadline) {
			return err
		}
	}
}

// do requests a token.
func (l login) do(over *http.Client) (string, error) {
	const issued = http.StatusCreated
	got, err := request{Method: http.MethodPost, URL: l.URL, Body: l.Body, Status: issued, Says: `"id": "` + l.User + `"`}.do(over, "", "")
	if err != nil {
		return "", err
	}
	return got.header.Get("X-Subject-Token"), nil
}

// answer is the answer to a request.
type answer struct {
	status int // 0: there was none
	header http.Header
	body   string
}

// do sends a request, with a word for UNIQUE in its body. It returns an error if the answer is not the
// expected one.
func (r request) do(over *http.Client, token, unique string) (answer, error) {
	message, err := http.NewRequest(r.Method, r.URL, strings.NewReader(strings.ReplaceAll(r.Body, "UNIQUE", unique)))
	if err != nil {
		return answer{}, err
	}
	message.Header.Set("Content-Type", "application/json")
	if token != "" {
		message.Header.Set("X-Auth-Token", token)
		message.Header.Set("X-Subject-Token", token)
	}
	response, err := over.Do(message)
	if err != nil {
		return answer{}, err
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	switch {
	case err != nil:
		return answer{}, err
	case r.Status != 0 && response.StatusCode != r.Status, r.Status == 0 && response.StatusCode >= 400, !strings.Contains(string(body), r.Says):
		return answer{status: response.StatusCode}, fmt.Errorf("%s %s: status %s, %.200s", r.Method, r.URL, response.Status, body)
	}
	return answer{response.StatusCode, response.Header, string(body)}, nil
}

// password returns the body of a request for a token.
func password(user, password, project string) string {
	scope := ""
	if project != "" {
		scope = fmt.Sprintf(`, "scope": {"project": {"name": %q, "domain": {"id": "default"}}}`, project)
	}
	return fmt.Sprintf(`{"auth": {"identity": {"methods": ["password"], "password":
		{"user": {"name": %q, "domain": {"id": "default"}, "password": %q}}}%s}}`, user, password, scope)
}

// administrator returns the login of the administrator, and the ID of the project.
func (c *cloud) administrator(t *testing.T) (as *login, project string) {
	t.Helper()
	project = c.value(t, "project", "show", "admin", "-f", "value", "-c", "id")
	return &login{c.keystone() + "/auth/tokens", password("admin", c.password(t), "admin"), c.value(t, "user", "show", "admin", "-f", "value", "-c", "id")}, project
}

// underLoad sends requests through the VIP to Keystone and to the given URLs while work runs, with
// a pause of 200 ms before each.
func (c *cloud) underLoad(t *testing.T, work func(), urls ...string) load {
	t.Helper()
	var ask []request
	for _, url := range append(urls, c.keystone()) {
		ask = append(ask, request{Method: http.MethodGet, URL: url})
	}
	tokens := []request{{Method: http.MethodPost, URL: c.keystone() + "/auth/tokens", Body: password("admin", c.password(t), "")}}
	return *c.clientsRun(t, work, orders{Pause: 200 * time.Millisecond, Clients: []client{
		{Requests: tokens}, {Requests: ask}, {Requests: ask}, {Requests: ask},
	}})[""]
}

// clientsRun runs clients outside of the cluster while work runs, and returns the results by
// name.
func (c *cloud) clientsRun(t *testing.T, work func(), o orders) map[string]*load {
	t.Helper()
	if c.encrypted {
		ca, err := os.ReadFile(filepath.Join(c.dir, caFile))
		if err != nil {
			t.Fatal(err)
		}
		o.CA = string(ca)
	}
	given, err := json.Marshal(o)
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
	var result map[string]*load
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
