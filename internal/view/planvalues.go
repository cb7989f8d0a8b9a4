package view

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"kolla.openstack.org/kolla/planner"
	"kolla.openstack.org/kolla/providers"
)

// sides are those of a change as trees. Those of the last three hold true
// where a value is not known yet, or is a secret.
type sides struct {
	before, after                            any // nil: the object is not there
	unknown, beforeSensitive, afterSensitive any
}

// valuesOf puts together what is known of an object before and after an action:
// what is declared, with the changes of the action on either side.
func valuesOf(a *planner.Action) sides {
	before, after := map[string]any(nil), map[string]any(nil)
	if a.Prior.UID != "" || a.Verb == planner.Delete || a.Verb == planner.Update || a.Verb == planner.Replace {
		before = identityOf(a)
	}
	stays := a.Verb != planner.Delete && a.Verb != planner.Forget || a.Partial
	if stays {
		after = identityOf(a)
	}
	if a.Object != nil && a.Object.Manifest != nil {
		if before != nil {
			before = merged(before, a.Object.Manifest.Object)
		}
		after = merged(after, a.Object.Manifest.Object)
	}
	for _, y := range a.Yields { // what is declared there is neither live nor applied
		for _, tree := range []map[string]any{before, after} {
			if tree != nil {
				set(tree, stepsOf(y.Path), y.Live)
			}
		}
	}
	unknown, hiddenBefore, hiddenAfter := map[string]any{}, map[string]any{}, map[string]any{}
	if a.Deferred() && after != nil {
		known, later := knownOf(after)
		after, _ = known.(map[string]any)
		if tree, ok := later.(map[string]any); ok {
			unknown = tree
		}
	}
	markSecrets(a, before, after, hiddenBefore, hiddenAfter)
	for _, c := range masked(a.Changes) {
		path := stepsOf(c.Path)
		if before != nil {
			set(before, path, c.Before)
		}
		if after != nil && isUnknown(a, c.After) {
			set(after, path, nil)
			set(unknown, path, true)
		} else if after != nil {
			set(after, path, c.After)
		}
		if c.Sensitive && before != nil && c.Before != nil {
			set(hiddenBefore, path, true)
		}
		if c.Sensitive && after != nil {
			set(hiddenAfter, path, true)
		}
	}
	v := sides{unknown: unknown, beforeSensitive: hiddenBefore, afterSensitive: hiddenAfter}
	if before != nil {
		v.before = before
	}
	if after != nil {
		v.after = after
	}
	return v
}

// knownOf is a value without what is known only after the apply, and a tree that holds
// true in the place of that; nil: all is known.
func knownOf(v any) (known, later any) {
	switch v := v.(type) {
	case string:
		if strings.Contains(v, planner.Unknown) || strings.HasSuffix(v, providers.UnknownVersion) {
			return nil, true
		}
	case map[string]any:
		fields, places := map[string]any{}, map[string]any{}
		for key, field := range v {
			known, later := knownOf(field)
			if later != nil {
				places[key] = later
			}
			if later != true {
				fields[key] = known
			}
		}
		if len(places) > 0 {
			return fields, places
		}
	case []any:
		elements, places, some := make([]any, len(v)), make([]any, len(v)), false
		for i, element := range v {
			elements[i], places[i] = knownOf(element)
			if some = some || places[i] != nil; places[i] == nil {
				places[i] = false
			}
		}
		if some {
			return elements, places
		}
	}
	return v, nil
}

// isUnknown reports whether not all of a value of a change is known yet.
func isUnknown(a *planner.Action, v any) bool {
	if !a.Deferred() {
		return v == planner.Unknown
	}
	_, later := knownOf(v)
	return later != nil
}

// markSecrets puts masks where the values of a Secret are.
func markSecrets(a *planner.Action, before, after, hiddenBefore, hiddenAfter map[string]any) {
	if a.Object == nil {
		return
	}
	for key := range a.Object.Data {
		path := []pathStep{{text: "data"}, {text: key}}
		if before != nil {
			set(before, path, planner.Masked)
			set(hiddenBefore, path, true)
		}
		if after != nil {
			set(after, path, planner.Masked)
			set(hiddenAfter, path, true)
		}
	}
}

// identityOf is what tells an object from others.
func identityOf(a *planner.Action) map[string]any {
	metadata := map[string]any{"name": a.Ref.Name}
	if a.Ref.Namespace != "" {
		metadata["namespace"] = a.Ref.Namespace
	}
	apiVersion, kind := a.Ref.GVK.ToAPIVersionAndKind()
	return map[string]any{"apiVersion": apiVersion, "kind": kind, "metadata": metadata}
}

// merged puts the fields of an object over those of a tree.
func merged(tree, fields map[string]any) map[string]any {
	out, _ := copied(fields).(map[string]any)
	for key, v := range tree {
		if _, has := out[key]; !has {
			out[key] = v
		}
	}
	return out
}

// masked takes the values off sensitive changes.
func masked(changes []planner.Change) []planner.Change {
	out := slices.Clone(changes)
	for i := range out {
		if c := &out[i]; c.Sensitive {
			if c.Before != nil {
				c.Before = planner.Masked
			}
			if c.After != nil && c.After != planner.Unknown {
				c.After = planner.Masked
			}
		}
	}
	return out
}

// pathStep is one part of a change's path: a field, or what is in brackets.
type pathStep struct {
	text      string
	bracketed bool
	quoted    bool // in brackets and quotes
}

// stepsOf takes a path such as `spec.containers["api"].ports[80/TCP]` apart.
func stepsOf(path string) []pathStep {
	var steps []pathStep
	for path != "" {
		switch {
		case path[0] == '.':
			path = path[1:]
		case strings.HasPrefix(path, `["`):
			quoted, err := strconv.QuotedPrefix(path[1:])
			if err != nil {
				return append(steps, pathStep{text: path})
			}
			text, _ := strconv.Unquote(quoted)
			// The keys of these are names of files, and in brackets whatever they are.
			file := len(steps) == 1 && (steps[0].text == "data" || steps[0].text == "binaryData")
			steps = append(steps, pathStep{text: text, bracketed: !file, quoted: !file})
			path = strings.TrimPrefix(path[1+len(quoted):], "]")
		case path[0] == '[':
			text, rest, _ := strings.Cut(path[1:], "]")
			steps = append(steps, pathStep{text: text, bracketed: true})
			path = rest
		default:
			end := strings.IndexAny(path, ".[")
			if end < 0 {
				end = len(path)
			}
			steps = append(steps, pathStep{text: path[:end]})
			path = path[end:]
		}
	}
	return steps
}

// attributesOf is a path as a list of names and indexes.
func attributesOf(path string) []any {
	var out []any
	for _, step := range stepsOf(path) {
		if n, err := strconv.Atoi(step.text); err == nil && step.bracketed && !step.quoted {
			out = append(out, n)
		} else {
			out = append(out, step.text)
		}
	}
	return out
}

// set puts a value into a tree, or with nil takes it out. Containers that are not
// there are made.
func set(tree map[string]any, path []pathStep, v any) {
	if len(path) > 0 {
		put(tree, path, v)
	}
}

// put returns the container, with the value in it.
func put(at any, path []pathStep, v any) any {
	step := path[0]
	if list, ok := at.([]any); ok || at == nil && step.inList() {
		return putElement(list, path, v)
	}
	fields, ok := at.(map[string]any)
	if !ok {
		fields = map[string]any{}
	}
	switch {
	case len(path) > 1 && (v != nil || fields[step.text] != nil):
		fields[step.text] = put(fields[step.text], path[1:], v)
	case v == nil && len(path) == 1:
		delete(fields, step.text)
	case v == nil: // nothing is there to be taken out
	default:
		fields[step.text] = copied(v)
	}
	return fields
}

// putElement does the same in a list, whose elements are found by what they are
// named by in paths.
func putElement(list []any, path []pathStep, v any) []any {
	step := path[0]
	i := slices.IndexFunc(list, step.names)
	if n, err := strconv.Atoi(step.text); i < 0 && err == nil && !step.quoted && n < len(list) {
		i = n
	}
	switch {
	case i < 0 && v == nil:
		return list
	case i < 0:
		var element any = step.text
		if len(path) > 1 {
			element = put(map[string]any{"name": step.text}, path[1:], v)
		} else if v != true {
			element = copied(v)
		}
		return append(list, element)
	case len(path) > 1:
		list[i] = put(list[i], path[1:], v)
	case v == nil:
		return slices.Delete(list, i, i+1)
	default:
		list[i] = copied(v)
	}
	return list
}

// plainName is how fields are named in paths without brackets; see planner.Change.
var plainName = regexp.MustCompile(`^[A-Za-z_$][A-Za-z0-9_$-]*$`)

// inList reports whether the step can only be into a list: a field of that name
// would not be in brackets.
func (s pathStep) inList() bool {
	return s.bracketed && (!s.quoted || plainName.MatchString(s.text))
}

// names reports whether the step names the element of a list: by a scalar, or by
// the fields of its merge key in one. A protocol that is left out is TCP.
func (s pathStep) names(element any) bool {
	fields, ok := element.(map[string]any)
	if !ok {
		return fmt.Sprint(element) == s.text
	}
	if s.quoted {
		for _, key := range []string{"name", "key", "mountPath", "devicePath", "ip", "type", "topologyKey", "uid", "containerPort"} {
			if v, has := fields[key]; has {
				return v == s.text
			}
		}
		return false
	}
	scalars := slices.Collect(maps.Values(fields))
	for _, part := range strings.Split(s.text, "/") {
		if !slices.ContainsFunc(scalars, func(v any) bool { return fmt.Sprint(v) == part }) && (part != "TCP" || fields["protocol"] != nil) {
			return false
		}
	}
	return true
}

// copied is a value that nobody else holds.
func copied(v any) any {
	switch v := v.(type) {
	case map[string]any:
		out := make(map[string]any, len(v))
		for key, below := range v {
			out[key] = copied(below)
		}
		return out
	case []any:
		out := make([]any, len(v))
		for i, below := range v {
			out[i] = copied(below)
		}
		return out
	}
	return v
}
