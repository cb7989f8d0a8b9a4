package planner_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"

	"kolla.openstack.org/kolla/internal/present/report"
	"kolla.openstack.org/kolla/planner"
	"kolla.openstack.org/kolla/providers"
)

// shell has pods that answer as the test wants.
type shell struct {
	pods    []providers.Pod
	answers map[string]string // by pod
	fail    map[string]error
	broken  error // of listing the pods

	mu    sync.Mutex
	asked []string
}

func (s *shell) Pods(context.Context, *unstructured.Unstructured) ([]providers.Pod, error) {
	return s.pods, s.broken
}

func (s *shell) Exec(_ context.Context, pod types.NamespacedName, container string, command []string) (string, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.asked = append(s.asked, pod.String()+" "+container+" "+strings.Join(command, " "))
	return s.answers[pod.Name], s.fail[pod.Name]
}

// carrier is a DaemonSet that runs on a and b, of which the first carries something.
const carrier = "service.ovn/DaemonSet/ovn"

func carriers(t *testing.T, w *world) *shell {
	t.Helper()
	set := thing("apps/v1", "DaemonSet", "ovn")
	put(t, set, "true", "spec", "template", "spec", "nodeSelector", "role")
	w.add(carrier, set).Holds = "what others need (servers lose their network)"
	set = w.last()
	set.SetAnnotations(map[string]string{
		providers.AnnotationAddress: carrier,
		providers.AnnotationCarries: `{"what":"running servers","container":"ovn","command":["list","servers"]}`,
	})
	return &shell{
		pods: []providers.Pod{
			{Name: "ovn-a", Node: "a", Running: []string{"ovn"}},
			{Name: "ovn-b", Node: "b", Running: []string{"ovn"}},
			{Name: "ovn-unplaced"},
		},
		answers: map[string]string{"ovn-a": "web-2\n\n web-1 \nweb-2\n"},
	}
}

// TestCutOff checks that a plan that takes a workload away names what its pods carry, and
// the pods that could not be asked.
func TestCutOff(t *testing.T) {
	for name, test := range map[string]struct {
		change func(s *shell, set *unstructured.Unstructured)
		want   string // in the impact of the plan; empty: nothing
		asked  int
	}{
		"one carries":       {want: "running servers that would be cut off (2): a: web-1, web-2", asked: 2},
		"none carries":      {change: func(s *shell, _ *unstructured.Unstructured) { s.answers = nil }, asked: 2},
		"a node is down":    {change: func(s *shell, _ *unstructured.Unstructured) { s.pods[1].Down = true }, want: "running servers that would be cut off (at least 2): a: web-1, web-2; b: could not be asked: the node is down", asked: 1},
		"a container ended": {change: func(s *shell, _ *unstructured.Unstructured) { s.pods[0].Running = nil }, want: "running servers that may be cut off: a: could not be asked: container ovn of pod ovn-a does not run", asked: 1},
		"a command fails": {
			change: func(s *shell, _ *unstructured.Unstructured) {
				s.fail = map[string]error{"ovn-b": &providers.CommandError{Code: 1, Stderr: "no\nsocket"}}
			},
			want: "running servers that would be cut off (at least 2): a: web-1, web-2; b: could not be asked: the command ended with 1: no socket", asked: 2,
		},
		"nobody lists pods": {change: func(s *shell, _ *unstructured.Unstructured) { s.broken = errors.New("forbidden") }, want: "running servers that may be cut off: all nodes: could not be asked: forbidden"},
		"many": {
			change: func(s *shell, _ *unstructured.Unstructured) {
				s.answers["ovn-b"] = strings.Repeat(strings.Repeat("x", 300)+"\n", 3) + "a\nb\nc\nd\ne\n"
			},
			want: "running servers that would be cut off (8): a: web-1, web-2; b: a, b, c, d and 2 more", asked: 2,
		},
		"more than is read": {
			change: func(s *shell, _ *unstructured.Unstructured) {
				s.answers["ovn-a"] = ("web-1\nweb-2\n" + strings.Repeat("y", providers.MaxOutput))[:providers.MaxOutput]
			},
			want: "running servers that would be cut off (at least 3): a: web-1, web-2 and 1 more", asked: 2,
		},
		"nonsense": {
			change: func(_ *shell, set *unstructured.Unstructured) { annotate(set, providers.AnnotationCarries, "{}") },
			want:   "what it carries that may be cut off: all nodes: could not be asked: read the annotation kolla.openstack.org/carries of DaemonSet openstack/ovn: it has no command",
		},
		"nothing is said": {change: func(_ *shell, set *unstructured.Unstructured) { set.SetAnnotations(nil) }},
		"not kolla's":     {change: func(_ *shell, set *unstructured.Unstructured) { set.SetUID("another") }},
	} {
		t.Run(name, func(t *testing.T) {
			w := &world{}
			s := carriers(t, w)
			if test.change != nil {
				test.change(s, w.last())
			}
			in := w.input()
			in.Shell, in.DeleteData = s, []string{"*"}
			plan, problems, err := planner.Make(t.Context(), in)
			if err != nil || plan == nil {
				t.Fatal(err, problems)
			}
			var got string
			for _, impact := range report.ImpactOf(plan) {
				for _, line := range impact.Grave {
					if strings.Contains(line, "cut off") {
						got += line
					}
				}
			}
			if got != test.want || len(s.asked) != test.asked {
				t.Errorf("got  %s\nwant %s\nasked %q, want %d", got, test.want, s.asked, test.asked)
			}
			for _, call := range s.asked {
				if !strings.HasSuffix(call, " ovn list servers") || !strings.HasPrefix(call, "openstack/ovn-") {
					t.Errorf("asked %s", call)
				}
			}
		})
	}
}

func annotate(u *unstructured.Unstructured, key, value string) {
	annotations := u.GetAnnotations()
	annotations[key] = value
	u.SetAnnotations(annotations)
}

// TestRefusalNamesWhatIsCutOff checks that a plan that is not made, because nobody said that
// the workload may go, names what would be cut off.
func TestRefusalNamesWhatIsCutOff(t *testing.T) {
	const want = "    running servers that would be cut off (2):\n      a: web-1, web-2\n"
	w := &world{}
	s := carriers(t, w)
	in := w.input()
	in.Shell = s
	got := mustNotPlan(t, in)
	if !strings.Contains(got, want[2:26]) || !strings.Contains(got, "a: web-1, web-2\n\nTo keep it, put its declaration back. If you renamed the block, declare its new name in a moved block. To delete it with its data") {
		t.Errorf("undeclared: %s", got)
	}
	in.Destroy = true
	if got := mustNotPlan(t, in); !strings.Contains(got, "What would stop:\n\n  DaemonSet openstack/ovn: what others need (servers lose their network)\n"+want+"\n") {
		t.Errorf("destroyed: %s", got)
	}
}

// TestOthersAreNotAsked checks that a plan that leaves a workload where it is asks none of
// its pods, and one that takes it from a node asks there.
func TestOthersAreNotAsked(t *testing.T) {
	for name, test := range map[string]struct {
		labelled []string
		want     []string
	}{
		"all stay":      {labelled: []string{"a", "b"}},
		"one is left":   {labelled: []string{"b"}, want: []string{"openstack/ovn-a ovn list servers"}},
		"both are left": {want: []string{"openstack/ovn-a ovn list servers", "openstack/ovn-b ovn list servers"}},
	} {
		t.Run(name, func(t *testing.T) {
			w := &world{}
			s := carriers(t, w)
			set := thing("apps/v1", "DaemonSet", "ovn")
			put(t, set, "true", "spec", "template", "spec", "nodeSelector", "role")
			in := w.input(declared(carrier, set))
			for _, name := range []string{"a", "b"} {
				n := &unstructured.Unstructured{Object: map[string]any{"apiVersion": "v1", "kind": "Node"}}
				n.SetName(name)
				n.SetLabels(map[string]string{"role": "true"})
				w.add("cloud.c/Node/"+name, n).Partial = true
				w.last().SetLabels(n.GetLabels())
				owns(w.last(), providers.ManagerOf("prod", true), metav1.ManagedFieldsOperationApply, then, `{"f:metadata":{"f:labels":{"f:role":{}}}}`)
				if slices.Contains(test.labelled, name) {
					o := declared("cloud.c/Node/"+name, n)
					o.Partial = true
					in.Objects = append(in.Objects, o)
				}
			}
			in.Shell = s
			plan, problems, err := planner.Make(t.Context(), in)
			if err != nil || plan == nil {
				t.Fatal(err, problems)
			}
			slices.Sort(s.asked)
			if diff := cmp.Diff(test.want, s.asked); diff != "" {
				t.Errorf("asked (-want +got):\n%s", diff)
			}
		})
	}
}
