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
		case refused && (len(diags) != 1 || !strings.Contains(diags[0].Detail, fmt.Sprintf("not %d.", replicas)) || diags[0].Subject.Start.Line != 3):
			t.Errorf("%d members: %v, want one error with the reason at the service", replicas, diags)
		}
	}
}

// TestGaleraMember checks when a member of MariaDB's cluster starts, waits, joins or stops, by what
// the other members tell.
func TestGaleraMember(t *testing.T) {
	const (
		own     = "11111111-2222-3333-4444-555555555555"
		other   = "66666666-2222-3333-4444-555555555555"
		nobody  = "00000000-0000-0000-0000-000000000000"
		begins  = "serves --wsrep-new-cluster"
		joins   = "serves"
		waits   = ""
		state   = "uuid:    %s\nseqno:   %d\n"
		primary = "1 runs %s %d primary ready"
	)
	of := func(uuid string, seqno int) map[string]string {
		return map[string]string{"mysql/db.frm": "", "grastate.dat": fmt.Sprintf(state, uuid, seqno)}
	}
	data := func(number int, uuid string, seqno int) string {
		return fmt.Sprintf("%d data %s %d", number, uuid, seqno)
	}
	with := func(files map[string]string, name string) map[string]string {
		files[name] = ""
		return files
	}
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
		"two histories, forced":   {volume: of(own, 7), told: [2]string{data(1, own, 7), data(2, other, 9)}, forced: own + ":7", want: begins},
		"forced, another member":  {volume: of(own, 7), told: [2]string{data(1, own, 7), data(2, other, 9)}, forced: own + ":8", want: waits},
		"volume lost, forced":     {volume: of(own, 7), told: [2]string{"", empty2}, forced: own + ":7", want: begins},
		"empty, forced":           {told: [2]string{"", ""}, forced: "-:-1", want: waits},
		"copy not complete":       {volume: with(of(own, 7), ".sst/ibdata1"), told: [2]string{data(1, own, 3), empty2}, want: waits},
		"no complete copy":        {volume: with(of(own, 7), ".sst/ibdata1"), told: [2]string{empty1, empty2}, want: waits, said: "No member has complete data"},
		"joins":                   {volume: of(own, 7), told: [2]string{fmt.Sprintf(primary, own, 9), ""}, want: joins},
		"joins after a cut":       {volume: of(own, -1), told: [2]string{fmt.Sprintf(primary, own, 9), ""}, position: own + ":8", want: joins + " --wsrep-start-position=" + own + ":8"},
		"joins empty":             {told: [2]string{fmt.Sprintf(primary, own, 9), ""}, want: joins, state: nobody},
		"joins with half a copy":  {volume: with(of(own, 7), ".sst/ibdata1"), told: [2]string{fmt.Sprintf(primary, own, 9), ""}, want: joins, state: nobody},
		"no cluster that works":   {volume: of(own, 7), told: [2]string{"1 runs " + own + " 9 waits", data(2, own, 8)}, want: waits},
		"ahead of the cluster":    {volume: of(own, 7), told: [2]string{fmt.Sprintf(primary, own, 6), ""}, want: waits, said: "would be lost"},
		"of another history":      {volume: of(own, 7), told: [2]string{fmt.Sprintf(primary, other, 9), ""}, want: waits, said: "would be lost"},
		"discards its data":       {volume: of(own, 7), told: [2]string{fmt.Sprintf(primary, other, 9), ""}, discard: true, want: joins, state: nobody},
		"single, another cluster": {volume: map[string]string{"mysql/db.frm": ""}, told: [2]string{fmt.Sprintf(primary, other, 9), ""}, want: waits, said: "would be lost"},
		"was alone":               {volume: with(of(own, 7), "alone"), told: [2]string{data(1, own, 7), data(2, own, 7)}, want: begins, state: "seqno:   8"},
		"was alone, after a cut":  {volume: with(of(own, -1), "alone"), told: [2]string{data(1, own, 7), empty2}, position: own + ":7", want: begins, state: "seqno:   8"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m := newFakeMember(t, c.volume, c.told)
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
		})
	}
}

// fakeMember is member 0 of a cluster, with a server that ends at once.
type fakeMember struct {
	*testing.T
	dir string
}

func newFakeMember(t *testing.T, volume map[string]string, told [2]string) fakeMember {
	m := fakeMember{t, t.TempDir()}
	for _, dir := range []string{"bin", "volume", "run"} {
		if err := os.Mkdir(filepath.Join(m.dir, dir), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	for name, content := range volume {
		m.write("volume/"+name, content)
	}
	for i, line := range told {
		m.write(fmt.Sprintf("told-%d", i+1), strings.TrimPrefix(line+"\n", "\n"))
	}
	for name, text := range map[string]string{
		// The second round is the last: a member that still waits then goes on waiting.
		"sleep": `grep -q ' runs ' run/state && exec sleep.real 60
test "$1" = 1 || exit 0
count=$(cat rounds 2> /dev/null); echo "x$count" > rounds
case $count in xx*) touch waited; exec sleep.real 60 ;; esac
cp forced run/begin
cp discarded run/discard 2> /dev/null || true`,
		"date": `now=$(cat now 2> /dev/null || echo 0); echo $((now + 100)) | tee now`,
		"socat": `case $* in
*LISTEN*) exec sleep.real 60 ;;
*/dev/null*) exit 1 ;;
esac
member=${2#TCP:db-}; cat "told-${member%%.*}"`,
		"mariadbd": `case $* in
*--wsrep-recover*) cat recover; exit ;;
esac
shift 3 # what all members have
for arg; do case $arg in --wsrep-sst*) ;; *) set="$set $arg" ;; esac; done
echo "serves$set" >> did`,
		"mariadb": "",
	} {
		m.write("bin/"+name, "#!/bin/sh\ncd '"+m.dir+"'\n"+text+"\n")
	}
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

// run runs the script until the server has ended or the member waits. It returns what the script
// did, or "fails", and its log.
func (m fakeMember) run() (did, said string) {
	m.Helper()
	source, err := fs.ReadFile(openstack.Catalogue(), "mariadb/member.sh")
	if err != nil {
		m.Fatal(err)
	}
	script := strings.NewReplacer("/var/lib/mysql", m.dir+"/volume", "/run/mysqld", m.dir+"/run").Replace(string(source))
	log, err := os.Create(filepath.Join(m.dir, "log"))
	if err != nil {
		m.Fatal(err)
	}
	defer func() { _ = log.Close() }()
	sh := exec.CommandContext(m.Context(), "sh", "-ec", script, "member", "mkdir mysql; echo installs >> "+m.dir+"/did")
	sh.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	sh.Stdout, sh.Stderr = log, log
	sh.Env = []string{
		"PATH=" + m.dir + "/bin:" + os.Getenv("PATH"), "HOSTNAME=db-0", "MEMBERS=db-0.db.ns db-1.db.ns db-2.db.ns",
		"POD_IP=192.0.2.1", "CLIENT_PORT=3306", "STATE_PORT=4566", "GROUP_PORT=4567", "COPY_PORT=4444",
	}
	if err := sh.Start(); err != nil {
		m.Fatal(err)
	}
	end := make(chan error, 1)
	go func() { end <- sh.Wait() }()
	defer func() { _ = syscall.Kill(-sh.Process.Pid, syscall.SIGKILL) }()
	fails := false
	for running := true; running; {
		select {
		case err = <-end:
			running, fails = false, err != nil
		case <-time.After(20 * time.Millisecond):
			if _, err := os.Stat(filepath.Join(m.dir, "waited")); err == nil {
				running = false
			}
		}
	}
	content, _ := os.ReadFile(filepath.Join(m.dir, "did"))
	text, err := os.ReadFile(log.Name())
	if err != nil {
		m.Fatal(err)
	}
	if did = strings.TrimSpace(string(content)); fails {
		did = strings.TrimSpace(did + " fails")
	}
	return did, string(text)
}
