package ownership_test

import (
	"context"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"kolla.openstack.org/kolla/planner/internal/outcome"
	"kolla.openstack.org/kolla/planner/internal/ownership"
	"kolla.openstack.org/kolla/providers"
)

// roles is a Reader with the ClusterRoles of a cluster.
type roles struct {
	providers.Reader
	list []*unstructured.Unstructured
}

func (r roles) List(context.Context, schema.GroupVersionKind, string) ([]*unstructured.Unstructured, error) {
	return r.list, nil
}

// TestAggregated checks that the controller's rules of an aggregated ClusterRole are those of all
// ClusterRoles that its aggregationRule selects. Another client added any other rule.
func TestAggregated(t *testing.T) {
	const (
		pods  = `{"apiGroups": [""], "resources": ["pods"], "verbs": ["get"]}`
		nodes = `{"apiGroups": [""], "resources": ["nodes"], "verbs": ["get"]}`
	)
	role := func(name, more string) *unstructured.Unstructured {
		return object(t, `{"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRole", "metadata": {"name": "`+name+`", "labels": {"part": "yes"}}`+more+`}`)
	}
	const selects = `, "aggregationRule": {"clusterRoleSelectors": [{"matchLabels": {"part": "yes"}}]}`
	for name, test := range map[string]struct {
		declared, live string
		foreign        bool
		given          int
	}{
		"as given":                       {selects, selects + `, "rules": [` + pods + `]`, false, 1},
		"none yet":                       {selects, selects, false, 0},
		"one more":                       {selects, selects + `, "rules": [` + pods + `,` + nodes + `]`, true, 1},
		"another one":                    {selects, selects + `, "rules": [` + nodes + `]`, true, 1},
		"declared as empty":              {selects + `, "rules": []`, selects + `, "rules": [` + nodes + `]`, true, 1},
		"declared":                       {selects + `, "rules": [` + nodes + `]`, selects + `, "rules": [` + nodes + `]`, false, 0},
		"not aggregated":                 {"", `, "rules": [` + nodes + `]`, false, 0},
		"a selector that selects nobody": {selects, `, "aggregationRule": {"clusterRoleSelectors": [{"matchLabels": {"part": "no"}}]}, "rules": [` + pods + `]`, true, 0},
	} {
		t.Run(name, func(t *testing.T) {
			live := role("all", test.live)
			o := &outcome.Outcome{Object: &providers.Object{Manifest: role("all", test.declared)}, Live: live}
			reader := roles{list: []*unstructured.Unstructured{live, role("part", `, "rules": [`+pods+`,`+pods+`]`)}}
			given, foreign, err := ownership.Aggregated(t.Context(), providers.NewSnapshot(reader), o)
			if err != nil || foreign != test.foreign {
				t.Errorf("foreign %v, want %v: %v", foreign, test.foreign, err)
			}
			if diff := cmp.Diff(test.given, len(given)); diff != "" {
				t.Errorf("given rules (-want +got):\n%s", diff)
			}
		})
	}
}
