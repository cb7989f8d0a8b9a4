package tempest

import (
	"maps"
	"regexp"
	"slices"
)

// Omission is a choice of tests that do not run.
type Omission struct {
	Name   string // for people
	Regex  string // of the names of tests
	Reason string // a sentence
}

// Omissions returns the known tests as omissions, sorted by name.
func Omissions(known map[string]string) (out []Omission) {
	for _, name := range slices.Sorted(maps.Keys(known)) {
		out = append(out, Omission{name, "^" + regexp.QuoteMeta(name), known[name]})
	}
	return out
}

// groupsOf are the tests that only use one service, by its type.
var groupsOf = map[string]string{
	"block-storage": "tempest.api.volume.",
	"compute":       "tempest.api.compute.",
	"image":         "tempest.api.image.",
	"network":       "tempest.api.network.",
}

// Undeclared returns the tests of services that the cloud does not have, sorted by the types of the services.
func (c Cloud) Undeclared() (out []Omission) {
	for _, service := range slices.Sorted(maps.Keys(groupsOf)) {
		if name := groupsOf[service]; !c.has(service) {
			out = append(out, Omission{name, "^" + regexp.QuoteMeta(name), "No service of type " + service + " is declared and reachable from outside."})
		}
	}
	return out
}

// Unmet returns required tests of the interop guideline without a verdict: skipped tests, with the reasons, and absent
// tests, which this Tempest does not have. Tests that the operator left out do not count.
func Unmet(results []Result, without []Omission) (skipped []Result, absent []string) {
	of := map[string]Result{}
	for _, r := range results {
		of[r.Name] = r
	}
	for _, name := range slices.Sorted(maps.Values(Required())) {
		if slices.ContainsFunc(without, func(o Omission) bool { return regexp.MustCompile(o.Regex).MatchString(name) }) {
			continue
		}
		r, found := of[name]
		if !found {
			r = of["setUpClass ("+classOf(name)+")"]
		}
		switch r.Status {
		case Skipped:
			skipped = append(skipped, Result{Name: name, Status: Skipped, Reason: r.Reason})
		case Passed, Failed:
		default:
			absent = append(absent, name)
		}
	}
	return skipped, absent
}
