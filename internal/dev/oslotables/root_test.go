package main

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestForget checks that limits and choices that depend on the machine are dropped, and that all
// others stay.
func TestForget(t *testing.T) {
	declared := func(cpus, fewest, order string) string {
		return `[{"DEFAULT": {"opts": [
			{"dest": "backup_workers", "min": 1, "max": ` + cpus + `},
			{"dest": "threads", "min": ` + fewest + `},
			{"dest": "percentage", "min": 0, "max": 100},
			{"dest": "algorithm", "choices": ` + order + `},
			{"dest": "method", "choices": [["cpu` + cpus + `", null]]},
			{"dest": "mode", "choices": [["b", null], ["a", null]]}]}}]`
	}
	var a asked
	text := `{"options": ` + declared("1", "1", `[["y", "why"], ["x", null]]`) +
		`, "elsewhere": ` + declared("997", "8", `[["x", null], ["y", "why"]]`) + `}`
	if err := json.Unmarshal([]byte(text), &a); err != nil {
		t.Fatal(err)
	}
	if err := a.forget(); err != nil {
		t.Fatal(err)
	}
	zero, one, hundred := 0.0, 1.0, 100.0
	want := []generated{
		{Dest: "backup_workers", Min: &one},
		{Dest: "threads"},
		{Dest: "percentage", Min: &zero, Max: &hundred},
		{Dest: "algorithm", Choices: [][]any{{"x", nil}, {"y", "why"}}},
		{Dest: "method"},
		{Dest: "mode", Choices: [][]any{{"b", nil}, {"a", nil}}},
	}
	if diff := cmp.Diff(want, a.Options[0]["DEFAULT"].Opts); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	a.Elsewhere = nil
	if err := a.forget(); err == nil {
		t.Error("no error, though nothing could be loaded elsewhere")
	}
}
