package approval_test

import (
	"testing"
	"time"

	"kolla.openstack.org/kolla/internal/run/approval"
	"kolla.openstack.org/kolla/planner/plans"
)

// TestMasksStandForAnyText checks that a mask matches any text, and that the text around it is
// compared. A plan masks the secret values that it knows, and the new plan may know other ones.
func TestMasksStandForAnyText(t *testing.T) {
	change := func(path string, before, after any) plans.Action {
		a := act(plans.Update, "a", "1")
		a.Changes = []plans.Change{{Path: path, Before: before, After: after}}
		return a
	}
	yield := func(field string, live, want any) plans.Action {
		a := act(plans.Update, "a", "1", "data.b")
		a.Yields = []plans.Yield{{Path: field, Field: field, Live: live, Want: want}}
		return a
	}
	removes := func(set string) plans.Action {
		a := act(plans.Update, "a", "1", "data.b")
		a.Removes = set
		return a
	}
	reason := func(manager string) plans.Action {
		a := act(plans.Update, "a", "1", "data.b")
		a.Reasons = []plans.Reason{{Kind: plans.ReasonDrift, Path: "data.b", Manager: manager}}
		return a
	}
	two := change("data.a", "1", "2")
	two.Changes = append(two.Changes, plans.Change{Path: "data.b", Before: "1", After: "2"})
	const mask = plans.Masked
	for name, test := range map[string]struct {
		saved, fresh plans.Action
		differs      bool
	}{
		"masked by the file":         {change("data.a", "was "+mask, "x"), change("data.a", "was hunter2", "x"), false},
		"masked by the new plan":     {change("data.a", []any{"hunter2"}, "x"), change("data.a", []any{mask}, "x"), false},
		"both mask a part":           {change("data.a", "a="+mask+"\nb=hunter3\n", "x"), change("data.a", "a=hunter2\nb="+mask+"\n", "x"), false},
		"other text before a mask":   {change("data.a", "host=b\npw="+mask+"\nport=1", "x"), change("data.a", "host=evil\npw="+mask+"\nport=1", "x"), true},
		"other text after a mask":    {change("data.a", "pw="+mask+"\nport=1", "x"), change("data.a", "pw=hunter2\nport=9", "x"), true},
		"other text between masks":   {change("data.a", mask+" b "+mask, "x"), change("data.a", "hunter2 c hunter3", "x"), true},
		"the masked line is gone":    {change("data.a", "host=b\npw="+mask+"\nport=1", "x"), change("data.a", "host=b\nport=1", "x"), true},
		"a mask of nothing":          {change("data.a", "pw="+mask, "x"), change("data.a", "pw=", "x"), true},
		"a masked number":            {change("data.a", mask, "x"), change("data.a", int64(5), "x"), true},
		"a masked key of a map":      {change("data", map[string]any{mask: "1", "z": "2"}, "x"), change("data", map[string]any{"hunter2": "1", "z": "2"}, "x"), false},
		"a key of a map more":        {change("data", map[string]any{mask: "1"}, "x"), change("data", map[string]any{"hunter2": "1", "b": "1"}, "x"), true},
		"a key of a map less":        {change("data", map[string]any{mask: "1", "b": "1"}, "x"), change("data", map[string]any{"hunter2": "1"}, "x"), true},
		"a key that is masked more":  {change(`data["a-`+mask+`"]`, "1", "2"), change(`data["`+mask+`"]`, "1", "2"), false},
		"another masked key":         {change(`data["a-`+mask+`"]`, "1", "2"), change(`data["b-`+mask+`"]`, "1", "2"), true},
		"equal keys":                 {change(`data["`+mask+`"]`, "1", "2"), change(`data["`+mask+`"]`, "1", "2"), false},
		"another value":              {change("data.a", mask, "x"), change("data.a", "hunter2", "y"), true},
		"another field":              {change("data.a", mask, "x"), change("data.b", mask, "x"), true},
		"a file that hides the path": {change(mask, "1", "2"), change("data.b", "1", "2"), true},
		"a file that hides a name":   {change("metadata["+`"`+mask+`"]`, "1", "2"), change(`metadata["ConfigMap"]`, "1", "2"), true},
		"a file that hides a value":  {change("data.a", "1", mask), change("data.a", "1", "new"), true},
		"a file that hides more":     {change("data.a", "1", mask), change("data.a", "1", "a="+mask), true},
		"a value of a webhook":       {change("data.a", "1", "a=hunter2"), change("data.a", "1", "a="+mask), false},
		"a path in place of two":     {change("data."+mask, "1", "2"), two, true},
		"not masked":                 {change("data.a", "1", "2"), change("data.a", "3", "2"), true},
		"a yield":                    {yield("data.a", mask, "1"), yield("data.a", "hunter2", "1"), false},
		"another yield":              {yield("data.a", mask, "1"), yield("data.c", mask, "1"), true},
		"another value of a yield":   {yield("data.a", "1", "1"), yield("data.a", "2", "1"), true},
		"a hidden value of a yield":  {yield("data.a", "1", mask), yield("data.a", "1", "2"), true},
		"what it removes":            {removes(`{"f:` + mask + `":{}}`), removes(`{"f:hunter2":{}}`), false},
		"it removes more":            {removes(`{"f:` + mask + `":{}}`), removes(`{"f:` + mask + `":{},"f:theirs":{},"f:` + mask + `":{}}`), true},
		"it removes something below": {removes(`{"f:` + mask + `":{}}`), removes(`{"f:a":{"f:b":{}}}`), true},
		"the author in a reason":     {reason("by-me"), reason(mask), false},
		"another author":             {reason("by-me"), reason("with-" + mask), true},
	} {
		t.Run(name, func(t *testing.T) {
			if verdict := check(t, test.saved, test.fresh); test.differs != (len(verdict.Differences) > 0) {
				t.Errorf("differences %v, want some: %v", verdict.Differences, test.differs)
			}
		})
	}
}

// TestMasksOfMovedObjects tests a masked value of an object that was changed since. Only field
// manager and time show whether the value was written again.
func TestMasksOfMovedObjects(t *testing.T) {
	change := func(version, before, manager string, hour int) plans.Action {
		a := act(plans.Update, "a", version)
		a.Changes = []plans.Change{{
			Path: "data.a", Before: before, After: "x", Drift: true, Manager: manager, Time: time.Date(2026, 11, 26, hour, 0, 0, 0, time.UTC),
		}}
		return a
	}
	const mask = plans.Masked
	saved := change("1", "host=b\npw="+mask+"\nport=1", "kubectl", 9)
	for name, test := range map[string]struct {
		fresh plans.Action
		held  bool
	}{
		"another field was written":  {change("2", "host=b\npw="+mask+"\nport=1", "kubectl", 9), false},
		"the author is masked":       {change("2", "host=b\npw=hunter2\nport=1", mask, 9), false},
		"others wrote the value":     {change("2", "host=b\npw="+mask+"\nport=1", "evil", 9), true},
		"it was written again":       {change("2", "host=b\npw="+mask+"\nport=1", "kubectl", 10), true},
		"text beside it was written": {change("2", "host=evil\nport=9", "kubectl", 9), true},
	} {
		v := check(t, saved, test.fresh)
		if held := v.Held[address("a")] != nil; held != test.held || held != (len(v.Differences) > 0) || !approval.OnlyDrift(v.Differences) {
			t.Errorf("%s: held %v, differences %v", name, v.Held, v.Differences)
		}
	}
}
