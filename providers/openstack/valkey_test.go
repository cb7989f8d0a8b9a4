package openstack_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// valkeyEnv sets the environment of the first server or sentinel, and returns the directory of its data.
func valkeyEnv(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	for name, value := range map[string]string{
		"SERVERS": "vk-server-0.ns vk-server-1.ns vk-server-2.ns", "SENTINELS": "vk-sentinel-0.ns vk-sentinel-1.ns vk-sentinel-2.ns",
		"QUORUM": "2", "PRIMARY": "kolla", "PORT": "6379", "SENTINEL_PORT": "26379", "DATA": dir, "TEMPLATE": filepath.Join(dir, "template"),
	} {
		t.Setenv(name, value)
	}
	return dir
}

// valkeyCLI is a client that reads the answers of hosts from files. A second line of a file is the
// answer to later questions. What a sentinel knows of replicas is in a file of its own.
const valkeyCLI = `command=$*
while [ "$1" != -h ]; do shift; done
case $command in *"sentinel replicas kolla") cat "$DATA/answer-$2-replicas"; exit ;; esac
file=$DATA/answer-$2
test -e "$file" || exit 1
sed -n 1p "$file"
test "$(wc -l <"$file")" -lt 2 || sed -i 1d "$file"`

// secretCat is a cat that reads all mounted secrets as "secret".
const secretCat = `case $1 in /run/secrets/*) echo secret ;; *) exec /bin/cat "$@" ;; esac`

// TestValkeyServer checks as what a server starts: as the sentinels say, but never without data where
// others have them.
func TestValkeyServer(t *testing.T) {
	const (
		s0, s1, s2 = "vk-sentinel-0.ns", "vk-sentinel-1.ns", "vk-sentinel-2.ns"
		own, other = "vk-server-0.ns\n", "vk-server-1.ns\n"
		primary    = "Starts as the primary.\n/etc/valkey/valkey.conf --replica-announce-ip vk-server-0.ns\n"
		replica    = "Starts as a replica of vk-server-1.ns.\n/etc/valkey/valkey.conf --replica-announce-ip vk-server-0.ns --replicaof vk-server-1.ns 6379\n"
		lost       = "Waits until the sentinels name another primary: this server has lost its data.\n"
		known      = "name\nvk-server-1.ns:6379\n" // a sentinel remembers a replica
		quorum     = "Waits until 2 sentinels name the same primary.\n"
	)
	for name, c := range map[string]struct {
		answers map[string]string
		data    bool
		want    string
	}{
		"new, the first":                    {map[string]string{s0: own, s1: own, s2: own}, false, primary},
		"new, the first, others are empty":  {map[string]string{s0: own, s1: own, "vk-server-1.ns": "0\n"}, false, primary},
		"a replica":                         {map[string]string{s0: other, s1: other, s2: other}, true, replica},
		"a sentinel is away":                {map[string]string{s0: other, s2: other}, true, replica},
		"a sentinel has not heard it yet":   {map[string]string{s0: own, s1: other, s2: other}, true, replica},
		"one answer is not enough at first": {map[string]string{s0: own, s1: "\n" + other, s2: "\n" + other}, true, quorum + replica},
		"the primary again":                 {map[string]string{s0: own, s1: own, "vk-server-1.ns": "7\n"}, true, primary},
		"the primary without its data":      {map[string]string{s0: own + other, s1: own + other, "vk-server-2.ns": "7\n"}, false, lost + replica},
		"the others do not answer":          {map[string]string{s0: own, s1: own, "vk-server-1.ns": "NOAUTH\n"}, false, primary},
		"nor do they run, without its data": {map[string]string{s0: own + other, s1: own + other, s2 + "-replicas": known}, false, lost + replica},
		"nor do they run, with its data":    {map[string]string{s0: own, s1: own, s2 + "-replicas": known}, true, primary},
	} {
		t.Run(name, func(t *testing.T) {
			dir := valkeyEnv(t)
			for host, answer := range c.answers {
				if err := os.WriteFile(filepath.Join(dir, "answer-"+host), []byte(answer), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			if c.data {
				if err := os.Mkdir(filepath.Join(dir, "appendonlydir"), 0o700); err != nil {
					t.Fatal(err)
				}
			}
			got, err := runScript(t, "valkey/server.sh", map[string]string{
				"uname": "echo vk-server-0", "cat": secretCat, "sleep": "", "valkey-cli": valkeyCLI, "valkey-server": `echo "$@"`,
			})
			if err != nil || got != c.want {
				t.Errorf("%v, %q, want %q", err, got, c.want)
			}
		})
	}
}

// TestValkeySentinel checks whom a new sentinel takes for the primary, and that a sentinel that knows it
// keeps that, the members that are still declared, and nothing else.
func TestValkeySentinel(t *testing.T) {
	const (
		template = "sentinel announce-ip @OWN@\nsentinel monitor kolla @PRIMARY@ 6379 2\nsentinel auth-pass kolla \"new\"\n"
		first    = "sentinel announce-ip vk-sentinel-0.ns\nsentinel monitor kolla vk-server-0.ns 6379 2\nsentinel auth-pass kolla \"new\"\n"
		state    = `sentinel config-epoch kolla 3
sentinel leader-epoch kolla 3
sentinel known-replica kolla vk-server-0.ns 6379
sentinel known-sentinel kolla vk-sentinel-1.ns 26379 8
sentinel current-epoch 3
sentinel myid 7
`
		gone = "sentinel known-replica kolla vk-server-3.ns 6379\nsentinel known-sentinel kolla vk-sentinel-3.ns 26379 9\n"
		old  = "sentinel monitor kolla vk-server-1.ns 6379 3\nsentinel auth-pass kolla \"old\"\nsentinel down-after-milliseconds kolla 1\n"
	)
	for name, c := range map[string]struct {
		answers     map[string]string
		known, want string
	}{
		"the first of all":  {nil, "", first},
		"new beside others": {map[string]string{"vk-sentinel-1.ns": "vk-server-2.ns\n"}, "", strings.ReplaceAll(first, "server-0", "server-2")},
		"all sentinels are new": {
			map[string]string{"vk-server-1.ns": "role:master\n", "vk-server-2.ns": "master_host:vk-server-1.ns\r\n"},
			"", strings.ReplaceAll(first, "server-0", "server-1"),
		},
		"started again": {
			map[string]string{"vk-sentinel-1.ns": "vk-server-2.ns\n"},
			old + gone + state, strings.ReplaceAll(first, "server-0", "server-1") + state,
		},
	} {
		t.Run(name, func(t *testing.T) {
			dir := valkeyEnv(t)
			files := map[string]string{"template": template, "sentinel.conf": c.known}
			for host, answer := range c.answers {
				files["answer-"+host] = answer
			}
			for file, text := range files {
				if err := os.WriteFile(filepath.Join(dir, file), []byte(text), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			got, err := runScript(t, "valkey/sentinel.sh", map[string]string{
				"uname": "echo vk-sentinel-0", "getent": "", "valkey-cli": valkeyCLI, "valkey-sentinel": `cat "$1"`,
			})
			if err != nil || got != c.want {
				t.Errorf("%v, %q, want %q", err, got, c.want)
			}
		})
	}
}

// TestValkeyReady checks that a replica is ready when it has the data of the primary.
func TestValkeyReady(t *testing.T) {
	for answer, want := range map[string]bool{
		"role:master":                              true,
		"role:slave\nmaster_link_status:up":        true,
		"role:slave\nmaster_link_status:down":      false,
		"NOAUTH Authentication required.":          false,
		"Could not connect to Valkey at 127.0.0.1": false,
	} {
		t.Setenv("PORT", "6379")
		if _, err := runScript(t, "valkey/ready.sh", map[string]string{"cat": secretCat, "valkey-cli": "echo '" + answer + "'"}); (err == nil) != want {
			t.Errorf("%s: ready %t, want %t", strings.ReplaceAll(answer, "\n", ", "), err == nil, want)
		}
	}
}
