package ownership

import (
	"context"
	"fmt"
	"reflect"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"

	"kolla.openstack.org/kolla/planner/fields"
	"kolla.openstack.org/kolla/planner/internal/outcome"
	"kolla.openstack.org/kolla/providers"
	"kolla.openstack.org/kolla/providers/kinds"
)

// AggregatedRules is the path of the field that a controller fills in for a ClusterRole with an
// aggregationRule: the rules of all ClusterRoles that the aggregationRule selects.
var AggregatedRules = fieldpath.MakePathOrDie("rules")

// Aggregated returns the rules that the controller gives to the live object. foreign: the object
// has other rules too. The controller leaves them there if it has none to give.
func Aggregated(ctx context.Context, snapshot *providers.Snapshot, o *outcome.Outcome) (given []any, foreign bool, err error) {
	kind := o.Live.GroupVersionKind()
	aggregation, aggregated := o.Live.Object["aggregationRule"].(map[string]any)
	have, _ := o.Live.Object["rules"].([]any)
	declared, _ := fields.Lookup(o.Object.Manifest.Object, AggregatedRules)
	if kind.GroupKind() != kinds.ClusterRole || !aggregated || len(have) == 0 || declared != nil && !fields.Empty(declared) {
		return nil, false, nil
	}
	if err := snapshot.Load(ctx, providers.Scope{GVK: kind}); err != nil {
		return nil, false, fmt.Errorf("find the rules that %s aggregates: %w", providers.RefOf(o.Live), err)
	}
	roles := snapshot.All(kind)
	slices.SortFunc(roles, func(a, b *unstructured.Unstructured) int { return strings.Compare(a.GetName(), b.GetName()) })
	for _, selector := range selectorsOf(aggregation) {
		for _, role := range roles {
			if role.GetName() == o.Live.GetName() || !selector.Matches(labels.Set(role.GetLabels())) {
				continue
			}
			more, _ := role.Object["rules"].([]any)
			for _, rule := range more {
				if !holds(given, rule) {
					given = append(given, rule)
				}
			}
		}
	}
	return given, slices.ContainsFunc(have, func(rule any) bool { return !holds(given, rule) }), nil
}

// selectorsOf returns the selectors of an aggregationRule. The controller ignores an aggregation
// with an invalid selector.
func selectorsOf(aggregation map[string]any) []labels.Selector {
	list, _ := aggregation["clusterRoleSelectors"].([]any)
	var selectors []labels.Selector
	for _, element := range list {
		var text metav1.LabelSelector
		content, _ := element.(map[string]any)
		if runtime.DefaultUnstructuredConverter.FromUnstructured(content, &text) != nil {
			return nil
		}
		selector, err := metav1.LabelSelectorAsSelector(&text)
		if err != nil {
			return nil
		}
		selectors = append(selectors, selector)
	}
	return selectors
}

func holds(rules []any, rule any) bool {
	return slices.ContainsFunc(rules, func(other any) bool { return reflect.DeepEqual(other, rule) })
}
