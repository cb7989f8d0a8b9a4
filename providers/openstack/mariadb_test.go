package openstack_test

import (
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"kolla.openstack.org/kolla/lang"
	"kolla.openstack.org/kolla/providers/openstack"
)

// TestGalera compares the objects of a cluster of MariaDB with golden files, in each release.
func TestGalera(t *testing.T) {
	inEachRelease(t, "testdata/galera", "mariadb")
}

// TestGaleraMembers checks that a number of members that is worse than a smaller one is an error at
// the operator's service.
func TestGaleraMembers(t *testing.T) {
	for replicas, refused := range map[int]bool{0: true, 1: false, 2: true, 3: false, 4: true, 5: false, 7: true} {
		source := fmt.Sprintf("cloud \"c\" { release = \"2025.1\" }\n\nservice \"mariadb\" {\n  replicas = %d\n}\n", replicas)
		dir := t.TempDir()
		if err := os.WriteFile(filepath.Join(dir, "cloud.hcl"), []byte(source), 0o600); err != nil {
			t.Fatal(err)
		}
		_, diags := lang.Load(dir, lang.Options{Catalogue: openstack.Catalogue()})
		switch {
		case !refused && diags.HasErrors():
			t.Errorf("%d members: %s", replicas, diags)
		case refused && (len(diags) != 1 || !strings.Contains(diags[0].Detail, fmt.Sprintf("not %d: ", replicas)) || diags[0].Subject.Start.Line != 3):
			t.Errorf("%d members: %v, want one error with the reason at the service", replicas, diags)
		}
	}
}

// TestGaleraMember checks when a member of MariaDB's cluster starts, waits, joins or stops, by what
// the other members tell.
func TestGaleraMember(t *testing.T) {
	const (
		own    = "11111111-2222-3333-4444-555555555555"
		other  = "66666666-2222-3333-4444-555555555555"
		nobody = "00000000-0000-0000-0000-000000000000"
		begins = "serves --wsrep-new-cluster"
		joins  = "serves"
		waits  = ""
		state  = "uuid:    %s\nseqno:   %d\n"
		ready  = "1 runs %s %d - ready"
	)
	of := func(uuid string, seqno int) map[string]string {
		return map[string]string{"mysql/db.frm": "", "grastate.dat": fmt.Sprintf(state, uuid, seqno)}
	}
	data := func(number int, uuid string, seqno int) string {
		return fmt.Sprintf("%d data %s %d", number, uuid, seqno)
	}
	with := func(files map[string]string, name, content string) map[string]string {
		files[name] = content
		return files
	}
	began := func(origin string) string { return "1 runs " + other + " 3 " + origin + " ready" }
	const empty1, empty2 = "1 empty - -1", "2 empty - -1"
	for name, c := range map[string]struct {
		volume   map[string]string // files of member 0
		told     [2]string         // what members 1 and 2 tell
		position string            // position that the server finds in its data
		forced   string            // content of the file begin
		discard  bool
		want     string
		said     string // part of the log
		state    string // part of grastate.dat afterwards
		gone     string // file of the volume that is not there afterwards
		origin   string // content of the file origin afterwards
	}{
		"all empty":               {told: [2]string{empty1, empty2}, want: "installs\n" + begins},
		"one is silent":           {told: [2]string{empty1, ""}, want: waits, said: "Those that do: 0 1."},
		"another has data":        {told: [2]string{empty1, data(2, own, 5)}, want: waits},
		"highest":                 {volume: of(own, 7), told: [2]string{data(1, own, 6), data(2, own, 5)}, want: begins, state: "safe_to_bootstrap: 1"},
		"lowest number":           {volume: of(own, 7), told: [2]string{data(1, own, 7), data(2, own, 7)}, want: begins},
		"not the highest":         {volume: of(own, 7), told: [2]string{data(1, own, 10), data(2, own, 9)}, want: waits},
		"a majority":              {volume: of(own, 7), told: [2]string{data(1, own, 7), ""}, want: waits, said: "Waits for all"},
		"power cut":               {volume: of(own, -1), told: [2]string{data(1, own, 8), empty2}, position: own + ":9,0-1-2", want: begins + " --wsrep-start-position=" + own + ":9"},
		"cut before the first":    {volume: of(own, -1), told: [2]string{empty1, empty2}, position: nobody + ":-1", want: begins + " --wsrep-start-position=" + own + ":0"},
		"position unreadable":     {volume: of(own, -1), told: [2]string{empty1, empty2}, want: "fails", said: "cannot be read"},
		"single, others empty":    {volume: map[string]string{"mysql/db.frm": ""}, told: [2]string{empty1, empty2}, want: begins},
		"single, others not":      {volume: map[string]string{"mysql/db.frm": ""}, told: [2]string{data(1, own, 4), empty2}, want: waits, said: "different data"},
		"two histories":           {volume: of(own, 7), told: [2]string{data(1, own, 7), data(2, other, 9)}, want: waits, said: "echo " + own + ":7 > "},
		"two histories, forced":   {volume: of(own, 7), told: [2]string{data(1, own, 7), data(2, other, 9)}, forced: own + ":7", want: begins, gone: "grastate.dat", origin: own + ":7\n"},
		"forced, another member":  {volume: of(own, 7), told: [2]string{data(1, own, 7), data(2, other, 9)}, forced: own + ":8", want: waits},
		"volume lost, forced":     {volume: of(own, 7), told: [2]string{"", empty2}, forced: own + ":7", want: begins, gone: "grastate.dat", origin: own + ":7\n"},
		"cut, forced":             {volume: of(own, -1), told: [2]string{"", empty2}, position: own + ":7", forced: own + ":7", want: begins, gone: "grastate.dat", origin: own + ":7\n"},
		"empty, forced":           {told: [2]string{"", ""}, forced: "-:-1", want: waits},
		"copy not complete":       {volume: with(of(own, 7), ".sst/ibdata1", ""), told: [2]string{data(1, own, 3), empty2}, want: waits},
		"no complete copy":        {volume: with(of(own, 7), ".sst/ibdata1", ""), told: [2]string{empty1, empty2}, want: waits, said: "No member has complete data"},
		"joins":                   {volume: of(own, 7), told: [2]string{fmt.Sprintf(ready, own, 9), ""}, want: joins},
		"joins after a cut":       {volume: of(own, -1), told: [2]string{fmt.Sprintf(ready, own, 9), ""}, position: own + ":8", want: joins + " --wsrep-start-position=" + own + ":8"},
		"joins empty":             {told: [2]string{fmt.Sprintf(ready, own, 9), ""}, want: joins, state: nobody},
		"joins with half a copy":  {volume: with(of(own, 7), ".sst/ibdata1", ""), told: [2]string{fmt.Sprintf(ready, own, 9), ""}, want: joins, state: nobody},
		"no cluster that works":   {volume: of(own, 7), told: [2]string{"1 runs " + own + " 9 - waits", data(2, own, 8)}, want: waits},
		"ahead of the cluster":    {volume: of(own, 7), told: [2]string{fmt.Sprintf(ready, own, 6), ""}, want: waits, said: "would be lost"},
		"of another history":      {volume: of(own, 7), told: [2]string{fmt.Sprintf(ready, other, 9), ""}, want: waits, said: "would be lost"},
		"discards its data":       {volume: with(of(own, 7), "origin", other+":1"), told: [2]string{fmt.Sprintf(ready, other, 9), ""}, discard: true, want: joins, state: nobody, gone: "origin"},
		"single, another cluster": {volume: map[string]string{"mysql/db.frm": ""}, told: [2]string{fmt.Sprintf(ready, other, 9), ""}, want: waits, said: "would be lost"},
		"one at two addresses":    {volume: of(own, 7), told: [2]string{data(2, own, 6), data(2, own, 6)}, want: waits, said: "Waits for all"},
		"empty, no command":       {told: [2]string{empty1, ""}, want: waits, said: "Those that do: 0 1.\n"},
		"data begun elsewhere":    {volume: of(own, 7), told: [2]string{began(own + ":7"), ""}, want: joins, state: nobody},
		"more than was begun":     {volume: of(own, 8), told: [2]string{began(own + ":7"), ""}, want: waits, said: "would be lost"},
		"another was begun":       {volume: of(own, 8), told: [2]string{began(nobody + ":9"), ""}, want: waits, said: "would be lost"},
		"the second knows":        {volume: of(own, 7), told: [2]string{began("-"), "2 runs " + other + " 3 " + own + ":7 ready"}, want: joins, state: nobody},
		"was alone":               {volume: map[string]string{"mysql/db.frm": "", "origin": own + ":7\n", "galera.cache": ""}, told: [2]string{data(1, own, 7), data(2, own, 5)}, want: begins, gone: "galera.cache", origin: own + ":7\n"},
		"was alone, others wrote": {volume: map[string]string{"mysql/db.frm": "", "origin": own + ":7\n"}, told: [2]string{data(1, own, 8), empty2}, want: waits, said: "different data"},
		"another was alone":       {volume: of(own, 7), told: [2]string{"1 single " + own + " 7", empty2}, want: waits},
		"cut as it began":         {volume: with(of(other, -1), "origin", own+":7\n"), told: [2]string{data(1, own, 7), empty2}, position: own + ":7", want: begins, gone: "grastate.dat", origin: own + ":7\n"},
		"broken file":             {volume: map[string]string{"mysql/db.frm": "", "grastate.dat": ""}, told: [2]string{data(1, own, 6), empty2}, position: own + ":7", want: begins + " --wsrep-start-position=" + own + ":7"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m := newFakeMember(t, 0, c.volume, c.told)
			m.write("recover", "WSREP: Recovered position: "+c.position)
			if c.position == "" {
				m.write("recover", "InnoDB: the disk is full")
			}
			m.write("forced", c.forced)
			if c.discard {
				m.write("discarded", "yes")
			}
			got, said := m.run()
			if got != c.want {
				t.Errorf("got %q, want %q\n%s", got, c.want, said)
			}
			if !strings.Contains(said, c.said) {
				t.Errorf("the log is %q, want %q in it", said, c.said)
			}
			if content, _ := os.ReadFile(filepath.Join(m.dir, "volume/grastate.dat")); !strings.Contains(string(content), c.state) {
				t.Errorf("grastate.dat is %q, want %q in it", content, c.state)
			}
			if _, err := os.Stat(filepath.Join(m.dir, "volume", c.gone)); c.gone != "" && err == nil {
				t.Errorf("%s is there", c.gone)
			}
			if content, _ := os.ReadFile(filepath.Join(m.dir, "volume/origin")); c.origin != "" && string(content) != c.origin {
				t.Errorf("origin is %q, want %q", content, c.origin)
			}
		})
	}
}

// TestGaleraFirst checks that members that wait are ready while the first one still runs without a
// cluster, and only then: a StatefulSet replaces the first one when all others are ready. They may have
// data of an earlier cluster.
func TestGaleraFirst(t *testing.T) {
	for _, first := range []string{"", "runs alone"} {
		for _, volume := range []map[string]string{nil, {"mysql/db.frm": "", "grastate.dat": "uuid:    a\nseqno:   5\n"}} {
			m := newFakeMember(t, 1, volume, [2]string{"", "2 empty - -1"})
			m.write("first", first)
			if did, said := m.run(); did != "" {
				t.Errorf("got %q\n%s", did, said)
			}
			if _, err := os.Stat(filepath.Join(m.dir, "run/after-the-first")); (err == nil) != (first != "") {
				t.Errorf("first %q, volume %v: %v", first, volume, err)
			}
		}
	}
}

// galeraStatus is how a server tells that it is part of a cluster.
const galeraStatus = "wsrep_cluster_state_uuid\th\nwsrep_last_committed\t9\nwsrep_cluster_status\t%s\nwsrep_ready\t%s\nwsrep_local_state\t%d\n"

// TestGaleraRuns checks what a member that runs tells, and that it counts as alive while its cluster
// works. When it is told to stop, it tells so before its server stops.
func TestGaleraRuns(t *testing.T) {
	synced := fmt.Sprintf(galeraStatus, "Primary", "ON", 4)
	for name, c := range map[string]struct {
		status string // of the server, after it was in sync
		want   string
		alive  bool
	}{
		"in sync":      {synced, "0 runs h 9 - ready", true},
		"gives a copy": {fmt.Sprintf(galeraStatus, "Primary", "ON", 2), "0 runs h 9 - ready", true},
		"catches up":   {fmt.Sprintf(galeraStatus, "Primary", "ON", 3), "0 runs h 9 - waits", true},
		"cut off":      {fmt.Sprintf(galeraStatus, "non-Primary", "OFF", 0), "0 runs h 9 - waits", false},
		"no answer":    {"", "0 runs - -1 - waits", false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m := newFakeMember(t, 0, map[string]string{"mysql/db.frm": ""}, [2]string{"1 empty - -1", "2 empty - -1"})
			m.write("status", synced)
			m.write("runs", "")
			sh, end := m.start()
			is := func(want string) {
				t.Helper()
				var got []byte
				for deadline := time.Now().Add(time.Minute); time.Now().Before(deadline); time.Sleep(10 * time.Millisecond) {
					if got, _ = os.ReadFile(filepath.Join(m.dir, "run/state")); string(got) == want+"\n" {
						return
					}
				}
				t.Fatalf("the member tells %q, want %q", got, want)
			}
			is("0 runs h 9 - ready")
			m.write("status.new", c.status)
			if err := os.Rename(filepath.Join(m.dir, "status.new"), filepath.Join(m.dir, "status")); err != nil {
				t.Fatal(err)
			}
			is(c.want)
			seen := filepath.Join(m.dir, "run/seen")
			for range 2 { // what began before the answer changed
				_ = os.Remove(seen)
				m.await("rounds", 3)
			}
			if _, err := os.Stat(seen); (err == nil) != c.alive {
				t.Errorf("alive %t: %v", c.alive, err)
			}
			if err := sh.Process.Signal(syscall.SIGTERM); err != nil {
				t.Fatal(err)
			}
			if err := <-end; err != nil {
				t.Error(err)
			}
			if content, _ := os.ReadFile(filepath.Join(m.dir, "told-at-the-end")); string(content) != "0 runs - -1 - waits\n" {
				t.Errorf("the member told %q when its server stopped", content)
			}
		})
	}
}

// TestGaleraJoins checks that a member that joins counts as alive while it gets a copy or catches up, and
// not after its server has given up: Galera then wants the server to be started again.
func TestGaleraJoins(t *testing.T) {
	for name, c := range map[string]struct {
		status string
		alive  bool
	}{
		"gets a copy": {"", true},
		"catches up":  {fmt.Sprintf(galeraStatus, "Primary", "OFF", 1), true},
		"gave up":     {fmt.Sprintf(galeraStatus, "Disconnected", "OFF", 0), false},
		"left alone":  {fmt.Sprintf(galeraStatus, "non-Primary", "OFF", 0), false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m := newFakeMember(t, 0, nil, [2]string{"1 runs h 9 - ready", "2 runs h 9 - ready"})
			m.write("status", c.status)
			m.write("runs", "")
			m.start()
			seen := filepath.Join(m.dir, "run/seen")
			for range 2 { // what began before the server did
				m.await("rounds", 3)
				_ = os.Remove(seen)
			}
			m.await("rounds", 3)
			if _, err := os.Stat(seen); (err == nil) != c.alive {
				t.Errorf("alive %t: %v", c.alive, err)
			}
		})
	}
}

// TestGaleraAlone checks that the data of a cluster's member start a history of their own when it goes on
// alone, and that those of a half-received copy do not start.
func TestGaleraAlone(t *testing.T) {
	const state = "# GALERA saved state\nversion: 2.1\nuuid:    %s\nseqno:   %d\nsafe_to_bootstrap: 0\n"
	for name, c := range map[string]struct {
		volume map[string]string
		want   string // content of the file origin
		fails  bool
	}{
		"never in a cluster": {volume: map[string]string{}},
		"stopped":            {volume: map[string]string{"grastate.dat": fmt.Sprintf(state, "own", 12)}, want: "own:12\n"},
		"again":              {volume: map[string]string{"origin": "own:12\n"}, want: "own:12\n"},
		"killed":             {volume: map[string]string{"grastate.dat": fmt.Sprintf(state, "own", -1)}},
		"no copy":            {volume: map[string]string{"grastate.dat": fmt.Sprintf(state, "00000000-0000-0000-0000-000000000000", -1)}, fails: true},
		"a part of a copy":   {volume: map[string]string{"grastate.dat": fmt.Sprintf(state, "own", -1), ".sst/ibdata1": ""}, fails: true},
	} {
		t.Run(name, func(t *testing.T) {
			m := newFakeMember(t, 0, c.volume, [2]string{})
			m.write("password", "secret")
			out, err := m.script("root.sh").CombinedOutput()
			if (err != nil) != c.fails {
				t.Fatalf("%v\n%s", err, out)
			}
			did, _ := os.ReadFile(filepath.Join(m.dir, "did"))
			if (len(did) > 0) == c.fails {
				t.Errorf("the server did %q", did)
			}
			if c.fails {
				return
			}
			got, _ := os.ReadFile(filepath.Join(m.dir, "volume/origin"))
			if _, err := os.Stat(filepath.Join(m.dir, "volume/grastate.dat")); string(got) != c.want || err == nil {
				t.Errorf("origin is %q, want %q; grastate.dat: %v", got, c.want, err)
			}
		})
	}
}

// fakeMember is a member of a cluster, with a server that ends at once, or runs if the file runs is
// there.
type fakeMember struct {
	*testing.T
	dir    string
	number int
}

// newFakeMember makes member number of three. told are the answers of the others.
func newFakeMember(t *testing.T, number int, volume map[string]string, told [2]string) fakeMember {
	t.Helper()
	m := fakeMember{t, t.TempDir(), number}
	for _, dir := range []string{"bin", "volume", "run"} {
		if err := os.Mkdir(filepath.Join(m.dir, dir), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	for name, content := range volume {
		m.write("volume/"+name, content)
	}
	for i, line := range told {
		if i >= number {
			i++
		}
		m.write(fmt.Sprintf("told-%d", i), strings.TrimPrefix(line+"\n", "\n"))
	}
	for name, text := range map[string]string{
		// The second round is the last: a member that still waits then goes on waiting.
		"sleep": `test "$1" -lt 60 || exec sleep.real 60
if test -e runs; then
  test "$1" -lt 10 || exec sleep.real 60 # the patience with a server that stops
  echo x >> rounds
  exec sleep.real 0.05
fi
grep -q ' runs ' run/state && exec sleep.real 60
test "$1" = 1 || exit 0
count=$(cat rounds 2> /dev/null); echo "x$count" > rounds
case $count in xx*) touch waited; exec sleep.real 60 ;; esac
cp forced run/begin
cp discarded run/discard 2> /dev/null || true`,
		"date": `now=$(cat now 2> /dev/null || echo 0); echo $((now + 100)) | tee now`,
		"socat": `case $* in
*LISTEN*) exec sleep.real 60 ;;
*/dev/null*) exec test -s first ;;
esac
member=${2#TCP:db-}; cat "told-${member%%.*}"`,
		"mariadbd": `case $* in
*--wsrep-recover*) cat recover; exit ;;
*--bootstrap*) echo sets >> did; exit ;;
esac
shift 3 # what all members have
for arg; do case $arg in --wsrep-sst*) ;; *) set="$set $arg" ;; esac; done
echo "serves$set" >> did
trap 'cp run/state told-at-the-end; exit 0' TERM
while test -e runs; do sleep.real 0.05; done`,
		"mariadb": `cat status 2> /dev/null || true`,
	} {
		m.write("bin/"+name, "#!/bin/sh\ncd '"+m.dir+"'\n"+text+"\n")
	}
	m.write("forced", "")
	m.write("first", "")
	sleep, err := exec.LookPath("sleep")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(sleep, filepath.Join(m.dir, "bin/sleep.real")); err != nil {
		t.Fatal(err)
	}
	return m
}

func (m fakeMember) write(name, content string) {
	m.Helper()
	file := filepath.Join(m.dir, name)
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		m.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(content), 0o700); err != nil {
		m.Fatal(err)
	}
}

// await waits until a file has got a number of lines more.
func (m fakeMember) await(name string, lines int) {
	m.Helper()
	count := func() int {
		content, _ := os.ReadFile(filepath.Join(m.dir, name))
		return strings.Count(string(content), "\n")
	}
	want := count() + lines
	for deadline := time.Now().Add(time.Minute); count() < want; time.Sleep(10 * time.Millisecond) {
		if time.Now().After(deadline) {
			m.Fatalf("%s has %d lines, want %d", name, count(), want)
		}
	}
}

// script returns a script of the catalogue as a command, with directories and programs of the test.
func (m fakeMember) script(name string, args ...string) *exec.Cmd {
	m.Helper()
	source, err := fs.ReadFile(openstack.Catalogue(), "mariadb/"+name)
	if err != nil {
		m.Fatal(err)
	}
	script := strings.NewReplacer("/var/lib/mysql", m.dir+"/volume", "/run/mysqld", m.dir+"/run", "/run/secrets/root/value", m.dir+"/password").Replace(string(source))
	sh := exec.CommandContext(m.Context(), "sh", append([]string{"-ec", script}, args...)...)
	sh.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	sh.Env = []string{
		"PATH=" + m.dir + "/bin:" + os.Getenv("PATH"), fmt.Sprintf("HOSTNAME=db-%d", m.number), "MEMBERS=db-0.db.ns db-1.db.ns db-2.db.ns",
		"POD_IP=192.0.2.1", "CLIENT_PORT=3306", "STATE_PORT=4566", "GROUP_PORT=4567", "COPY_PORT=4444",
	}
	return sh
}

// start starts the script of a member. All its processes end with the test.
func (m fakeMember) start() (sh *exec.Cmd, end <-chan error) {
	m.Helper()
	log, err := os.Create(filepath.Join(m.dir, "log"))
	if err != nil {
		m.Fatal(err)
	}
	defer func() { _ = log.Close() }()
	sh = m.script("member.sh", "member", "mkdir mysql; echo installs >> "+m.dir+"/did")
	sh.Stdout, sh.Stderr = log, log
	if err := sh.Start(); err != nil {
		m.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- sh.Wait() }()
	m.Cleanup(func() { _ = syscall.Kill(-sh.Process.Pid, syscall.SIGKILL) })
	return sh, ended
}

// run runs the script of a member until the server has ended or the member waits. It returns what the
// script did, or "fails", and its log.
func (m fakeMember) run() (did, said string) {
	m.Helper()
	sh, end := m.start()
	defer func() { _ = syscall.Kill(-sh.Process.Pid, syscall.SIGKILL) }()
	fails := false
	for running := true; running; {
		select {
		case err := <-end:
			running, fails = false, err != nil
		case <-time.After(20 * time.Millisecond):
			if _, err := os.Stat(filepath.Join(m.dir, "waited")); err == nil {
				running = false
			}
		}
	}
	content, _ := os.ReadFile(filepath.Join(m.dir, "did"))
	text, err := os.ReadFile(filepath.Join(m.dir, "log"))
	if err != nil {
		m.Fatal(err)
	}
	if did = strings.TrimSpace(string(content)); fails {
		did = strings.TrimSpace(did + " fails")
	}
	return did, string(text)
}
