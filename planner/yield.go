package planner

import (
	"bytes"
	"fmt"
	"maps"
	"reflect"
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"

	"kolla.openstack.org/kolla/lang"
	"kolla.openstack.org/kolla/planner/plans"
	"kolla.openstack.org/kolla/planner/trust"
	"kolla.openstack.org/kolla/providers"
	secretvalues "kolla.openstack.org/kolla/providers/secrets" // secrets is a kind here
)

// Trim is the manifest as it is sent: without the fields that are left to others.
// The manifest itself stays as it is.
func Trim(manifest *unstructured.Unstructured, yields []plans.Yield) (*unstructured.Unstructured, error) {
	if len(yields) == 0 {
		return manifest, nil
	}
	trimmed := manifest.DeepCopy()
	var keys []fieldpath.Path
	for _, y := range yields {
		path, err := yieldedPath(y)
		switch {
		case err != nil:
			return nil, err
		case y.Value != nil:
			set(trimmed.Object, path, y.Value)
		case repeatsKey(path):
			keys = append(keys, path)
		default:
			cut(trimmed.Object, path)
		}
	}
	// An element of a list needs its key for as long as there is anything else in it.
	for _, path := range keys {
		element := path[:len(path)-1]
		if left, ok := lookup(trimmed.Object, element); ok && onlyKey(left, element[len(element)-1]) {
			cut(trimmed.Object, element)
		}
	}
	return trimmed, nil
}

// yieldedPath returns the path of the field that is left to others.
func yieldedPath(y plans.Yield) (path fieldpath.Path, err error) {
	fields := fieldpath.NewSet()
	if err := fields.FromJSON(bytes.NewReader([]byte(y.Field))); err != nil {
		return nil, fmt.Errorf("read which field %s is: %w", y.Path, err)
	}
	fields.Leaves().Iterate(func(p fieldpath.Path) { path = p.Copy() })
	if len(path) == 0 {
		return nil, fmt.Errorf("read which field %s is: it names none", y.Path)
	}
	return path, nil
}

// newYield leaves a field of the manifest to its owner.
func (s *subject) newYield(manifest *unstructured.Unstructured, path fieldpath.Path, by owner) (plans.Yield, error) {
	text, err := fieldpath.NewSet(path).ToJSON()
	if err != nil {
		return plans.Yield{}, fmt.Errorf("write down which field %s is: %w", pathText(path), err)
	}
	y := plans.Yield{Path: pathText(path), Manager: by.manager, Time: by.time, Field: string(text)}
	y.Want, _ = lookup(manifest.Object, path)
	y.Live, _ = lookup(s.live.Object, path)
	if sensitive(path, manifest.GroupVersionKind().GroupKind() == providers.SecretKind) {
		y.Want, y.Live = masked(y.Want), masked(y.Live)
	}
	return y, nil
}

// masked stands for a value that must not be seen; nil for none.
func masked(v any) any {
	if v == nil {
		return nil
	}
	return plans.Masked
}

// onlyKey reports whether an element has no field but those of its key.
func onlyKey(item any, element fieldpath.PathElement) bool {
	fields, ok := item.(map[string]any)
	return ok && element.Key != nil && len(fields) <= len(*element.Key)
}

// cut takes what is at a path out of a container, and what is empty because of
// that. It returns what is left of the container.
func cut(at any, path fieldpath.Path) any {
	step := path[:1]
	inner, ok := lookup(at, step)
	if !ok {
		return at
	}
	keep := false
	if len(path) > 1 {
		inner = cut(inner, path[1:])
		keep = !empty(inner)
	}
	switch container := at.(type) {
	case map[string]any:
		if keep {
			container[*step[0].FieldName] = inner
		} else {
			delete(container, *step[0].FieldName)
		}
	case []any:
		i, _ := position(container, step[0])
		if keep {
			container[i] = inner
		} else {
			return slices.Delete(container, i, i+1)
		}
	}
	return at
}

func empty(v any) bool {
	switch v := v.(type) {
	case map[string]any:
		return len(v) == 0
	case []any:
		return len(v) == 0
	}
	return false
}

// set puts a value at a path whose parents are there.
func set(object any, path fieldpath.Path, value any) {
	parent, ok := lookup(object, path[:len(path)-1])
	if fields, isMap := parent.(map[string]any); ok && isMap && path[len(path)-1].FieldName != nil {
		fields[*path[len(path)-1].FieldName] = value
	}
}

// sent is the manifest as it would be applied to the live object, and sets which
// fields of it are left to others.
func (p *planning) sent(s *subject) (*unstructured.Unstructured, error) {
	manifest, err := p.resolve(s)
	if err != nil {
		return nil, err
	}
	s.idle = nil
	if s.action.Yields, err = p.yields(s, manifest); err != nil {
		return nil, err
	}
	return Trim(trust.WithToken(manifest, s.action.Token), s.action.Yields)
}

// yields finds the declared fields that are not to be sent: those that the object's
// lifecycle says to ignore, and those that somebody took who may have them.
func (p *planning) yields(s *subject, manifest *unstructured.Unstructured) ([]plans.Yield, error) {
	ignored := fieldPaths(s.lifecycle().IgnoreFields)
	rivals := writtenThrough(s.live, func(subresource string) bool { return subresource != "status" })
	if !rivals && len(ignored) == 0 && !s.action.Scaled {
		return nil, nil // by far the most objects, and nothing of them has to be parsed
	}
	owners := ownershipOf(s.live, s.manager)
	candidates, err := contested(manifest, owners, len(ignored) > 0)
	if err != nil {
		return nil, err
	}
	var yields []plans.Yield
	if replicas := fieldpath.MakePathOrDie("spec", "replicas"); s.action.Scaled && !slices.ContainsFunc(candidates, replicas.Equals) {
		if _, declared := lookup(manifest.Object, replicas); declared {
			candidates = append(candidates, replicas)
		}
	}
	for _, path := range candidates {
		by, taken := owners.other(path)
		held := touches(owners.kolla, path)
		y, err := s.newYield(manifest, path, by)
		switch {
		case err != nil:
			return nil, err
		case covered(ignored, path):
			y.Declared = true
			if !taken && held && !hold(&y, s.live, manifest, path) {
				continue
			}
		case held, !taken && !(s.action.Scaled && y.Path == replicasPath):
			continue
		default:
			what, idle := p.policy.outcome(s, by, path)
			if idle {
				s.idle = append(s.idle, plans.Reason{Kind: plans.ReasonIdle, Path: y.Path, Manager: y.Manager})
			}
			if what != leave {
				continue
			}
			y.Declared = s.lifecycle().yieldsTo(by.manager)
		}
		yields = append(yields, y)
	}
	return yields, nil
}

// startOver takes from differences of a replacement that a field drifted, where it
// would have been left to whoever has it: a new object has it as declared, until they
// set it again.
func (p *planning) startOver(s *subject, differences []difference) {
	owners := ownershipOf(s.live, s.manager)
	for i := range differences {
		d := &differences[i]
		if by, _ := owners.other(d.path); d.Drift && by.manager != "" {
			if what, _ := p.policy.outcome(s, by, d.path); what == leave {
				d.Drift, d.Edited = false, false
			}
		}
	}
}

// contested lists the declared fields that it may matter who owns: those that
// others own too and, if all is set, every other one.
func contested(manifest *unstructured.Unstructured, owners ownership, all bool) ([]fieldpath.Path, error) {
	fields := fieldpath.NewSet()
	for _, other := range owners.others {
		other.fields.Leaves().Iterate(func(path fieldpath.Path) {
			if _, declared := lookup(manifest.Object, path); declared {
				fields.Insert(path.Copy())
			}
		})
	}
	if all {
		types, err := typedAlike(nil, stripped(manifest))
		if err != nil {
			return nil, err
		}
		own, err := types[0].ToFieldSet()
		if err != nil {
			return nil, fmt.Errorf("list the declared fields: %w", err)
		}
		fields = fields.Union(own.Leaves())
	}
	var paths []fieldpath.Path
	fields.Iterate(func(path fieldpath.Path) { paths = append(paths, path.Copy()) })
	return paths, nil
}

// hold writes the live value of a field that only kolla owns into the yield. It reports
// false if no value is to be kept: the field is as declared, or must not be stored.
func hold(y *plans.Yield, live, manifest *unstructured.Unstructured, path fieldpath.Path) bool {
	value, there := lookup(live.Object, path)
	wanted, _ := lookup(manifest.Object, path)
	secret := manifest.GroupVersionKind().GroupKind() == providers.SecretKind
	if !there || sensitive(path, secret) || path[len(path)-1].FieldName == nil || reflect.DeepEqual(value, wanted) {
		return false
	}
	y.Value = value
	return true
}

// freed are those of the idle fields that the action changes.
func (s *subject) freed() []plans.Reason {
	return slices.DeleteFunc(slices.Clone(s.idle), func(r plans.Reason) bool {
		return !slices.ContainsFunc(s.action.Changes, func(c plans.Change) bool { return c.Path == r.Path })
	})
}

// replacedValues says who replaced the values of a generated Secret since kolla made
// them. They are kept, and what is derived from them is made again.
func (s *subject) replacedValues(live providers.Values) []plans.Reason {
	if !s.object.Generated() || s.adopts() || s.object.Renews() != "" || !secretvalues.Replaced(s.live, live) {
		return nil
	}
	owners := ownershipOf(s.live, s.manager)
	var reasons []plans.Reason
	for _, key := range slices.Sorted(maps.Keys(s.object.Data)) {
		path := fieldpath.MakePathOrDie("data", key)
		if by, taken := owners.other(path); taken && !touches(owners.kolla, path) {
			reasons = append(reasons, plans.Reason{Kind: plans.ReasonReplaced, Path: pathText(path), Manager: by.manager, Time: by.time})
		}
	}
	if len(reasons) == 0 {
		reasons = []plans.Reason{{Kind: plans.ReasonReplaced, Path: "data"}}
	}
	return reasons
}

// renewal says why generated values are made anew that are there.
func (s *subject) renewal() []plans.Reason {
	why := s.object.Renews()
	if why == "" || len(s.pending) == 0 {
		return nil
	}
	return []plans.Reason{{Kind: plans.ReasonRenewed, Detail: why}}
}

// givenAnew reports whether a value that comes from a sensitive variable is another
// one than kolla last applied, of which the digest of what is declared says nothing.
func (s *subject) givenAnew(answer *unstructured.Unstructured, held ownership) bool {
	before, after := providers.ValuesOf(s.live), providers.ValuesOf(answer)
	for key, data := range s.object.Data {
		if data.Given() && touches(held.kolla, fieldpath.MakePathOrDie("data", key)) && !bytes.Equal(before[key], after[key]) {
			return true
		}
	}
	return false
}

// treatment is an object's lifecycle, of which there is always one.
type treatment struct{ providers.Lifecycle }

func (s *subject) lifecycle() treatment {
	if s.object.Lifecycle == nil {
		return treatment{}
	}
	return treatment{*s.object.Lifecycle}
}

func (t treatment) yieldsTo(manager string) bool { return matchesAny(t.YieldTo, manager) }

func (t treatment) forces(manager string, path fieldpath.Path) bool {
	return t.ForceConflicts || matchesAny(t.ForceManagers, manager) || covered(fieldPaths(t.ForceFields), path)
}

func matchesAny(patterns []string, name string) bool {
	return slices.ContainsFunc(patterns, func(pattern string) bool { return lang.MatchesStar(pattern, name) })
}

// fieldPaths reads paths. What is none covers nothing; the language has said so.
func fieldPaths(texts []string) []lang.FieldPath {
	var paths []lang.FieldPath
	for _, text := range texts {
		if path, err := lang.ParseFieldPath(text); err == nil {
			paths = append(paths, path)
		}
	}
	return paths
}

// covered reports whether one of the patterns stands for the field.
func covered(patterns []lang.FieldPath, path fieldpath.Path) bool {
	if len(patterns) == 0 {
		return false
	}
	field, err := lang.ParseFieldPath(pathText(path))
	return err == nil && slices.ContainsFunc(patterns, func(p lang.FieldPath) bool { return p.Covers(field) })
}
