// Package sides returns the values of each object before and after its action, for plans with
// values.
package sides

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"golang.org/x/sync/errgroup"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"kolla.openstack.org/kolla/internal/base/crash"
	"kolla.openstack.org/kolla/lang/addrs"
	"kolla.openstack.org/kolla/planner/dryrun"
	"kolla.openstack.org/kolla/planner/extract"
	"kolla.openstack.org/kolla/planner/fields"
	"kolla.openstack.org/kolla/planner/internal/decision"
	"kolla.openstack.org/kolla/planner/internal/inventory"
	"kolla.openstack.org/kolla/planner/internal/outcome"
	"kolla.openstack.org/kolla/planner/internal/removal"
	"kolla.openstack.org/kolla/planner/plans"
	"kolla.openstack.org/kolla/planner/proof"
	"kolla.openstack.org/kolla/providers"
	"kolla.openstack.org/kolla/providers/kinds"
)

// Of returns the values of each action.
func Of(inv *inventory.Inventory, outcomes []*outcome.Outcome, actions []plans.Action) ([]*plans.Values, error) {
	known := map[addrs.Object]*outcome.Outcome{}
	for _, o := range outcomes {
		known[o.Object.Address] = o
	}
	all := make([]*plans.Values, len(actions))
	var group errgroup.Group
	group.SetLimit(inv.Input.Parallelism)
	for i := range actions {
		a := &actions[i]
		group.Go(crash.Catching(func() (err error) {
			if all[i], err = valuesOf(inv, a, known[a.Address]); err != nil {
				return fmt.Errorf("note the values of %s: %w", a.Address, err)
			}
			return nil
		}))
	}
	return all, group.Wait()
}

// valuesOf takes the values of an action. o is nil if the object is not declared.
func valuesOf(inv *inventory.Inventory, a *plans.Action, o *outcome.Outcome) (*plans.Values, error) {
	v := viewpoint{action: a, manager: providers.ManagerOf(inv.Input.Cloud, a.Partial), live: inv.Input.Snapshot.Get(a.Ref)}
	if o != nil {
		v.manager, v.live, v.after, v.pending = o.Manager, o.Live, o.After, o.Pending
		v.reported, v.unreported = o.Reported, o.Unreported
	}
	switch {
	case v.live == nil && v.after == nil:
		return unseenValues(inv, v, o)
	case a.Grows != "":
		v.after = v.live.DeepCopy()
		if err := unstructured.SetNestedField(v.after.Object, a.Grows, "spec", "resources", "requests", "storage"); err != nil {
			return nil, err
		}
	case o == nil && a.Verb == plans.Delete && a.Partial:
		after, err := removal.WithoutOurs(v.live, inv.Input.Cloud)
		if err != nil {
			return nil, err
		}
		v.after = after
	}
	if err := v.choose(); err != nil {
		return nil, err
	}
	return v.values(), nil
}

// unseenValues returns the values of an object that was not read: the declared values if the state
// knows the object. Of an object without a declaration, only the name is known.
func unseenValues(inv *inventory.Inventory, v viewpoint, o *outcome.Outcome) (*plans.Values, error) {
	switch {
	case o == nil || o.Action.Object == nil || v.action.Object == nil:
		return &plans.Values{Before: v.named(extract.Part{})}, nil
	case v.action.Prior.UID == "":
		return &plans.Values{}, nil
	}
	manifest, pending, err := decision.Resolve(inv, o.Object)
	if err != nil {
		return nil, err
	}
	if manifest, err = fields.Trim(manifest, v.action.Yields); err != nil {
		return nil, err
	}
	if v.after, err = dryrun.AsApplied(manifest); err != nil {
		return nil, err
	}
	v.pending = pending
	if err := v.choose(); err != nil {
		return nil, err
	}
	declared := v.take(v.after, true)
	if v.action.Verb == plans.None {
		return &plans.Values{Before: declared}, nil
	}
	return &plans.Values{Before: v.named(extract.Part{}), After: declared}, nil
}

// viewpoint is one object with all facts that decide about its values.
type viewpoint struct {
	action  *plans.Action
	manager string
	live    *unstructured.Unstructured // nil: it does not exist
	after   *unstructured.Unstructured // nil: it is deleted, or does not change
	pending []string                   // keys of a Secret with unknown values

	owned  extract.Fields // owned by kolla before or after
	fields extract.Fields // to take
	drift  extract.Fields // changed by others, reverted by the action
	added  extract.Fields // added by others, left by the policy
	// reported has the differences of added, and unreported the object without them.
	reported   []fields.Difference
	unreported *unstructured.Unstructured
	// hidden has the paths of sensitive values outside the data of a Secret.
	hidden map[string]bool
}

// choose selects the fields: those that kolla owns before or after the action, those that change,
// and the declared fields that are left to others. For a new object it selects all written fields,
// including those of webhooks.
func (v *viewpoint) choose() error {
	ours := func(e extract.Entry) bool {
		return e.Manager == v.manager && e.Operation == string(metav1.ManagedFieldsOperationApply) && e.Subresource == ""
	}
	v.owned = extract.Union(managed(v.live, ours), managed(v.after, ours))
	v.fields = v.owned
	if v.live == nil {
		v.owned = managed(v.after, func(e extract.Entry) bool { return e.Subresource == "" })
		if v.fields = v.owned; v.fields == nil || v.action.Evidence.Kind == plans.Schema {
			v.fields = extract.Fields{}
		}
		return nil
	}
	for _, y := range v.action.Yields {
		var field extract.Fields
		if err := json.Unmarshal([]byte(y.Field), &field); err != nil {
			return fmt.Errorf("read which field %s is: %w", y.Path, err)
		}
		v.fields = extract.Union(v.fields, field)
	}
	v.hidden = map[string]bool{}
	for _, d := range v.reported {
		field, err := v.addField(d)
		if err != nil {
			return err
		}
		v.added = extract.Union(v.added, field)
	}
	if v.after == nil {
		return nil
	}
	return v.addChanges()
}

// addField adds the field of a difference.
func (v *viewpoint) addField(d fields.Difference) (extract.Fields, error) {
	field, err := extract.At(d.At)
	if d.Reorders {
		field, err = extract.OrderAt(d.At)
	}
	if err != nil {
		return nil, err
	}
	v.fields = extract.Union(v.fields, field)
	if d.Sensitive {
		v.hidden[joined(fields.NamesOn(d.At))] = true
	}
	return field, nil
}

func managed(u *unstructured.Unstructured, counts func(extract.Entry) bool) extract.Fields {
	if u == nil {
		return nil
	}
	return extract.Managed(u.Object, counts)
}

// addChanges adds the fields that the action changes.
func (v *viewpoint) addChanges() error {
	differences, err := fields.Compare(v.live, v.after)
	if err != nil {
		return err
	}
	shown := map[string]plans.Change{}
	for _, c := range v.action.Changes {
		shown[c.Path] = c
	}
	for _, d := range differences {
		c, changes := shown[d.Path]
		if !changes {
			continue
		}
		d.Sensitive = c.Sensitive
		field, err := v.addField(d)
		if err != nil {
			return err
		}
		if c.Drift {
			v.drift = extract.Union(v.drift, field)
		}
	}
	return nil
}

// joined returns a list of names as one string.
func joined(names []string) string { return strings.Join(names, "\x00") }

// values takes the selected fields of all sides.
func (v *viewpoint) values() *plans.Values {
	out := &plans.Values{}
	if v.live != nil {
		out.Before = v.take(v.live, false)
	}
	switch a := v.action; {
	case a.Verb == plans.None || a.Verb == plans.Refresh:
	case a.Verb == plans.Forget, a.Verb == plans.Delete && !a.Partial:
	case v.after != nil:
		out.After = v.take(v.after, true)
	default:
		out.After = out.Before
	}
	if v.drift != nil || v.added != nil {
		written := v.stripped(v.live).Object
		if v.drift != nil {
			written = extract.Overlay(written, v.stripped(v.after).Object, v.drift)
		}
		if v.added != nil {
			written = extract.Overlay(written, v.stripped(v.unreported).Object, v.added)
		}
		out.Written = v.take(&unstructured.Unstructured{Object: written}, false)
	}
	return out
}

// stripped returns an object without the fields that are not compared. The token of kolla's
// objects is only shown if somebody changed it.
func (v *viewpoint) stripped(u *unstructured.Unstructured) *unstructured.Unstructured {
	token := fields.Annotation(providers.AnnotationIntent)
	if slices.ContainsFunc(v.action.Changes, func(c plans.Change) bool { return c.Path == token }) {
		return fields.WithToken(u)
	}
	return fields.Stripped(u)
}

// take takes the selected fields of one side. next: u is the object after the action, with values
// that may be unknown.
func (v *viewpoint) take(u *unstructured.Unstructured, next bool) *extract.Part {
	secret := v.action.Ref.GVK.GroupKind() == kinds.Secret
	mask := extract.Mask{
		Placeholder: plans.Masked,
		Sensitive:   func(path []string) bool { return v.sensitive(secret, path) },
		Unknown:     func(path []string, value any) bool { return next && v.unknown(path, value) },
	}
	part := v.named(mask.Take(v.stripped(u).Object, v.fields))
	if place := []string{"metadata", "name"}; next && v.unknown(place, v.action.Ref.Name) {
		unstructured.RemoveNestedField(part.Values, place...)
		if part.Unknown == nil {
			part.Unknown = map[string]any{}
		}
		_ = unstructured.SetNestedField(part.Unknown, true, place...)
	}
	return part
}

// sensitive reports whether the value at a path is masked. In a Secret this includes
// annotations of others, because tools store whole objects in them.
func (v *viewpoint) sensitive(secret bool, path []string) bool {
	switch {
	case len(path) < 2:
		return false
	case proof.Withheld(secret, path), v.hidden[joined(path)]:
		return true
	case !secret || len(path) != 3 || path[0] != "metadata" || path[1] != "annotations":
		return false
	}
	metadata, _ := v.owned["f:metadata"].(map[string]any)
	annotations, _ := metadata["f:annotations"].(map[string]any)
	_, ours := annotations["f:"+path[2]]
	return !ours
}

// unknown reports whether only the apply makes, or reads, the value at a path.
func (v *viewpoint) unknown(path []string, value any) bool {
	if len(path) == 2 && path[0] == "data" && slices.Contains(v.pending, path[1]) {
		return true
	}
	if len(path) == 3 && path[0] == "metadata" && path[1] == "annotations" {
		for _, c := range v.action.Changes {
			if c.After == plans.Unknown && c.Path == fields.Annotation(path[2]) {
				return true
			}
		}
	}
	text, isText := value.(string)
	return isText && v.action.Deferred() && (strings.Contains(text, plans.Unknown) || strings.HasSuffix(text, providers.UnknownVersion))
}

// named adds the identity of the object.
func (v *viewpoint) named(p extract.Part) *extract.Part {
	if p.Values == nil {
		p.Values = map[string]any{}
	}
	p.Values["apiVersion"], p.Values["kind"] = v.action.Ref.GVK.ToAPIVersionAndKind()
	metadata, ok := p.Values["metadata"].(map[string]any)
	if !ok {
		metadata = map[string]any{}
		p.Values["metadata"] = metadata
	}
	metadata["name"] = v.action.Ref.Name
	if v.action.Ref.Namespace != "" {
		metadata["namespace"] = v.action.Ref.Namespace
	}
	return &p
}
