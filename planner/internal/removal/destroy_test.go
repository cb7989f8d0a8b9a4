package removal_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"

	"kolla.openstack.org/kolla/lang/addrs"
	"kolla.openstack.org/kolla/planner/internal/inventory"
	"kolla.openstack.org/kolla/planner/internal/removal"
	"kolla.openstack.org/kolla/providers"
	"kolla.openstack.org/kolla/state"
)

// TestDestroy checks that a destroy deletes the objects that the state proves to be kolla's. Labels
// prove nothing.
func TestDestroy(t *testing.T) {
	set := of("apps/v1", live("StatefulSet", "db"))
	set.Object["spec"] = map[string]any{
		"selector":             map[string]any{"matchLabels": map[string]any{"app": "db"}},
		"volumeClaimTemplates": []any{map[string]any{"metadata": map[string]any{"name": "data"}}},
	}
	volume := live("PersistentVolumeClaim", "data-db-0")
	bare := live("PersistentVolumeClaim", "data-db-0")
	bare.SetLabels(map[string]string{"app": "db"})
	unselected := live("PersistentVolumeClaim", "data-db-0")
	unselected.SetLabels(nil)
	again := volume.DeepCopy()
	again.SetUID("another")
	left := recordOf(volume)
	left.Left = true
	object := live("ConfigMap", "x")
	agent := of("apps/v1", live("DaemonSet", "agent"))
	needed := recordOf(agent)
	needed.Holds = "the network of servers"
	along := of("apps/v1", live("StatefulSet", "store"))
	along.Object["spec"] = map[string]any{
		"persistentVolumeClaimRetentionPolicy": map[string]any{"whenDeleted": "Delete"},
		"volumeClaimTemplates":                 []any{map[string]any{"metadata": map[string]any{"name": "data"}}},
	}
	holding := recordOf(along)
	holding.Holds = "the disks of servers"
	tests := map[string]struct {
		live     []*unstructured.Unstructured
		records  []state.Object
		allowed  string
		removed  string // a removed block that leaves the object
		want     []string
		kept     []string
		keepData bool
		atRisk   bool
		problem  string // part of its summary; empty: none
	}{
		"a workload that others need":                           {live: []*unstructured.Unstructured{agent}, records: []state.Object{needed}, want: []string{"delete agent"}, atRisk: true},
		"a workload that others need, named":                    {live: []*unstructured.Unstructured{agent}, records: []state.Object{needed}, allowed: "service.a", want: []string{"delete agent"}},
		"a workload that others need, but not with its volumes": {live: []*unstructured.Unstructured{along}, records: []state.Object{holding}, keepData: true, kept: []string{"store"}},
		"a workload that others need, when data stays":          {live: []*unstructured.Unstructured{agent}, records: []state.Object{needed}, keepData: true, want: []string{"delete agent"}},
		"volumes when data stays":                               {live: []*unstructured.Unstructured{set, volume}, records: []state.Object{recordOf(set)}, keepData: true, want: []string{"delete db"}, kept: []string{"data-db-0"}},
		"a recorded object":                                     {live: []*unstructured.Unstructured{object}, records: []state.Object{recordOf(object)}, want: []string{"delete x"}},
		"an object with a label":                                {live: []*unstructured.Unstructured{object}, problem: "the state does not know it"},
		"two with a label":                                      {live: []*unstructured.Unstructured{object, live("Service", "y")}, problem: "2 objects carry the label"},
		"volumes stay":                                          {live: []*unstructured.Unstructured{set, volume}, records: []state.Object{recordOf(set)}, want: []string{"delete db"}, kept: []string{"data-db-0"}},
		"volumes that may go":                                   {live: []*unstructured.Unstructured{set, volume}, records: []state.Object{recordOf(set)}, allowed: "*", want: []string{"delete data-db-0", "delete db"}},
		"volumes without label":                                 {live: []*unstructured.Unstructured{set, bare}, records: []state.Object{recordOf(set)}, allowed: "*", want: []string{"delete data-db-0", "delete db"}},
		"volumes of others":                                     {live: []*unstructured.Unstructured{set, unselected}, records: []state.Object{recordOf(set)}, allowed: "*", want: []string{"delete db"}},
		"volumes of an unknown StatefulSet":                     {live: []*unstructured.Unstructured{set, volume}, allowed: "*", problem: "StatefulSet openstack/db carries the label"},
		"volumes of a released StatefulSet":                     {live: []*unstructured.Unstructured{set, volume}, records: []state.Object{recordOf(set)}, removed: "service.a", allowed: "*", want: []string{"forget data-db-0", "forget db"}},
		"an unknown volume":                                     {live: []*unstructured.Unstructured{volume}, allowed: "*", kept: []string{"data-db-0 alone"}},
		"an unknown volume, named":                              {live: []*unstructured.Unstructured{volume}, allowed: "cloud.prod/PersistentVolumeClaim/data-db-0", want: []string{"delete data-db-0"}},
		"a volume left before":                                  {live: []*unstructured.Unstructured{volume}, records: []state.Object{left}, allowed: "*", want: []string{"delete data-db-0"}},
		"a volume left before, that stays":                      {live: []*unstructured.Unstructured{volume}, records: []state.Object{left}, kept: []string{"data-db-0"}},
		"a volume left before, used by others":                  {live: []*unstructured.Unstructured{set, volume}, records: []state.Object{left}, allowed: "*", problem: "StatefulSet openstack/db carries the label"},
		"a volume left before, made again":                      {live: []*unstructured.Unstructured{again}, records: []state.Object{left}, allowed: "*", kept: []string{"data-db-0 alone"}},
		"a volume left before, without its label":               {live: []*unstructured.Unstructured{unselected}, records: []state.Object{left}, allowed: "*"},
		"a volume left before, gone":                            {records: []state.Object{left}, want: []string{"forget data-db-0"}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			in := inventory.Input{Destroy: true, KeepData: test.keepData, State: &state.State{Objects: test.records}, Snapshot: providers.SnapshotOf(test.live...)}
			if test.allowed != "" {
				in.DeleteData = []string{test.allowed}
			}
			if test.removed != "" {
				in.Removals = []addrs.Removal{{From: target(t, test.removed)}}
			}
			got := removal.Destroy(index(t, in), nil)
			if diff := cmp.Diff(test.want, decided(got.Actions)); diff != "" {
				t.Errorf("actions (-want +got):\n%s", diff)
			}
			var kept []string
			for _, k := range got.Kept {
				name := k.Address.Name
				if k.Alone {
					name += " alone" // -delete-data='*' does not delete it
				}
				kept = append(kept, name)
			}
			if diff := cmp.Diff(test.kept, kept); diff != "" {
				t.Errorf("kept (-want +got):\n%s", diff)
			}
			if (len(got.AtRisk) > 0) != test.atRisk {
				t.Errorf("at risk: %v", got.AtRisk)
			}
			if (len(got.Problems) > 0) != (test.problem != "") || test.problem != "" && !strings.Contains(got.Problems[0].Summary, test.problem) {
				t.Errorf("problems %v, want %q", got.Problems, test.problem)
			}
		})
	}
}

// TestNamespaces checks that a namespace is deleted only if all its contents are deleted too, or if
// the operator named it and it contains nothing of kolla's.
func TestNamespaces(t *testing.T) {
	const at = "service.a/Namespace/extra"
	inside := func(name string, labels map[string]string) providers.Contents {
		o := metav1.PartialObjectMetadata{ObjectMeta: metav1.ObjectMeta{Namespace: "extra", Name: name, UID: types.UID(name), Labels: labels}}
		o.APIVersion, o.Kind = "v1", "ConfigMap"
		return providers.Contents{Objects: []metav1.PartialObjectMetadata{o}}
	}
	known := live("ConfigMap", "known")
	known.SetNamespace("extra")
	released := func(in *inventory.Input) {
		in.Removals = []addrs.Removal{{From: target(t, "service.a/ConfigMap/known")}}
	}
	tests := map[string]struct {
		inside  providers.Contents
		allowed string
		input   func(in *inventory.Input)
		want    string // what happens to the namespace; empty: it is refused, or kept
		holds   string
	}{
		"empty, not named":           {},
		"empty":                      {allowed: at, want: "delete", holds: "everything in it"},
		"empty, all may be lost":     {allowed: "*", want: "delete", holds: "everything in it"},
		"an object of others":        {allowed: at, inside: inside("theirs", nil), want: "delete", holds: "everything in it, with ConfigMap extra/theirs"},
		"an object of others, by *":  {allowed: "*", inside: inside("theirs", nil)},
		"an object that goes":        {allowed: "*", inside: inside("known", nil), want: "delete", holds: "everything in it"},
		"an object that is released": {allowed: at, inside: inside("known", nil), input: released},
		"only labelled":              {allowed: at, inside: inside("theirs", map[string]string{providers.LabelCloud: "prod"}), want: "delete", holds: "everything in it, with ConfigMap extra/theirs"},
		"what cannot be listed":      {allowed: "*", inside: providers.Contents{Unread: []providers.Unread{{What: "perhaps a Secret"}}}},
		"in a destroy":               {input: func(in *inventory.Input) { in.Destroy = true }, want: "delete", holds: "everything in it"},
		"in a destroy, of others":    {inside: inside("theirs", nil), input: func(in *inventory.Input) { in.Destroy = true }},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			namespace := live("Namespace", "extra")
			namespace.SetNamespace("")
			in := inventory.Input{
				State:    &state.State{Objects: []state.Object{recordOf(namespace), recordOf(known)}},
				Snapshot: providers.SnapshotOf(namespace, known),
			}
			if test.allowed != "" {
				in.DeleteData = []string{test.allowed}
			}
			if test.input != nil {
				test.input(&in)
			}
			inv := index(t, in)
			inv.Inside = map[string]providers.Contents{"extra": test.inside}
			decide := removal.Undeclared(inv, nil, nil, nil, nil)
			if in.Destroy {
				decide = removal.Destroy(inv, nil)
			}
			verb, holds := "", ""
			for _, a := range decide.Actions {
				if a.Address.Name != "extra" {
					continue
				}
				verb, holds = string(a.Verb), a.Holds
				if a.Occupied != strings.Contains(test.holds, ", with ") {
					t.Errorf("occupied: %v", a.Occupied)
				}
			}
			if verb != test.want || holds != test.holds {
				t.Errorf("%q, losing %q; want %q, %q", verb, holds, test.want, test.holds)
			}
			if said := len(decide.Problems) + len(decide.Kept); said != 1 && test.want == "" || said > 0 && test.want != "" {
				t.Errorf("problems %v, kept %v", decide.Problems, decide.Kept)
			}
		})
	}
}
