package openstack_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"
)

// killed matches what a shell says about a command that was killed.
var killed = regexp.MustCompile(`(?m)^Killed *\n`)

// member runs a member of RabbitMQ with fakes of its programs, which log their calls. state are the
// files in its home directory. It tells the member to stop once the log contains until and the member
// has settled, and returns the log, the remaining files, and whether the member ended well.
func member(t *testing.T, state map[string]string, until string) (log, left string, ok bool) {
	t.Helper()
	home, bin := t.TempDir(), t.TempDir()
	state["env"] = "NODENAME=rabbit@mq-1.mq\nUSE_LONGNAME=" + map[bool]string{true: "false", false: "true"}[state["short"] != ""] + "\n"
	for name, text := range state {
		if err := os.WriteFile(filepath.Join(home, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	executable(t, bin, "python3", `echo "join: $2" >>"$HOME/log"`)
	executable(t, bin, "sleep", "exec /bin/sleep 0.01")
	executable(t, bin, "rabbitmq-server", `trap 'echo stopped >>"$HOME/log"; exit 0' TERM
echo up >>"$HOME/log"
while :; do /bin/sleep 0.02; done`)
	executable(t, bin, "rabbitmq-upgrade", `echo "upgrade: $*" >>"$HOME/log"; test "$1" != await_online_quorum_plus_one`)
	executable(t, bin, "rabbitmqctl", `case "$*" in
*await_startup*) grep -q up "$HOME/log" ;;
*add_replica*)
  echo streams >>"$HOME/log"
  case $(grep -c streams "$HOME/log") in
  1) exit 70 ;;
  2) echo again ;;
  3) echo '{1,[]}' ;;
  4) echo "{0,['rabbit@mq-2.mq']}" ;;
  *) echo '{0,[]}' ;;
  esac
  ;;
*list_members*)
  grep -q asked "$HOME/log" || { echo asked >>"$HOME/log"; exit 1; }
  echo "['rabbit@mq-0.mq','rabbit@mq-1.mq']"
  ;;
*) echo "ctl: $*" >>"$HOME/log"; echo settled >>"$HOME/log" ;;
esac`)
	cmd := exec.Command("sh", "-ec", script(t, "rabbitmq/member.sh"), "member", "join.py")
	cmd.Env = []string{"PATH=" + bin + ":" + os.Getenv("PATH"), "HOME=" + home, "PATIENCE=60", "RABBITMQ_CONF_ENV_FILE=" + filepath.Join(home, "env")}
	cmd.WaitDelay = time.Second
	out, err := os.Create(filepath.Join(t.TempDir(), "out"))
	if err != nil {
		t.Fatal(err)
	}
	defer out.Close()
	cmd.Stdout, cmd.Stderr = out, out
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	for stopped, deadline := false, time.Now().Add(time.Minute); ; time.Sleep(20 * time.Millisecond) {
		text, _ := os.ReadFile(filepath.Join(home, "log"))
		_, begins := os.Stat(filepath.Join(home, "begins"))
		_, missing := os.Stat(filepath.Join(home, "streams-missing"))
		if !stopped && until != "" && strings.Contains(string(text), until) && begins != nil && missing != nil {
			stopped = true
			_ = cmd.Process.Signal(syscall.SIGTERM)
		}
		select {
		case err := <-ended:
			text, _ := os.ReadFile(filepath.Join(home, "log"))
			said, _ := os.ReadFile(out.Name())
			entries, _ := os.ReadDir(home)
			for _, e := range entries {
				if e.Name() != "log" && e.Name() != "env" {
					left += e.Name() + " "
				}
			}
			return string(text) + killed.ReplaceAllString(string(said), ""), strings.TrimSpace(left), err == nil
		default:
		}
		if time.Now().After(deadline) {
			_ = cmd.Process.Kill()
			t.Fatalf("it goes on:\n%s", text)
		}
	}
}

// TestRabbitMQMember checks that a member hands over its queues before it stops, even if the others do
// not have copies of all, that it checks which cluster it has joined, and gets copies of streams. It
// tries again if it gets no answer, and until it has all copies while all members run.
func TestRabbitMQMember(t *testing.T) {
	const stops = "upgrade: await_online_quorum_plus_one -t 60\nupgrade: drain\nstopped\n"
	for name, c := range map[string]struct {
		state      map[string]string
		until      string
		want, left string
		fails      bool
	}{
		"with its data": {map[string]string{}, "up", "join: join.py\nup\n" + stops, "", false},
		"the first one": {
			map[string]string{"begins": ""},
			"settled",
			"join: join.py\nup\nctl: --quiet enable_feature_flag --opt-in khepri_db\nsettled\n" + stops, "", false,
		},
		"it has joined": {
			map[string]string{"joining": "mq-0.mq", "streams-missing": ""},
			"streams",
			"join: join.py\nup\nasked\nstreams\nstreams\nstreams\nstreams\nstreams\n" + stops, "", false,
		},
		"it joined another": {
			map[string]string{"joining": "mq-2.mq", "streams-missing": ""},
			"",
			"join: join.py\nup\nasked\nThis member has begun a cluster of its own, instead of joining mq-2.mq. It starts again without data.\n",
			"astray joining streams-missing", true,
		},
		"a short name": {
			map[string]string{"short": "yes"},
			"",
			"The data of this node have its short name, with which it cannot be in a cluster. Apply rename_nodes = true with one replica first.\n", "short", true,
		},
	} {
		t.Run(name, func(t *testing.T) {
			log, left, ok := member(t, c.state, c.until)
			if log != c.want || left != c.left || ok == c.fails {
				t.Errorf("it ended well: %t; files %q, want %q; log:\n%s\nwant:\n%s", ok, left, c.left, log, c.want)
			}
		})
	}
}
