package approval

import (
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"kolla.openstack.org/kolla/internal/run/executor"
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
// the fresh action.
func unlike(saved, fresh *plans.Action) []string {
	if saved.Verb != fresh.Verb {
		return otherVerb(saved, fresh, "")
	}
	out, _ := apart(saved, fresh, alikeYield)
	for _, field := range []struct {
		name         string
		saved, fresh any
	}{
		{"object in the cluster", saved.Ref, fresh.Ref},
		{"version of the object in the cluster", saved.Prior, fresh.Prior},
		{"list of reasons", saved.Reasons, fresh.Reasons},
	} {
		if !alike(plain(field.saved), plain(field.fresh), alikeText) {
			out = append(out, fmt.Sprintf("the file has another %s than a new plan", field.name))
		}
	}
	return append(out, changed(saved, fresh, "")...)
}

// apart compares the settings of two actions: how kolla writes the object, which fields it leaves
// to other managers, and which data a deletion loses. more lists the differences that make the new
// plan do more.
func apart(saved, fresh *plans.Action, yield func(saved, fresh plans.Yield, open Open) bool) (all, more []string) {
	for _, field := range []struct {
		name         string
		saved, fresh any
		less         bool // if they differ, the new plan does less
	}{
		{"word on taking fields by force", saved.Force, fresh.Force, !fresh.Force},
		{"word on what it takes the place of", saved.Supersedes, fresh.Supersedes, false},
		{"size that it grows to", saved.Grows, fresh.Grows, false},
		{"word on whether its pods stay", saved.KeepsPods, fresh.KeepsPods, false},
		{"word on what is lost with it", saved.Holds, fresh.Holds, false},
		{"heir of its values", saved.ValuesCopiedTo, fresh.ValuesCopiedTo, false},
		{"word on what else is in the namespace", saved.Occupied, fresh.Occupied, false},
		{"word on whether it stays", saved.Partial, fresh.Partial, false},
		{"word on letting it go", saved.Releases, fresh.Releases, false},
		{"list of fields that others added", true, alikePath(saved.Removes, fresh.Removes, nil), fresh.Removes == ""},
		{"list of fields that are left to others", true, sameYields(saved, fresh, yield), false},
	} {
		if field.saved == field.fresh {
			continue
		}
		text := fmt.Sprintf("the file has another %s than a new plan", field.name)
		all = append(all, text)
		if !field.less {
			more = append(more, text)
		}
	}
	// A Job that does not run does nothing, also if a server could not be read.
	idle := fresh.Verb == plans.None && fresh.Object != nil && fresh.Object.Registers != nil
	if fresh.Evidence.Kind == plans.Unverified && saved.Evidence.Kind != plans.Unverified && !idle {
		text := fmt.Sprintf("by the file it was proven (%q), and it cannot be: %s", saved.Evidence.Kind, fresh.Evidence.Detail)
		all, more = append(all, text), append(more, text)
	}
	return all, more
}

// sameYields reports whether two actions leave the same fields to others.
func sameYields(saved, fresh *plans.Action, alike func(saved, fresh plans.Yield, open Open) bool) bool {
	if len(saved.Yields)+len(fresh.Yields) == 0 {
		return true
	}
	open := OpenIn(fresh.Object)
	less, more := unmatched(saved.Yields, fresh.Yields, func(s, f plans.Yield) bool { return alike(s, f, open) })
	return len(less)+len(more) == 0
}

// alikeField reports whether the same field is left to others.
func alikeField(saved, fresh plans.Yield, open Open) bool {
	return alikePath(saved.Field, fresh.Field, open)
}

// alikeYield reports whether the same field is left to the same writer, with the same values.
func alikeYield(saved, fresh plans.Yield, open Open) bool {
	return alikeField(saved, fresh, open) && alikePath(saved.Path, fresh.Path, open) &&
		saved.Declared == fresh.Declared && alikeText(saved.Manager, fresh.Manager) && saved.Time.Equal(fresh.Time) &&
		alike(saved.Want, fresh.Want, shows) &&
		alike(saved.Live, fresh.Live, alikeText) && alike(saved.Value, fresh.Value, alikeText)
}

// otherVerb says that the new plan has another verb for the object, and which fields it changes. by
// names the last writer of the object; see LastWriter.
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
		return nil // the change was made in the meantime
	case creates(f) && !creates(s), saved.Prior.UID != fresh.Prior.UID:
		return &providers.PreconditionError{Ref: fresh.Ref, Gone: true}
	case s != f:
		return movedSince(fresh.Ref, fmt.Sprintf("a new plan says %s, and this one %s", f, s))
	}
	if _, more := apart(saved, fresh, alikeField); len(more) > 0 {
		return movedSince(fresh.Ref, more[0])
	}
	if _, more := changesApart(saved, fresh); len(more) > 0 {
		return &executor.MovedError{Ref: fresh.Ref, Changes: more}
	}
	return nil
}

// creates reports whether a verb makes an object that is not there.
func creates(v plans.Verb) bool { return v == plans.Create || v == plans.Run }

func movedSince(ref providers.Ref, what string) error {
	return fmt.Errorf("%s was changed since the plan was made: %s; make a new plan", ref, what)
}

// unmatched returns the elements of two lists that have no counterpart in the other one.
func unmatched[T any](saved, fresh []T, alike func(saved, fresh T) bool) (less, more []T) {
	more = slices.Clone(fresh)
	for _, s := range saved {
		if i := slices.IndexFunc(more, func(f T) bool { return alike(s, f) }); i >= 0 {
			more = slices.Delete(more, i, i+1)
		} else {
			less = append(less, s)
		}
	}
	return less, more
}

// changesApart returns the changes that only one of two actions has.
func changesApart(saved, fresh *plans.Action) (less, more []plans.Change) {
	known := map[string]int{}
	for _, c := range saved.Changes {
		known[essence(saved, c)]++
	}
	for _, c := range fresh.Changes {
		if e := essence(fresh, c); known[e] > 0 {
			known[e]--
		} else {
			more = append(more, c)
		}
	}
	for _, c := range saved.Changes {
		if e := essence(saved, c); known[e] > 0 {
			known[e]--
			less = append(less, c)
		}
	}
	if len(less) == 0 || len(more) == 0 {
		return less, more
	}
	open := OpenIn(fresh.Object)
	return unmatched(less, more, func(s, f plans.Change) bool { return alikeChange(s, f, open) })
}

// alikeChange reports whether two changes differ at most in masks. A mask may hide any value, so
// only the author shows whether the live value is another one.
func alikeChange(saved, fresh plans.Change, open Open) bool {
	return saved.Sensitive == fresh.Sensitive && alikePath(saved.Path, fresh.Path, open) &&
		saved.Drift == fresh.Drift && alikeText(saved.Manager, fresh.Manager) && saved.Time.Equal(fresh.Time) &&
		alike(saved.Before, fresh.Before, alikeText) && alike(saved.After, fresh.After, shows)
}

// essence returns the effect of a change, and the author of a masked live value. A number that the
// server chooses for each request counts as equal to any number.
func essence(a *plans.Action, c plans.Change) string {
	c.After = withoutPicks(a, c)
	text := executor.Essence(c)
	if c.Drift && strings.Contains(text, plans.Masked) {
		text += providers.WrittenBy("", c.Manager, c.Time)
	}
	return text
}

// equal compares two values in the form of a plan file.
func equal(saved, fresh any) bool { return reflect.DeepEqual(plain(saved), plain(fresh)) }

// asJSON returns a value in the form of a plan file.
func asJSON(v any) string {
	raw, err := json.Marshal(v)
	if err != nil {
		panic(fmt.Sprintf("a part of a plan is not JSON: %v", err))
	}
	return string(raw)
}

// plain returns a value as decoded from JSON. Numbers stay strings, so that none is rounded.
func plain(v any) any {
	decoder := json.NewDecoder(strings.NewReader(asJSON(v)))
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
