package view_test

import (
	"bytes"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"kolla.openstack.org/kolla/internal/dev/golden"
	"kolla.openstack.org/kolla/internal/present/view"
	"kolla.openstack.org/kolla/internal/present/view/screen"
)

// goldens maps the names of the golden screens to functions that print them.
var goldens = map[string]func(*view.Printer){
	"plan_first":            plan(firstPlan, view.PlanOptions{}),
	"plan_first_full":       plan(firstPlan, view.PlanOptions{Full: true}),
	"plan_first_compact":    plan(firstPlan, view.PlanOptions{Compact: true}),
	"plan_drift_config":     plan(driftAndConfig, view.PlanOptions{}),
	"plan_drift_compact":    plan(driftAndConfig, view.PlanOptions{Compact: true}),
	"plan_replace_delete":   plan(replaceAndDelete, view.PlanOptions{}),
	"plan_replace_compact":  plan(replaceAndDelete, view.PlanOptions{Compact: true}),
	"plan_destroy":          plan(destroyAll, view.PlanOptions{}),
	"plan_errors":           refused(serviceGone),
	"plan_only_errors":      refused(onlyErrors),
	"plan_removed":          plan(servicesRemoved, view.PlanOptions{}),
	"plan_destroy_summary":  plan(destroyWithData, view.PlanOptions{Summary: true}),
	"plan_tuesday_summary":  plan(tuesday, view.PlanOptions{Summary: true}),
	"plan_many":             plan(manyUpdates, view.PlanOptions{}),
	"plan_unverified":       plan(unverified, view.PlanOptions{}),
	"plan_deferred":         plan(deferredPlan, view.PlanOptions{}),
	"plan_none_unread":      plan(unreadOnly, view.PlanOptions{}),
	"plan_adopt_forget":     plan(adoptAndForget, view.PlanOptions{}),
	"plan_long_values":      plan(longValues, view.PlanOptions{}),
	"plan_none":             plan(unchanged(64, 0), view.PlanOptions{}),
	"plan_none_pending":     plan(unchanged(64, 2), view.PlanOptions{}),
	"plan_none_destroy":     plan(nothingToDestroy, view.PlanOptions{}),
	"plan_none_debugged":    plan(debugged, view.PlanOptions{}),
	"plan_none_part":        plan(partlyUnchanged, view.PlanOptions{}),
	"plan_none_selected":    plan(nothingSelected, view.PlanOptions{}),
	"plan_saved":            plan(driftAndConfig, view.PlanOptions{Saved: true, Now: now.Add(17 * time.Minute), Applied: true}),
	"plan_losses":           plan(lossesAndOthers, view.PlanOptions{}),
	"plan_losses_compact":   plan(lossesAndOthers, view.PlanOptions{Compact: true}),
	"plan_mixed_drift":      plan(mixedDrift, view.PlanOptions{}),
	"plan_requested":        plan(requested, view.PlanOptions{}),
	"plan_kept_drift":       plan(keptDrift, view.PlanOptions{}),
	"plan_kept_compact":     plan(keptDrift, view.PlanOptions{Compact: true}),
	"plan_keys":             plan(keys, view.PlanOptions{}),
	"plan_keys_compact":     plan(keys, view.PlanOptions{Compact: true}),
	"plan_refresh_only":     plan(refreshOnly, view.PlanOptions{}),
	"plan_outputs":          plan(outputsOnly, view.PlanOptions{}),
	"plan_haystack":         plan(haystack, view.PlanOptions{}),
	"plan_haystack_compact": plan(haystack, view.PlanOptions{Compact: true}),
	"plan_kinds":            plan(otherKinds, view.PlanOptions{}),
	"plan_lists":            plan(changedLists, view.PlanOptions{}),
	"plan_policies":         plan(judged, view.PlanOptions{}),
	"plan_upgrade":          plan(upgraded, view.PlanOptions{}),
	"plan_downgrade":        plan(downgraded, view.PlanOptions{}),
	"question":              question(tuesday, "admin@prod"),
	"question_destroy":      question(destroyWithData, "admin@prod"),
	"question_kinds":        question(otherKinds, ""),
	"question_outputs":      question(outputsOnly, ""),
	"question_secrets":      question(knownSecrets, ""),
	"diagnostics":           diagnostics,
	"config_explained":      configExplained,
	"config_explained_raw":  configExplainedRaw,
	"problems":              problems,
	"applied_complete":      appliedComplete,
	"applied_warned":        appliedWarned,
	"applied_failed":        appliedFailed,
	"applied_forbidden":     appliedForbidden,
	"applied_interrupted":   appliedInterrupted,
	"applied_waiting":       appliedWaiting,
}

// screens lists the widths and colours of the golden screens.
var screens = []struct {
	name  string
	width int
	color bool
}{
	{"80.txt", 80, false},
	{"160.txt", 160, false},
	{"80-color.txt", 80, true},
	{"160-color.txt", 160, true},
}

func TestGolden(t *testing.T) {
	for name, render := range goldens {
		for _, screen := range screens {
			path := filepath.Join("testdata", name, screen.name)
			t.Run(name+"/"+screen.name, func(t *testing.T) {
				golden.Compare(t, path, capture(screen.width, screen.color, render))
			})
		}
	}
}

// capture returns the output of both streams, in order.
func capture(width int, color bool, render func(*view.Printer)) []byte {
	var b bytes.Buffer
	stream := screen.Stream{Writer: &b, Width: width, Color: color}
	render(&view.Printer{Out: stream, Err: stream, Zone: time.UTC})
	return b.Bytes()
}

// TestGoldenFilesAreUsed checks that each golden file belongs to a case.
func TestGoldenFilesAreUsed(t *testing.T) {
	err := filepath.WalkDir("testdata", func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		dir, file := filepath.Split(path)
		if strings.HasPrefix(path, filepath.Join("testdata", "fuzz")) || strings.HasPrefix(path, filepath.Join("testdata", "markdown")) {
			return nil // TestMarkdown finds unused pages
		}
		_, known := goldens[filepath.Base(dir)]
		known = known && slices.ContainsFunc(screens, func(s struct {
			name  string
			width int
			color bool
		},
		) bool {
			return s.name == file
		})
		if !known {
			if golden.Update() {
				return os.Remove(path)
			}
			return fmt.Errorf("%s belongs to no case", path)
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
}
