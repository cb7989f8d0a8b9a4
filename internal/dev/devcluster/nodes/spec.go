// Package nodes makes simulated nodes and plays their kubelets: it moves pods
// through their lives without running anything, and answers for their logs.
package nodes

import (
	"errors"
	"fmt"
	"strings"

	metav1validation "k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// Spec names a node and the labels it carries beside the usual ones.
type Spec struct {
	Name   string
	Labels map[string]string
}

// Numbered returns the nodes node-1 to node-n.
func Numbered(n int) []Spec {
	specs := make([]Spec, 0, n)
	for i := range n {
		specs = append(specs, Spec{Name: fmt.Sprintf("node-%d", i+1)})
	}
	return specs
}

// ParseSpec reads NAME or NAME=label=value,label=value.
func ParseSpec(text string) (Spec, error) {
	name, list, labelled := strings.Cut(text, "=")
	spec := Spec{Name: name}
	if problems := validation.IsDNS1123Subdomain(name); len(problems) > 0 {
		return Spec{}, fmt.Errorf("%q is no name for a node: %s", name, strings.Join(problems, "; "))
	}
	if !labelled {
		return spec, nil
	}
	spec.Labels = map[string]string{}
	for part := range strings.SplitSeq(list, ",") {
		key, value, ok := strings.Cut(part, "=")
		if !ok {
			return Spec{}, fmt.Errorf("%q is no label; write NAME=label=value,label=value", part)
		}
		spec.Labels[key] = value
	}
	problems := metav1validation.ValidateLabels(spec.Labels, field.NewPath("labels"))
	if err := problems.ToAggregate(); err != nil {
		return Spec{}, err
	}
	return spec, nil
}

// Merge joins lists of nodes. A node that is named twice keeps the labels of
// both; two values for one label are an error.
func Merge(lists ...[]Spec) ([]Spec, error) {
	var merged []Spec
	index := map[string]int{}
	for _, list := range lists {
		for _, spec := range list {
			at, seen := index[spec.Name]
			if !seen {
				index[spec.Name] = len(merged)
				merged = append(merged, Spec{Name: spec.Name, Labels: map[string]string{}})
				at = len(merged) - 1
			}
			for key, value := range spec.Labels {
				if old, ok := merged[at].Labels[key]; ok && old != value {
					return nil, errors.New("node " + spec.Name + " is given two values for the label " + key)
				}
				merged[at].Labels[key] = value
			}
		}
	}
	return merged, nil
}
