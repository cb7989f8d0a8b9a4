package change

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"kolla.openstack.org/kolla/internal/run/backup"
	"kolla.openstack.org/kolla/providers"
	"kolla.openstack.org/kolla/state"
)

// part returns the restore of a workload with an image.
func part(address, what, image string, offline bool) *backup.Part {
	live := &unstructured.Unstructured{Object: map[string]any{"spec": map[string]any{"template": map[string]any{"spec": map[string]any{
		"containers": []any{map[string]any{"name": "main", "image": "db:2"}},
	}}}}}
	return &backup.Part{
		Workload: backup.Workload{Address: address, Live: live, Backup: &providers.Backup{Container: "main", Offline: offline, Mismatch: "New " + what + " are gone."}},
		Item:     backup.Item{Address: address, What: what, Image: image, Unpacked: 386_100_000},
		Members:  3,
	}
}

// TestPrintRestore checks that a restore says what it replaces and how old that is, what stops, what will not
// fit, which images differ, and what is left out; and that texts of a manifest stay in their line.
func TestPrintRestore(t *testing.T) {
	const db, files = "service.db/StatefulSet/db-server", "service.files/StatefulSet/files-api"
	began := time.Now().Add(-130 * time.Minute)
	parts := []*backup.Part{part(db, "databases", "db:2", true), part(files, "files", "db:1\nNo changes.", false)}
	r := &backup.Restore{Name: "prod-20261127T221500Z", Parts: parts, Manifest: &backup.Manifest{
		Cloud: "prod", Release: "2025.1-rocky-9", Began: began,
		Items: []backup.Item{parts[0].Item, parts[1].Item, {Address: "service.net/StatefulSet/net", What: "networks", Image: "net:1"}, {Address: "state", What: "state"}},
	}}
	st := &state.State{Objects: []state.Object{
		{Address: "service.db/Job/db-upgrade-0123456789", Kind: "Job", DependsOn: []string{db}},
		{Address: "service.nova/Job/nova-sync-0123456789", Kind: "Job", Ready: true, DependsOn: []string{db}},
		{Address: "service.keystone/Job/keystone-create-0123456789", Kind: "Job", Ready: true, DependsOn: []string{db}},
		{Address: "service.keystone/Job/keystone-sync-0123456789", Kind: "Job", DependsOn: []string{db}},
		{Address: "service.memcached/StatefulSet/memcached-server"},
	}}
	var out strings.Builder
	printRestore(&out, r, st)
	want := `
Backup prod-20261127T221500Z of cloud "prod", release 2025.1-rocky-9, was made at ` + began.Local().Format("2006-01-02 15:04 MST") + `: it is 2 h 10 min old.

service.db/StatefulSet/db-server
  Replaces the databases by those of the backup (386.1 MB).
  It is stopped (3 pods) after the data are in the cluster and checked, and started with them.
  Meanwhile these do not work: service.keystone and service.nova.
  New databases are gone.

service.files/StatefulSet/files-api
  Brings back the files (386.1 MB), while it runs.
  New files are gone.
  The backup was made with image db:1\nNo changes., and the present one is db:2.

service.net/StatefulSet/net
  The networks of the backup are left out: those of the cloud stay as they are.
`
	if diff := cmp.Diff(want, out.String()); diff != "" {
		t.Errorf("the restore (-want +got):\n%s", diff)
	}
	out.Reset()
	parts[0].Live.SetCreationTimestamp(metav1.NewTime(began.Add(time.Minute)))
	printRestore(&out, r, st)
	if want := "It is younger than the backup."; strings.Count(out.String(), want) != 1 || !strings.Contains(out.String(), "kolla apply -target=service.db.") {
		t.Errorf("a restore into a cloud that was made after the backup does not warn:\n%s", out.String())
	}
	r.Manifest.Jobs = []string{"service.nova/Job/nova-sync-0123456789"}
	if got, want := jobsSince(st, r.Manifest), []string{"service.keystone/Job/keystone-create-0123456789"}; !cmp.Equal(got, want) {
		t.Errorf("these jobs ran since: %v, want %v", got, want)
	}
}
