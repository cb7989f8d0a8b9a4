package approval

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"unicode"

	"kolla.openstack.org/kolla/internal/executor"
	"kolla.openstack.org/kolla/planner/plans"
	"kolla.openstack.org/kolla/providers"
)

// moved reports whether the object of an action may have been written, deleted or created since
// the plan was saved. Some actions are bound to the UID alone, such as those of a Node.
func moved(saved, fresh *plans.Action) bool {
	s, f := saved.Prior, fresh.Prior
	return s.UID != f.UID || s.UID != "" && (s.ResourceVersion == "" || f.ResourceVersion == "" || s.ResourceVersion != f.ResourceVersion)
}

// unlike returns the differences between a saved action and the fresh one, if the object did
// not change since. It does not compare dependencies, checks and waiting: these are taken from
// the fresh action. by names the last writer of the object; see LastWriter.
func unlike(saved, fresh *plans.Action, by string) []string {
	if saved.Verb != fresh.Verb {
		return otherVerb(saved, fresh, by)
	}
	out := apart(saved, fresh)
	for _, field := range []struct {
		name         string
		saved, fresh any
	}{
		{"object in the cluster", saved.Ref, fresh.Ref},
		{"version of the object in the cluster", saved.Prior, fresh.Prior},
		{"list of reasons", saved.Reasons, fresh.Reasons},
	} {
		if !alike(plain(field.saved), plain(field.fresh)) {
			out = append(out, fmt.Sprintf("the file has another %s than a new plan", field.name))
		}
	}
	if !slices.EqualFunc(saved.Yields, fresh.Yields, alikeYield) {
		out = append(out, "the file has another list of fields that are left to others than a new plan")
	}
	return append(out, changed(saved, fresh, by)...)
}

// apart compares the settings of two actions: how kolla writes the object, and which data a deletion
// loses.
func apart(saved, fresh *plans.Action) []string {
	var out []string
	for _, field := range []struct {
		name         string
		saved, fresh any
	}{
		{"word on taking fields by force", saved.Force, fresh.Force},
		{"list of fields that others added", saved.Removes, fresh.Removes},
		{"word on what it takes the place of", saved.Supersedes, fresh.Supersedes},
		{"size that it grows to", saved.Grows, fresh.Grows},
		{"word on whether its pods stay", saved.KeepsPods, fresh.KeepsPods},
		{"word on what is lost with it", saved.Holds, fresh.Holds},
		{"heir of its values", saved.ValuesCopiedTo, fresh.ValuesCopiedTo},
		{"word on what else is in the namespace", saved.Occupied, fresh.Occupied},
		{"word on whether it stays", saved.Partial, fresh.Partial},
		{"word on letting it go", saved.Releases, fresh.Releases},
	} {
		if !alike(plain(field.saved), plain(field.fresh)) {
			out = append(out, fmt.Sprintf("the file has another %s than a new plan", field.name))
		}
	}
	if fresh.Evidence.Kind == plans.Unverified && saved.Evidence.Kind != plans.Unverified {
		out = append(out, fmt.Sprintf("by the file it was proven (%q), and it cannot be: %s", saved.Evidence.Kind, fresh.Evidence.Detail))
	}
	return out
}

// otherVerb says that the new plan does something else with the object, and changes which fields.
func otherVerb(saved, fresh *plans.Action, by string) []string {
	verb, fields := fmt.Sprintf("the file says %q, and a new plan says %s", saved.Verb, fresh.Verb), changed(saved, fresh, by)
	if len(fields) == 0 {
		verb += by
	}
	return append([]string{verb}, fields...)
}

// exceeds returns an error if the object changed since the plan was saved and the fresh action
// would do more than the saved one. It returns nil otherwise.
func exceeds(saved, fresh *plans.Action) error {
	s, f := saved.Verb, fresh.Verb
	switch {
	case creates(s) && !creates(f):
		return &providers.PreconditionError{Ref: fresh.Ref, Exists: true}
	case f == plans.None, f == plans.Forget && s == plans.Delete && !fresh.Releases:
		return nil // it was done in the meantime
	case creates(f) && !creates(s), saved.Prior.UID != fresh.Prior.UID:
		return &providers.PreconditionError{Ref: fresh.Ref, Gone: true}
	case s != f:
		return movedSince(fresh, fmt.Sprintf("a new plan says %s, and this one %s", f, s))
	}
	switch {
	case fresh.Force && !saved.Force:
		return movedSince(fresh, "fields would be taken by force")
	case fresh.Holds != saved.Holds || fresh.Occupied != saved.Occupied || fresh.ValuesCopiedTo != saved.ValuesCopiedTo:
		return movedSince(fresh, "something else would be lost")
	case fresh.Partial != saved.Partial || fresh.Releases != saved.Releases || fresh.Supersedes != saved.Supersedes:
		return movedSince(fresh, "something else would become of it")
	case fresh.Removes != "" && !alikeText(fresh.Removes, saved.Removes):
		return movedSince(fresh, "other fields that others added would be removed")
	case !slices.EqualFunc(yielded(fresh), yielded(saved), alikeText):
		return movedSince(fresh, "other fields would be left to others")
	}
	if more := beyond(fresh, saved); len(more) > 0 {
		return &executor.MovedError{Ref: fresh.Ref, Changes: more}
	}
	return nil
}

// creates reports whether a verb makes an object that is not there.
func creates(v plans.Verb) bool { return v == plans.Create || v == plans.Run }

func movedSince(fresh *plans.Action, what string) error {
	return fmt.Errorf("%s was changed since the plan was made: %s; make a new plan", fresh.Ref, what)
}

func yielded(a *plans.Action) []string {
	var out []string
	for _, y := range a.Yields {
		out = append(out, y.Field)
	}
	slices.Sort(out)
	return out
}

// beyond returns the changes of one action that the other does not have.
func beyond(one, other *plans.Action) []plans.Change {
	has := map[string]bool{}
	for _, c := range other.Changes {
		has[essence(other, c)] = true
	}
	var out []plans.Change
	for _, c := range one.Changes {
		if !has[essence(one, c)] && !slices.ContainsFunc(other.Changes, func(o plans.Change) bool { return alikeChange(c, o) }) {
			out = append(out, c)
		}
	}
	return out
}

// alikeChange reports whether two changes differ at most in masked secret values. Each plan masks
// the secret values that it has read, and a new plan may have read others. For sensitive changes,
// essence compares the values.
func alikeChange(a, b plans.Change) bool {
	return !a.Sensitive && !b.Sensitive && alikeText(a.Path, b.Path) && alikeSide(a.Before, b.Before) && alikeSide(a.After, b.After) &&
		(masked(a.Before, a.After, a.Path) || masked(b.Before, b.After, b.Path))
}

// alikeYield is alikeChange for a field that is left to others.
func alikeYield(a, b plans.Yield) bool {
	for _, side := range [][2]*any{{&a.Live, &b.Live}, {&a.Want, &b.Want}, {&a.Value, &b.Value}} {
		if alikeSide(*side[0], *side[1]) {
			*side[0], *side[1] = nil, nil
		}
	}
	return alike(plain(a), plain(b))
}

// alikeSide reports whether two values are equal. A value with a mask cannot be compared.
func alikeSide(a, b any) bool { return masked(a, b) || alike(plain(a), plain(b)) }

// masked reports whether there is a mask in one of some values.
func masked(values ...any) bool {
	raw, err := json.Marshal(values)
	return err == nil && bytes.Contains(raw, []byte(plans.Masked))
}

// alike reports whether two values of JSON are equal, as far as they are not both masked.
func alike(a, b any) bool {
	switch a := a.(type) {
	case string:
		b, ok := b.(string)
		return ok && alikeText(a, b)
	case []any:
		b, ok := b.([]any)
		return ok && slices.EqualFunc(a, b, alike)
	case map[string]any:
		b, ok := b.(map[string]any)
		return ok && maps.EqualFunc(a, b, alike)
	}
	return reflect.DeepEqual(a, b)
}

// alikeText compares two texts. If both are masked, it compares what is before the first mask and
// after the last one: one of them may mask more.
func alikeText(a, b string) bool {
	if a == b || !strings.Contains(a, plans.Masked) || !strings.Contains(b, plans.Masked) {
		return a == b
	}
	start := min(strings.Index(a, plans.Masked), strings.Index(b, plans.Masked))
	end := min(len(a)-strings.LastIndex(a, plans.Masked), len(b)-strings.LastIndex(b, plans.Masked)) - len(plans.Masked)
	return a[:start] == b[:start] && a[len(a)-end:] == b[len(b)-end:]
}

// essence returns the effect of a change. A number that the server chooses anew for each
// request counts as any number. A plan does not have the values of secrets, so that only the
// author shows whether the live value is another one.
func essence(a *plans.Action, c plans.Change) string {
	if c.Before == nil && picked(a, c.Path) {
		c.After = "picked by the server"
	}
	author := ""
	if c.Sensitive && c.Drift {
		author = writtenBy("", c.Manager, c.Time)
	}
	return executor.Essence(c) + author
}

// picked reports whether the server chooses the value at a path of a Service from a pool. It
// does not choose a declared value.
func picked(a *plans.Action, path string) bool {
	if a.Object == nil || a.Ref.GVK.Kind != "Service" || a.Ref.GVK.Group != "" {
		return false
	}
	name := path[strings.LastIndexByte(path, '.')+1:]
	name, _, _ = strings.Cut(name, "[")
	if !slices.Contains([]string{"nodePort", "clusterIP", "clusterIPs", "healthCheckNodePort"}, name) {
		return false
	}
	raw, err := json.Marshal(a.Object.Manifest.Object["spec"])
	return err == nil && !bytes.Contains(raw, []byte(`"`+name+`"`))
}

// same compares two values in the form of a plan file. If they differ, path is the place of the
// first difference: ".manifest.spec.replicas".
func same(saved, fresh any) (path string, equal bool) {
	a, b := plain(saved), plain(fresh)
	if reflect.DeepEqual(a, b) {
		return "", true
	}
	return differing(a, b), false
}

// plain returns a value as it is decoded from JSON. Numbers stay texts, so that none is
// rounded.
func plain(v any) any {
	raw, err := json.Marshal(v)
	if err != nil {
		panic(fmt.Sprintf("a part of a plan is not JSON: %v", err))
	}
	decoder := json.NewDecoder(bytes.NewReader(raw))
	decoder.UseNumber()
	var out any
	if err := decoder.Decode(&out); err != nil {
		panic(fmt.Sprintf("a part of a plan cannot be read back: %v", err))
	}
	switch value := out.(type) { // a file omits empty values
	case map[string]any:
		if len(value) == 0 {
			return nil
		}
	case []any:
		if len(value) == 0 {
			return nil
		}
	}
	return out
}

// differing returns the path of the first difference.
func differing(a, b any) string {
	switch a := a.(type) {
	case map[string]any:
		b, ok := b.(map[string]any)
		if !ok {
			return ""
		}
		keys := slices.Sorted(maps.Keys(a))
		for _, key := range slices.Sorted(maps.Keys(b)) {
			if _, both := a[key]; !both {
				keys = append(keys, key)
			}
		}
		for _, key := range keys {
			if !reflect.DeepEqual(a[key], b[key]) {
				return step(key) + differing(a[key], b[key])
			}
		}
	case []any:
		b, ok := b.([]any)
		if !ok || len(a) != len(b) {
			return ""
		}
		for i := range a {
			if !reflect.DeepEqual(a[i], b[i]) {
				return fmt.Sprintf("[%d]", i) + differing(a[i], b[i])
			}
		}
	}
	return ""
}

// step returns a key as a step of a path. A key in the file may be any text.
func step(key string) string {
	odd := func(r rune) bool {
		return r > unicode.MaxASCII || !unicode.IsLetter(r) && !unicode.IsDigit(r) && r != '-' && r != '_'
	}
	if strings.ContainsFunc(key, odd) || key == "" {
		return fmt.Sprintf("[%q]", key)
	}
	return "." + key
}

// describe returns the field of an object that differs. If the field is in the manifest, the
// text includes both values.
func describe(path string, saved, fresh *providers.Object) string {
	field, manifest := strings.CutPrefix(path, ".manifest.")
	if !manifest {
		return strings.TrimPrefix(path, ".")
	}
	return fmt.Sprintf("%s (%s instead of %s)", field, short(at(plain(saved), path)), short(at(plain(fresh), path)))
}

// at returns the value at a path that differing has returned.
func at(v any, path string) any {
	for path != "" {
		switch node := v.(type) {
		case map[string]any:
			next := ""
			for key := range node {
				if s := step(key); strings.HasPrefix(path, s) && len(s) > len(next) {
					next, v = s, node[key]
				}
			}
			if next == "" {
				return nil
			}
			path = path[len(next):]
		case []any:
			var i int
			if _, err := fmt.Sscanf(path, "[%d]", &i); err != nil || i >= len(node) {
				return nil
			}
			v, path = node[i], path[strings.IndexByte(path, ']')+1:]
		default:
			return nil
		}
	}
	return v
}

// short returns a value as JSON in one line, cut after 60 characters.
func short(v any) string {
	const most = 60
	if v == nil {
		return "nothing"
	}
	raw, err := json.Marshal(v)
	if err != nil {
		return "something"
	}
	text := string(raw)
	if runes := []rune(text); len(runes) > most {
		text = string(runes[:most]) + "..."
	}
	return text
}
