package cli

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"kolla.openstack.org/kolla/internal/failure"
	"kolla.openstack.org/kolla/internal/foreign"
	"kolla.openstack.org/kolla/lang/addrs"
	"kolla.openstack.org/kolla/lang/draft"
	"kolla.openstack.org/kolla/planner"
	"kolla.openstack.org/kolla/planner/plans"
	"kolla.openstack.org/kolla/providers"
	"kolla.openstack.org/kolla/providers/kinds"
	"kolla.openstack.org/kolla/providers/kubernetes"
)

// generateFlag is the option that has declarations written for imports.
const generateFlag = "generate-config-out"

// checkGenerated refuses a file that is there, or would be no part of the configuration.
func checkGenerated(path string) error {
	if path == "" {
		return nil
	}
	_, err := os.Lstat(path)
	switch name := filepath.Base(path); {
	case err == nil:
		return failure.New(fmt.Sprintf("%s exists", path), "-"+generateFlag+" writes a new file, and overwrites none.")
	case !errors.Is(err, fs.ErrNotExist):
		return failure.New(fmt.Sprintf("Cannot write %s", path), failure.Sentence(err.Error())+".")
	case filepath.Dir(filepath.Clean(path)) != ".", strings.HasPrefix(name, "."), !strings.HasSuffix(name, ".hcl"), strings.HasSuffix(name, ".vars.hcl"):
		return failure.New(fmt.Sprintf("%s would be no part of the configuration", path), "Name a file in this directory that ends with .hcl, such as -"+generateFlag+"=imported.hcl.")
	}
	return nil
}

// generate writes manifests for the imports whose address is not declared, and loads the
// configuration again, with them.
func (w *workspace) generate(ctx context.Context) error {
	if len(w.config.Undeclared) == 0 {
		return nil
	}
	path := w.flags.String(generateFlag)
	text := "# Written by `kolla plan -" + generateFlag + "` from what is in the cluster. Check it,\n# and move it where it belongs.\n"
	var problems []plans.Problem
	var names, variables []string
	drafted := map[string]bool{}
	for _, i := range w.config.Undeclared {
		block, problem, err := w.draft(ctx, i, drafted)
		if err != nil {
			return err
		}
		if problem != nil {
			problem.Address, problem.Source = i.To, fmt.Sprintf("%s:%d", i.Range.Filename, i.Range.Start.Line)
			problems = append(problems, *problem)
			continue
		}
		text += "\n" + string(block.Source)
		names, variables = append(names, i.To.Block), append(variables, block.Variables...)
	}
	if len(problems) > 0 {
		w.printer.Problems(problems)
		return exitCode(exitError)
	}
	if err := writeNew(path, []byte(text)); err != nil {
		return failure.New(fmt.Sprintf("Cannot write %s", path), failure.Sentence(err.Error())+".")
	}
	foreign.Fprintf(w.err, "%s is written, with %s.\n", path, strings.Join(names, ", "))
	switch len(variables) {
	case 0:
	case 1:
		foreign.Fprintf(w.err, "The value of a Secret is never written: give it as the variable %s.\n", variables[0])
	default:
		foreign.Fprintf(w.err, "Values of Secrets are never written: give them as the variables %s.\n", strings.Join(variables, ", "))
	}
	fmt.Fprintln(w.err)
	if err := w.loadConfig(); err != nil {
		foreign.Fprintf(w.err, "No plan is made yet, but %s is there. When this is corrected, run kolla plan again,\nwithout -%s.\n", path, generateFlag)
		return err
	}
	return nil
}

// draft writes the manifest of one import. The problem says why there can be none.
func (w *workspace) draft(ctx context.Context, i addrs.Import, drafted map[string]bool) (draft.Blocks, *plans.Problem, error) {
	parts := addrs.SplitBlock(i.To.Block)
	unsuitable := func(summary, detail string, args ...any) (draft.Blocks, *plans.Problem, error) {
		return draft.Blocks{}, &plans.Problem{Summary: summary, Detail: fmt.Sprintf(detail, args...)}, nil
	}
	switch {
	case parts.Type != "manifest" || parts.Module != "" || parts.Key != nil:
		return unsuitable(fmt.Sprintf("no declaration of %s can be written", i.To.Block), "Only a manifest of the configuration itself, without a key, can be: manifest.NAME. Declare it by hand.")
	case drafted[i.To.Block]:
		return unsuitable(fmt.Sprintf("%s is imported to twice", i.To.Block), "A manifest that is written has one object: give each import a block of its own.")
	}
	drafted[i.To.Block] = true
	live, problem, err := w.imported(ctx, i)
	if problem != nil || err != nil {
		return draft.Blocks{}, problem, err
	}
	if owner := planner.ControllerOf(live); owner != "" {
		return unsuitable(fmt.Sprintf("%s belongs to %s", providers.RefOf(live), owner), "That looks after it, so that it is no object to be declared. Import %s instead.", owner)
	}
	declared, err := planner.Draft(ctx, w.client, live)
	if err != nil {
		return draft.Blocks{}, nil, err
	}
	if declared.GetNamespace() == w.config.Cloud.Namespace {
		unstructured.RemoveNestedField(declared.Object, "metadata", "namespace")
	}
	return draft.Manifest(parts.Name, declared.Object), nil, nil
}

// imported reads the object that an import names.
func (w *workspace) imported(ctx context.Context, i addrs.Import) (*unstructured.Unstructured, *plans.Problem, error) {
	kind, namespaced, err := w.client.KindNamed(ctx, i.To.Kind)
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
	objects, err := w.client.List(ctx, kind, namespace)
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
