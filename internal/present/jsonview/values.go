package jsonview

import (
	"slices"
	"strconv"
	"strings"

	"kolla.openstack.org/kolla/planner/plans"
)

// sides are the two sides of a change in Terraform's format. The last three are true for
// values that are not known yet or secret.
type sides struct {
	before, after                            any // nil: the object is not there
	unknown, beforeSensitive, afterSensitive map[string]any
}

// valuesOf gives the object of an action before and after it.
func valuesOf(a *plans.Action) sides {
	v := sides{unknown: map[string]any{}, beforeSensitive: map[string]any{}, afterSensitive: map[string]any{}}
	if a.Values == nil {
		return v
	}
	after := a.Values.After
	if a.Verb == plans.None || a.Verb == plans.Refresh {
		after = a.Values.Before
	}
	if before := a.Values.Before; before != nil {
		v.before, v.beforeSensitive = before.Values, maskedIn(before.Sensitive)
	}
	if after != nil {
		v.after, v.afterSensitive, v.unknown = after.Values, maskedIn(after.Sensitive), maskedIn(after.Unknown)
	}
	return v
}

// driftValues gives the object as kolla wrote it, and as others changed it. Only the
// identity of a deleted object is known.
func driftValues(a *plans.Action) sides {
	v := sides{unknown: map[string]any{}, beforeSensitive: map[string]any{}, afterSensitive: map[string]any{}}
	if a.Has(plans.ReasonGone) {
		v.before = identityOf(a)
		return v
	}
	if a.Values == nil || a.Values.Before == nil {
		return v
	}
	written := a.Values.Written
	if written == nil { // others only replaced values, which are masked
		written = a.Values.Before
	}
	v.before, v.beforeSensitive = written.Values, maskedIn(written.Sensitive)
	v.after, v.afterSensitive = a.Values.Before.Values, maskedIn(a.Values.Before.Sensitive)
	return v
}

// maskedIn replaces nil, which Terraform's format does not allow here.
func maskedIn(m map[string]any) map[string]any {
	if m == nil {
		return map[string]any{}
	}
	return m
}

// identityOf returns the fields that identify an object.
func identityOf(a *plans.Action) map[string]any {
	metadata := map[string]any{"name": a.Ref.Name}
	if a.Ref.Namespace != "" {
		metadata["namespace"] = a.Ref.Namespace
	}
	apiVersion, kind := a.Ref.GVK.ToAPIVersionAndKind()
	return map[string]any{"apiVersion": apiVersion, "kind": kind, "metadata": metadata}
}

// masked removes the values of sensitive changes.
func masked(changes []plans.Change) []plans.Change {
	out := slices.Clone(changes)
	for i := range out {
		if c := &out[i]; c.Sensitive {
			if c.Before != nil {
				c.Before = plans.Masked
			}
			if c.After != nil && c.After != plans.Unknown {
				c.After = plans.Masked
			}
		}
	}
	return out
}

// pathStep is one part of the path of a change: a field, or the content of brackets.
type pathStep struct {
	text      string
	bracketed bool
	quoted    bool // in brackets and quotes
}

// stepsOf splits a path such as `spec.containers["api"].ports[80/TCP]`.
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

// attributesOf returns a path as a list of names and indexes.
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
