package cutoff_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"

	"kolla.openstack.org/kolla/internal/present/report"
	"kolla.openstack.org/kolla/internal/run/cutoff"
	"kolla.openstack.org/kolla/planner/plans"
	"kolla.openstack.org/kolla/providers"
)

// shell has pods whose answers the test chooses.
type shell struct {
	pods    []providers.Pod
	answers map[string]string // by pod
	fail    map[string]error
	broken  error // the error of listing the pods

	mu    sync.Mutex
	asked []string
}

func (s *shell) Pods(context.Context, *unstructured.Unstructured) ([]providers.Pod, error) {
	return slices.Clone(s.pods), s.broken
}

func (s *shell) Exec(_ context.Context, pod types.NamespacedName, container string, command []string) (string, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.asked = append(s.asked, pod.String()+" "+container+" "+strings.Join(command, " "))
	return s.answers[pod.Name], s.fail[pod.Name]
}

// TestCutOff checks that the impact names the items of the pods that stop, and the pods that could
// not be asked.
func TestCutOff(t *testing.T) {
	for name, test := range map[string]struct {
		change func(s *shell, set *unstructured.Unstructured, e *plans.Effect)
		want   string // in the impact of the plan; empty: nothing
		asked  int
	}{
		"one carries":    {want: "running servers that would be cut off (2): a: web-1, web-2", asked: 2},
		"none carries":   {change: func(s *shell, _ *unstructured.Unstructured, _ *plans.Effect) { s.answers = nil }, asked: 2},
		"of the nodes":   {change: func(_ *shell, _ *unstructured.Unstructured, e *plans.Effect) { e.Items = []string{"a"} }, want: "running servers that would be cut off (2): a: web-1, web-2", asked: 1},
		"of other nodes": {change: func(_ *shell, _ *unstructured.Unstructured, e *plans.Effect) { e.Items = []string{"b"} }, asked: 1},
		"a secret": {
			change: func(s *shell, _ *unstructured.Unstructured, _ *plans.Effect) {
				s.answers["ovn-a"], s.fail = "secret-1\n", map[string]error{"ovn-b": errors.New("secret")}
			},
			want: "running servers that would be cut off (at least 1): a: (hidden)-1; b: could not be asked: (hidden)", asked: 2,
		},
		"a node is down": {
			change: func(s *shell, _ *unstructured.Unstructured, _ *plans.Effect) { s.pods[1].Down = true },
			want:   "running servers that would be cut off (at least 2): a: web-1, web-2; b: could not be asked: the node is down", asked: 1,
		},
		"a container ended": {
			change: func(s *shell, _ *unstructured.Unstructured, _ *plans.Effect) { s.pods[0].Running = nil },
			want:   "running servers that may be cut off: a: could not be asked: container ovn of pod ovn-a does not run", asked: 1,
		},
		"a command fails": {
			change: func(s *shell, _ *unstructured.Unstructured, _ *plans.Effect) {
				s.fail = map[string]error{"ovn-b": &providers.CommandError{Code: 1, Stderr: "no\nsocket"}}
			},
			want: "running servers that would be cut off (at least 2): a: web-1, web-2; b: could not be asked: the command ended with 1: no socket", asked: 2,
		},
		"nobody lists pods": {
			change: func(s *shell, _ *unstructured.Unstructured, _ *plans.Effect) { s.broken = errors.New("forbidden") },
			want:   "running servers that may be cut off: all nodes: could not be asked: forbidden",
		},
		"many": {
			change: func(s *shell, _ *unstructured.Unstructured, _ *plans.Effect) {
				s.answers["ovn-b"] = strings.Repeat(strings.Repeat("x", 300)+"\n", 3) + "a\nb\nc\nd\ne\n"
			},
			want: "running servers that would be cut off (8): a: web-1, web-2; b: a, b, c, d and 2 more", asked: 2,
		},
		"more than is read": {
			change: func(s *shell, _ *unstructured.Unstructured, _ *plans.Effect) {
				s.answers["ovn-a"] = ("web-1\nweb-2\n" + strings.Repeat("y", providers.MaxOutput))[:providers.MaxOutput]
			},
			want: "running servers that would be cut off (at least 3): a: web-1, web-2 and 1 more", asked: 2,
		},
		"nonsense": {
			change: func(_ *shell, set *unstructured.Unstructured, _ *plans.Effect) {
				set.SetAnnotations(map[string]string{providers.AnnotationCarries: "{}"})
			},
			want: "running servers that may be cut off: all nodes: could not be asked: read the annotation kolla.openstack.org/carries of DaemonSet openstack/ovn: it has no command",
		},
	} {
		t.Run(name, func(t *testing.T) {
			set := &unstructured.Unstructured{Object: map[string]any{"apiVersion": "apps/v1", "kind": "DaemonSet"}}
			set.SetName("ovn")
			set.SetNamespace("openstack")
			set.SetAnnotations(map[string]string{providers.AnnotationCarries: `{"what":"running servers","container":"ovn","command":["list","servers"]}`})
			s := &shell{
				pods: []providers.Pod{
					{Name: "ovn-a", Node: "a", Running: []string{"ovn"}},
					{Name: "ovn-b", Node: "b", Running: []string{"ovn"}},
					{Name: "ovn-unplaced"},
				},
				answers: map[string]string{"ovn-a": "web-2\n\n web-1 \nweb-2\n"},
			}
			e := plans.Effect{Kind: plans.EffectCutOff, Name: "ovn", Ref: providers.RefOf(set), Data: "running servers", Grave: true}
			if test.change != nil {
				test.change(s, set, &e)
			}
			stop := plans.Impact{Block: "service.web", Effects: []plans.Effect{{Kind: plans.EffectStop, Name: "web", Pods: 1}}}
			plan := &plans.Plan{Impact: []plans.Impact{{Block: "service.ovn", Effects: []plans.Effect{e}}, stop}}
			impact, err := cutoff.Ask(t.Context(), s, 0, plan, func(ref providers.Ref) *unstructured.Unstructured {
				if ref == e.Ref {
					return set
				}
				return nil
			}, func(text string) string { return strings.ReplaceAll(text, "secret", "(hidden)") })
			if err != nil {
				t.Fatal(err)
			}
			var got string
			for _, block := range report.ImpactOf(&plans.Plan{Impact: impact}) {
				got += strings.Join(block.Grave, "")
			}
			blocks := 2
			if test.want == "" {
				blocks = 1
			}
			if got != test.want || len(s.asked) != test.asked || len(impact) != blocks {
				t.Errorf("got  %s\nwant %s\nasked %q, want %d; %d blocks", got, test.want, s.asked, test.asked, len(impact))
			}
			for _, call := range s.asked {
				if !strings.HasSuffix(call, " ovn list servers") || !strings.HasPrefix(call, "openstack/ovn-") {
					t.Errorf("asked %s", call)
				}
			}
			if plan.Impact[0].Effects[0].Carried != nil {
				t.Error("the answers changed the plan")
			}
		})
	}
}
