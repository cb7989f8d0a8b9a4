package tempest

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// Status is the result of one test.
type Status int

// The results of tests. The zero value means that there is none.
const (
	Passed Status = iota + 1
	Failed
	Skipped
)

// Result is the result of one test, or of what a class of tests does before or after its tests: its name is
// then "setUpClass (CLASS)" or "tearDownClass (CLASS)".
type Result struct {
	Name   string // without id and kinds
	Status Status
	Reason string   // why the test was skipped
	Trace  []string // lines of the traceback of a failure; nil: the output has none
}

var (
	outcome = regexp.MustCompile(`^\{[0-9]+\} (.+?)(?: \[[^\]]*\])? \.\.\. (ok|FAILED|SKIPPED)(?:: (.*))?$`)
	total   = regexp.MustCompile(`^ - (Passed|Skipped|Failed): ([0-9]+)$`)
)

// Read reads the output of `tempest run`. It returns an error if the output has no totals at its end, because
// the run was interrupted, or other totals than the results before it.
func Read(output string) ([]Result, error) {
	statuses := map[string]Status{"ok": Passed, "FAILED": Failed, "SKIPPED": Skipped, "Passed": Passed, "Failed": Failed, "Skipped": Skipped}
	var results []Result
	got, want := map[Status]int{}, map[Status]int{}
	traced := false // the lines are of the traceback of the last result
	for line := range strings.Lines(output) {
		line = strings.TrimRight(line, "\n")
		if traced {
			if text, inside := strings.CutPrefix(line, "    "); inside {
				last := &results[len(results)-1]
				last.Trace = append(last.Trace, text)
				continue
			}
			traced = line == "" || strings.HasPrefix(line, "~")
		}
		if line == "Captured traceback:" && len(results) > 0 {
			last := results[len(results)-1]
			traced = last.Status == Failed && last.Trace == nil
		} else if m := outcome.FindStringSubmatch(line); m != nil {
			results = append(results, Result{Name: m[1], Status: statuses[m[2]], Reason: m[3]})
			got[statuses[m[2]]]++
		} else if m := total.FindStringSubmatch(line); m != nil {
			n, err := strconv.Atoi(m[2])
			if err != nil {
				return nil, err
			}
			want[statuses[m[1]]] = n
		}
	}
	if len(want) == 0 {
		return nil, errors.New("the output of Tempest ends without totals: the run was interrupted, or ran no test")
	}
	for _, status := range []Status{Passed, Failed, Skipped} {
		if got[status] != want[status] {
			return nil, fmt.Errorf("the output of Tempest has %d results %s, and its totals say %d", got[status], status, want[status])
		}
	}
	return results, nil
}

func (s Status) String() string {
	return [...]string{"without a result", "passed", "failed", "skipped"}[s]
}

// ofClass matches the name of a result of a whole class.
var ofClass = regexp.MustCompile(`^(?:setUpClass|tearDownClass) \((.+)\)$`)

// List is the output of `tempest run --list-tests`: the full names of tests.
type List []string

// Lists reads the output. Lines that name no test are left out.
func Lists(output string) List {
	var list List
	for line := range strings.Lines(output) {
		if line = strings.TrimSpace(line); test.MatchString(line) {
			list = append(list, line)
		}
	}
	return list
}

// test matches the full name of a test.
var test = regexp.MustCompile(`^([a-z_]+_)?tempest[a-z_]*(\.[^ .]+){3,}$`)

// Required returns the tests of the list that the interop guideline requires.
func (l List) Required() List {
	required := Required()
	return slices.DeleteFunc(slices.Clone(l), func(full string) bool { return required[idOf(full)] != nameOf(full) })
}

// Check returns the problems of required.txt and known.txt: each test there that is missing in the list. The
// list must have all tests of Tempest.
func (l List) Check(known map[string]string) []string {
	names := map[string]bool{}
	named := map[string]string{} // the last name of an id
	for _, full := range l {
		name := nameOf(full)
		named[idOf(full)] = name
		names[name] = true
		names["setUpClass ("+classOf(name)+")"] = true
		names["tearDownClass ("+classOf(name)+")"] = true
	}
	var problems []string
	for id, name := range Required() {
		switch {
		case names[name]:
		case named[id] != "":
			problems = append(problems, fmt.Sprintf("required.txt: Tempest has no test %s; its id belongs to %s", name, named[id]))
		default:
			problems = append(problems, fmt.Sprintf("required.txt: Tempest has no test %s; remove the line, and say so above the list", name))
		}
	}
	for name := range known {
		if !names[name] {
			problems = append(problems, fmt.Sprintf("known.txt: Tempest has no test %s; remove the line", name))
		}
	}
	slices.Sort(problems)
	return problems
}

func classOf(name string) string { return name[:strings.LastIndex(name, ".")] }

// Judge compares the results with the list and with the known tests, and returns the problems: an unknown
// failure, a required test that was skipped, a known test that passes, a test without a result.
func (l List) Judge(results []Result, known map[string]string) []string {
	required := l.Required()
	of := map[string]Result{}
	for _, r := range results {
		of[r.Name] = r
	}
	var problems []string
	say := func(name, what string) { problems = append(problems, name+" "+what) }
	for _, full := range l {
		name := nameOf(full)
		r, found := of[name]
		if !found {
			r = of["setUpClass ("+classOf(name)+")"]
		}
		switch {
		case r.Status == Passed && known[name] != "":
			say(name, "passes now: remove its line from known.txt")
		case r.Status == Passed, known[name] != "":
		case r.Status == Skipped && slices.Contains(required, full):
			say(name, "is required, and was skipped: "+r.Reason)
		case r.Status == Failed && found:
			say(name, "failed")
		case r.Status == 0:
			say(name, "has no result")
		}
	}
	for _, r := range results {
		if ofClass.MatchString(r.Name) && r.Status == Failed && known[r.Name] == "" {
			say(r.Name, "failed")
		}
	}
	slices.Sort(problems)
	return problems
}

// groups maps the beginnings of the names of tests to the names of their groups.
var groups = []struct{ prefix, name string }{
	{"tempest.api.compute.", "servers"},
	{"tempest.api.identity.", "identity"},
	{"tempest.api.image.", "images"},
	{"tempest.api.network.", "networks"},
	{"tempest.api.volume.", "volumes"},
	{"tempest.scenario.", "scenarios"},
	{"barbican_tempest_plugin.", "Barbican's plug-in"},
	{"heat_tempest_plugin.", "Heat's plug-in"},
	{"keystone_tempest_plugin.", "Keystone's plug-in"},
	{"", "others"},
}

func group(name string) string {
	if m := ofClass.FindStringSubmatch(name); m != nil {
		name = m[1] + "."
	}
	i := slices.IndexFunc(groups, func(g struct{ prefix, name string }) bool { return strings.HasPrefix(name, g.prefix) })
	return groups[i].name
}

// Table writes the numbers of results by group as a table in Markdown, and below it why tests were skipped. Of a
// class that was skipped as a whole, Tempest counts one result.
func Table(w io.Writer, results []Result) {
	counts := map[string][Skipped + 1]int{}
	reasons := map[string]int{}
	for _, r := range results {
		for _, name := range []string{group(r.Name), "all"} {
			n := counts[name]
			n[r.Status]++
			counts[name] = n
		}
		if r.Status == Skipped {
			reasons[r.Reason]++
		}
	}
	fmt.Fprint(w, "| group | passed | failed | skipped |\n| --- | --- | --- | --- |\n")
	row := func(name string) {
		if n, ok := counts[name]; ok {
			fmt.Fprintf(w, "| %s | %d | %d | %d |\n", name, n[Passed], n[Failed], n[Skipped])
		}
	}
	for _, g := range groups {
		row(g.name)
	}
	row("all")
	sorted := slices.SortedFunc(maps.Keys(reasons), func(a, b string) int {
		return cmp.Or(cmp.Compare(reasons[b], reasons[a]), cmp.Compare(a, b))
	})
	if len(sorted) > 0 {
		fmt.Fprint(w, "\n| skipped | reason |\n| --- | --- |\n")
	}
	for _, reason := range sorted {
		fmt.Fprintf(w, "| %d | %s |\n", reasons[reason], strings.ReplaceAll(reason, "|", `\|`))
	}
}
