package main

import (
	"context"
	"encoding/json"
	"io"
	"os/exec"
	"strings"
	"time"

	"filippo.io/age"
	"github.com/rogpeppe/go-internal/testscript"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"

	"kolla.openstack.org/kolla/internal/run/backup"
	"kolla.openstack.org/kolla/providers"
)

// localShell runs the commands of a pod on this machine.
type localShell struct{}

func (localShell) Pods(context.Context, *unstructured.Unstructured) ([]providers.Pod, error) {
	return []providers.Pod{{Name: "mariadb-server-0", Ready: true}}, nil
}

func (localShell) Stream(ctx context.Context, _ types.NamespacedName, _ string, command []string, stdin io.Reader, stdout io.Writer) error {
	c := exec.CommandContext(ctx, command[0], command[1:]...)
	c.Stdin, c.Stdout = stdin, stdout
	return c.Run()
}

// makesBackup writes a backup of the cloud whose state is in the directory, as kolla does, but with a few
// bytes in place of the databases: makesbackup DIR PUBLIC RELEASE. PUBLIC and RELEASE are files.
func makesBackup(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 3 {
		ts.Fatalf("usage: makesbackup DIR PUBLIC RELEASE")
	}
	var st struct {
		Cloud   string
		Cluster struct{ UID string }
	}
	ts.Check(json.Unmarshal([]byte(ts.ReadFile("kolla.state.json")), &st))
	public := strings.TrimSpace(ts.ReadFile(args[1]))
	recipient, err := age.ParseX25519Recipient(public)
	ts.Check(err)
	target, err := backup.OpenDirectory(ts.MkAbs(args[0]), true)
	ts.Check(err)
	now := time.Now()
	about := backup.Manifest{
		Cloud: st.Cloud, Cluster: st.Cluster.UID, Release: strings.TrimSpace(ts.ReadFile(args[2])), Tool: "test", Began: now,
		Recipients: []string{public}, Jobs: []string{},
	}
	workload := backup.Workload{
		Address: "service.mariadb/StatefulSet/mariadb-server", Live: &unstructured.Unstructured{Object: map[string]any{}},
		Backup: &providers.Backup{What: "databases", Container: "server", Save: []string{"printf", "stream"}},
	}
	cluster := &backup.Cluster{Shell: localShell{}, Report: func(string, string) {}}
	_, err = backup.Save(context.Background(), cluster, target, backup.NameOf(st.Cloud, now), about, []backup.Workload{workload}, nil, []age.Recipient{recipient})
	ts.Check(err)
}
