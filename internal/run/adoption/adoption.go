// Package adoption writes declarations for objects that exist in the cluster, so that
// imports can take them over.
package adoption

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"kolla.openstack.org/kolla/lang/addrs"
	"kolla.openstack.org/kolla/lang/draft"
	"kolla.openstack.org/kolla/planner"
	"kolla.openstack.org/kolla/planner/plans"
	"kolla.openstack.org/kolla/providers"
	"kolla.openstack.org/kolla/providers/kinds"
	"kolla.openstack.org/kolla/providers/kubernetes"
)

// Declaration is the manifest of one import.
type Declaration struct {
	draft.Blocks
	Block string // its address
}

// Draft writes manifests for imports whose addresses are not declared. namespace is the
// namespace of the cloud. A problem says why an import has no manifest.
func Draft(ctx context.Context, client *kubernetes.Client, imports []addrs.Import, namespace string) ([]Declaration, []plans.Problem, error) {
	var out []Declaration
	var problems []plans.Problem
	drafted := map[string]bool{}
	for _, i := range imports {
		problem := suitable(i, drafted)
		drafted[i.To.Block] = true
		var blocks draft.Blocks
		if problem == nil {
			var err error
			if blocks, problem, err = write(ctx, client, i, namespace); err != nil {
				return nil, nil, err
			}
		}
		if problem != nil {
			problem.Address, problem.Source = i.To, fmt.Sprintf("%s:%d", i.Range.Filename, i.Range.Start.Line)
			problems = append(problems, *problem)
			continue
		}
		out = append(out, Declaration{Blocks: blocks, Block: i.To.Block})
	}
	return out, problems, nil
}

// suitable returns a problem with an address for which no manifest can be written.
func suitable(i addrs.Import, drafted map[string]bool) *plans.Problem {
	parts := addrs.SplitBlock(i.To.Block)
	switch {
	case parts.Type != "manifest" || parts.Module != "" || parts.Key != nil:
		return &plans.Problem{Summary: fmt.Sprintf("no declaration of %s can be written", i.To.Block), Detail: "Only a manifest of the configuration itself, without a key, can be: manifest.NAME. Declare it by hand."}
	case drafted[i.To.Block]:
		return &plans.Problem{Summary: fmt.Sprintf("%s is imported to twice", i.To.Block), Detail: "A manifest that is written has one object: give each import a block of its own."}
	}
	return nil
}

// write writes the manifest of one import.
func write(ctx context.Context, client *kubernetes.Client, i addrs.Import, namespace string) (draft.Blocks, *plans.Problem, error) {
	live, problem, err := imported(ctx, client, i)
	if problem != nil || err != nil {
		return draft.Blocks{}, problem, err
	}
	if owner := planner.ControllerOf(live); owner != "" {
		return draft.Blocks{}, &plans.Problem{
			Summary: fmt.Sprintf("%s belongs to %s", providers.RefOf(live), owner),
			Detail:  fmt.Sprintf("That looks after it, so that it is no object to be declared. Import %s instead.", owner),
		}, nil
	}
	declared, err := planner.Draft(ctx, client, live)
	if err != nil {
		return draft.Blocks{}, nil, err
	}
	if declared.GetNamespace() == namespace {
		unstructured.RemoveNestedField(declared.Object, "metadata", "namespace")
	}
	return draft.Manifest(addrs.SplitBlock(i.To.Block).Name, declared.Object), nil, nil
}

// imported reads the object of an import. The problem says why there is none.
func imported(ctx context.Context, client *kubernetes.Client, i addrs.Import) (*unstructured.Unstructured, *plans.Problem, error) {
	kind, namespaced, err := client.KindNamed(ctx, i.To.Kind)
	var several *kubernetes.AmbiguousKindError
	switch {
	case meta.IsNoMatchError(err):
		return nil, &plans.Problem{Summary: fmt.Sprintf("the cluster has no kind %q", i.To.Kind), Detail: "An address has the kind as the API writes it, such as ConfigMap."}, nil
	case errors.As(err, &several):
		return nil, &plans.Problem{Summary: several.Error(), Detail: "Only a declaration can say which one is meant. Write it by hand."}, nil
	case err != nil:
		return nil, nil, err
	case kind.GroupKind() == kinds.Node:
		return nil, &plans.Problem{Summary: "a Node is not imported", Detail: "kolla owns only some fields of a Node: declare those in a role, or in a manifest."}, nil
	}
	namespace, name, inNamespace := strings.Cut(i.ID, "/")
	if !inNamespace {
		namespace, name = "", i.ID
	}
	switch {
	case inNamespace != namespaced:
		return nil, &plans.Problem{Summary: fmt.Sprintf("%q is not the id of a %s", i.ID, i.To.Kind), Detail: "It is NAMESPACE/NAME of what is in a namespace, and NAME of all else."}, nil
	case name != i.To.Name:
		return nil, &plans.Problem{Summary: fmt.Sprintf("%s is another object than %q", i.To, i.ID), Detail: fmt.Sprintf("The address has the name of the object in the cluster: end it with /%s.", name)}, nil
	}
	objects, err := client.List(ctx, kind, namespace)
	if err != nil && !meta.IsNoMatchError(err) {
		return nil, nil, err
	}
	for _, live := range objects {
		if live.GetName() == name && live.GetNamespace() == namespace {
			return live, nil, nil
		}
	}
	return nil, &plans.Problem{Summary: fmt.Sprintf("%s %s does not exist", i.To.Kind, i.ID), Detail: "There is nothing to take over, and so nothing that a declaration could be made of."}, nil
}
