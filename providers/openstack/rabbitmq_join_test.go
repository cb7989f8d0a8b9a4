package openstack_test

import (
	"context"
	"fmt"
	"io"
	"maps"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
)

// TestRabbitMQJoin checks how a member of a cluster starts: with its data, as the first one, as a new
// one of a member that runs, or not yet.
func TestRabbitMQJoin(t *testing.T) {
	own, err := os.Hostname()
	if err != nil {
		t.Fatal(err)
	}
	own, _, _ = strings.Cut(own, ".")
	own += ".mq"
	const (
		other  = "127.0.0.1" // has no data: this member answers there itself
		gone   = "gone.invalid"
		khepri = "{true,true,['rabbit@127.0.0.1','rabbit@%s']}"
		mnesia = "{true,false,['rabbit@127.0.0.1','rabbit@%s']}"
		alone  = "{true,false,['rabbit@127.0.0.1']}"
		busy   = "{false,true,['rabbit@127.0.0.1']}"
		peers  = "cluster_formation.classic_config.nodes.1 = rabbit@127.0.0.1\ncluster_formation.classic_config.nodes.2 = rabbit@%s\n"
	)
	for name, c := range map[string]struct {
		members string
		state   string   // what a member that runs says about the cluster; empty: none runs
		files   []string // in the home directory, before
		want    string   // last line of the output; it goes on waiting if it is "waits ..."
		calls   string   // of rabbitmqctl, beside the question about the state
		after   []string // files in the home directory, but the data
	}{
		"all are empty":                 {own + " " + other, "", nil, "begins the cluster", "", []string{"begins"}},
		"all are empty, not the first":  {other + " " + own, "", nil, "waits for a member that runs", "", nil},
		"one is away":                   {own + " " + gone, "", nil, "waits for a member that runs, or the word of " + gone, "", nil},
		"one is away, one is empty":     {own + " " + other + " " + gone, "", nil, "waits for a member that runs, or the word of " + gone, "", nil},
		"with data":                     {own + " " + gone, "", []string{"data"}, "goes on with its data", "", []string{"data"}},
		"with data beside one":          {own + " " + other, alone, []string{"data"}, "goes on with its data", "", []string{"data"}},
		"new":                           {own + " " + other, alone, nil, "joins 127.0.0.1", "", []string{"joining", "peers", "streams-missing"}},
		"lost its data, Mnesia":         {own + " " + other, mnesia, nil, "joins 127.0.0.1", "forget_cluster_node rabbit@" + own, []string{"joining", "peers", "streams-missing"}},
		"lost its data, Khepri":         {own + " " + other, khepri, nil, "joins 127.0.0.1", "", []string{"joining", "peers", "streams-missing"}},
		"stopped while it joined":       {own + " " + other, khepri, []string{"data", "joining", "peers"}, "joins 127.0.0.1", "", []string{"joining", "peers", "streams-missing"}},
		"stopped, and nobody runs":      {own + " " + gone, "", []string{"data", "joining", "peers"}, "goes on with its data", "", []string{"data", "joining", "peers"}},
		"killed while it forgot data":   {own + " " + gone, "", []string{"gone", "joining", "peers"}, "waits for a member that runs, or the word of " + gone, "", nil},
		"astray":                        {own + " " + gone, "", []string{"astray", "data", "joining", "peers"}, "waits for a member that runs, or the word of " + gone, "", nil},
		"astray beside one":             {own + " " + other, khepri, []string{"astray", "data", "gone"}, "joins 127.0.0.1", "", []string{"joining", "peers", "streams-missing"}},
		"another one has not settled":   {other + " " + own, busy, nil, "waits for a member that runs", "", nil},
		"the first is empty, one is up": {own + " " + other, alone, []string{"begins"}, "joins 127.0.0.1", "", []string{"joining", "peers", "streams-missing"}},
	} {
		t.Run(name, func(t *testing.T) {
			home, bin := t.TempDir(), t.TempDir()
			paths := map[string]string{
				"data": "mnesia/rabbit@" + own + "/schema.DAT", "peers": "conf.d/peers.conf",
				"joining": "joining", "begins": "begins", "streams-missing": "streams-missing", "astray": "astray", "gone": "mnesia/rabbit@" + own + "-gone/schema.DAT",
			}
			for _, file := range c.files {
				path := filepath.Join(home, paths[file])
				if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(path, fmt.Appendf(nil, peers, own), 0o600); err != nil { // the text counts for peers only
					t.Fatal(err)
				}
			}
			state := c.state
			if strings.Contains(state, "%s") {
				state = fmt.Sprintf(state, own)
			}
			executable(t, bin, "rabbitmqctl", `case $3 in eval) echo "`+state+`" ;; *) shift 2; echo "$@" >>"$HOME/calls" ;; esac`)
			amqp, ask := freePort(t), freePort(t)
			if c.state != "" {
				listener, err := net.Listen("tcp", net.JoinHostPort("127.0.0.1", amqp))
				if err != nil {
					t.Fatal(err)
				}
				defer listener.Close()
			}
			ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
			defer cancel()
			cmd := exec.CommandContext(ctx, "python3", "-c", script(t, "rabbitmq/join.py"))
			cmd.Env = []string{"PATH=" + bin + ":" + os.Getenv("PATH"), "HOME=" + home, "MEMBERS=" + c.members, "AMQP_PORT=" + amqp, "ASK_PORT=" + ask}
			said := untilWaiting(t, cmd)
			if said != c.want {
				t.Errorf("it says %q, want %q", said, c.want)
			}
			calls, _ := os.ReadFile(filepath.Join(home, "calls"))
			if got := strings.TrimSpace(string(calls)); got != c.calls {
				t.Errorf("calls: %q, want %q", got, c.calls)
			}
			var after []string
			for _, file := range slices.Sorted(maps.Keys(paths)) {
				if _, err := os.Stat(filepath.Join(home, paths[file])); err == nil {
					after = append(after, file)
				}
			}
			if !slices.Equal(after, c.after) {
				t.Errorf("files: %q, want %q", after, c.after)
			}
			if text, err := os.ReadFile(filepath.Join(home, paths["peers"])); err == nil && string(text) != fmt.Sprintf(peers, own) {
				t.Errorf("peers: %s", text)
			}
		})
	}
}

// TestRabbitMQAnswers checks that a member without data tells others so, also after one that did not
// listen to the answer.
func TestRabbitMQAnswers(t *testing.T) {
	own, err := os.Hostname()
	if err != nil {
		t.Fatal(err)
	}
	own, _, _ = strings.Cut(own, ".")
	ask := freePort(t)
	cmd := exec.CommandContext(t.Context(), "python3", "-c", script(t, "rabbitmq/join.py"))
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + t.TempDir(), "MEMBERS=" + own + ".mq gone.invalid", "AMQP_PORT=1", "ASK_PORT=" + ask}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = cmd.Process.Kill(); _ = cmd.Wait() }()
	connect := func() *net.TCPConn {
		for range 100 {
			if c, err := net.Dial("tcp", "127.0.0.1:"+ask); err == nil {
				return c.(*net.TCPConn)
			}
			time.Sleep(100 * time.Millisecond)
		}
		t.Fatal("nobody listens")
		return nil
	}
	for range 50 {
		c := connect()
		_ = c.SetLinger(0) // the other end gets a reset
		c.Close()
	}
	c := connect()
	defer c.Close()
	_ = c.SetDeadline(time.Now().Add(10 * time.Second))
	if answer, err := io.ReadAll(c); string(answer) != "no data\n" {
		t.Errorf("answer %q, %v", answer, err)
	}
}

// freePort returns a port of the machine that nobody uses.
func freePort(t *testing.T) string {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	return strconv.Itoa(listener.Addr().(*net.TCPAddr).Port)
}

// untilWaiting runs a program until it ends, or says that it waits for others and has not gone on a
// second later. It returns the last line of its output.
func untilWaiting(t *testing.T, cmd *exec.Cmd) string {
	t.Helper()
	log, err := os.Create(filepath.Join(t.TempDir(), "log"))
	if err != nil {
		t.Fatal(err)
	}
	defer log.Close()
	cmd.Stdout, cmd.Stderr = log, log
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	last := func() string {
		text, _ := os.ReadFile(log.Name())
		lines := strings.Split(strings.TrimSpace(string(text)), "\n")
		return lines[len(lines)-1]
	}
	for waited := 0; waited < 10; time.Sleep(100 * time.Millisecond) {
		select {
		case err := <-ended:
			if err != nil {
				t.Errorf("%v: %s", err, last())
			}
			return last()
		default:
		}
		if strings.HasPrefix(last(), "waits") {
			waited++
		}
	}
	_ = cmd.Process.Kill()
	<-ended
	return last()
}
