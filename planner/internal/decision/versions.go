package decision

import (
	"context"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"

	"kolla.openstack.org/kolla/planner/dryrun"
	"kolla.openstack.org/kolla/planner/fields"
	"kolla.openstack.org/kolla/planner/plans"
	"kolla.openstack.org/kolla/planner/proof"
	"kolla.openstack.org/kolla/providers"
	"kolla.openstack.org/kolla/providers/kinds"
)

// findUnshown finds the fields of a custom resource that its stored version has and its declared
// version does not. The server shows them in no answer about the declared version, and every
// apply in that version removes them. It costs a request for each object of a kind with several
// versions. Versions that a webhook converts have fields of other names, so these are not
// compared.
func findUnshown(ctx context.Context, e *env, s *subject) (found []fields.Difference, err error) {
	in := &e.inv.Input
	if proof.BuiltIn(s.draft.Action.Ref.GVK) || !s.draft.Owned() || in.ForeignPolicy == plans.IgnoreForeign {
		return nil, nil
	}
	version, err := storedVersion(ctx, in.Snapshot, s.draft.Action.Ref)
	if err != nil || version == "" || version == s.draft.Action.Ref.GVK.Version {
		return nil, err
	}
	ref := s.draft.Action.Ref
	ref.GVK.Version = version
	stored, err := in.Reader.Get(ctx, ref)
	switch {
	case apierrors.IsNotFound(err), apierrors.IsForbidden(err):
		return nil, nil
	case err != nil:
		return nil, err
	}
	paths := missing(nil, stored.Object, s.draft.Live.Object)
	if len(paths) == 0 {
		return nil, nil
	}
	// Defaults of the stored version come back.
	rest := fields.Without(stored, paths)
	answer, err := in.Reader.DryRun(ctx, rest, providers.DryRunOptions{Manager: s.draft.Manager, Over: stored, Warn: func(string) {}})
	if err != nil && dryrun.Classify(err).World {
		return nil, err
	}
	if err != nil {
		answer = rest
	}
	differences, err := fields.Compare(stored, answer)
	owners := fields.OwnersOf(s.draft.Live, s.draft.Manager)
	for _, d := range differences {
		if !slices.ContainsFunc(paths, func(path fieldpath.Path) bool { return fields.Overlap(path, d.At) }) {
			continue
		}
		if !fields.Touches(owners.Own, d.At) { // else it was declared earlier, in that version
			by, _ := owners.Other(d.At)
			d.Drift, d.Manager, d.Time = true, by.Manager, by.Time
		}
		found = append(found, d)
	}
	return found, err
}

// storedVersion returns the version in which the server stores objects of a custom kind; empty:
// it is not known, or a webhook converts it.
func storedVersion(ctx context.Context, snapshot *providers.Snapshot, ref providers.Ref) (string, error) {
	definitions := kinds.CustomResourceDefinition.WithVersion("v1")
	if err := snapshot.Try(ctx, providers.Scope{GVK: definitions}); err != nil {
		return "", err
	}
	for _, u := range snapshot.All(definitions) {
		kind, ok := dryrun.KindOf(u)
		if !ok || kind != ref.GVK.GroupKind() || (&dryrun.CRD{Object: u}).ConvertsByWebhook() {
			continue
		}
		versions, _, _ := unstructured.NestedSlice(u.Object, "spec", "versions")
		for _, version := range versions {
			content, _ := version.(map[string]any)
			name, _ := content["name"].(string)
			if content["storage"] == true && content["served"] == true {
				return name, nil
			}
		}
	}
	return "", nil
}

// missing returns the fields of one object that another one lacks, except metadata and status. It
// does not look into lists.
func missing(path fieldpath.Path, content, other map[string]any) (paths []fieldpath.Path) {
	for name, value := range content {
		if len(path) == 0 && slices.Contains([]string{"apiVersion", "kind", "metadata", "status"}, name) {
			continue
		}
		full := append(path.Copy(), fieldpath.PathElement{FieldName: &name})
		inner, isMap := value.(map[string]any)
		has, there := other[name]
		below, bothMaps := has.(map[string]any)
		switch {
		case !there && value != nil:
			paths = append(paths, full)
		case isMap && bothMaps:
			paths = append(paths, missing(full, inner, below)...)
		}
	}
	return paths
}

// removeUnshown adds the fields that the declared version does not show to the prediction. The
// policy may leave those of others in place, as long as nothing else of the object changes.
func removeUnshown(policy plans.ForeignPolicy, s *subject, x *prediction) {
	var kept []fields.Difference
	for _, d := range s.unshown {
		if d.Drift && policy == plans.ReportForeign {
			kept = append(kept, d)
		} else {
			x.removed = append(x.removed, d)
		}
	}
	if len(kept) == 0 {
		return
	}
	without := s.draft.Unreported
	if without == nil {
		without = s.draft.Live
	}
	report(s, without, kept)
}
