package report

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"kolla.openstack.org/kolla/lang/addrs"
	"kolla.openstack.org/kolla/planner/plans"
	"kolla.openstack.org/kolla/providers"
)

// Foldable is an object in a list of objects. Objects for which a renderer has the same text can be
// folded into one entry.
type Foldable struct {
	// Text is the renderer's text about the object, without the address.
	Text string
	// Own replaces the names of the object in a text. If it is nil, names are not replaced.
	Own func(string) string
	// Create: the object is new. New objects are not folded.
	Create bool
	Gone   bool // another client deleted it
}

// Fold is a group of objects with one text.
type Fold struct {
	Members []int // the indexes of the objects
	Alike   bool  // the texts differ in the objects' own names
}

// Folds groups objects with the same text. Then it groups many objects whose texts differ only in
// their own names, unless full is set.
func Folds(items []Foldable, full bool) []Fold {
	var out []Fold
	for i := range items {
		out = append(out, Fold{Members: []int{i}})
	}
	out = join(out, 2, func(f Fold) (string, bool) {
		it := items[f.Members[0]]
		return it.Text, !it.Create
	})
	if full {
		return out
	}
	alike := join(out, Similar+1, func(f Fold) (string, bool) {
		it := items[f.Members[0]]
		if it.Own == nil || len(f.Members) > 1 || it.Create && !it.Gone {
			return "", false
		}
		return it.Own(it.Text), true
	})
	before := map[int]int{} // the number of members, by the first one
	for _, f := range out {
		before[f.Members[0]] = len(f.Members)
	}
	for i, f := range alike {
		alike[i].Alike = len(f.Members) > before[f.Members[0]]
	}
	return alike
}

// join merges folds with the same key if they are at least minMembers. It does not merge folds
// without a key.
func join(folds []Fold, minMembers int, key func(Fold) (string, bool)) []Fold {
	keys := make([]string, len(folds))
	members := map[string]int{}
	for i, f := range folds {
		if k, ok := key(f); ok {
			keys[i] = k + "\n"
			members[keys[i]]++
		}
	}
	var out []Fold
	first := map[string]int{}
	for i, f := range folds {
		k := keys[i]
		if k == "" || members[k] < minMembers {
			out = append(out, f)
			continue
		}
		if at, ok := first[k]; ok {
			out[at].Members = append(out[at].Members, f.Members...)
			continue
		}
		first[k] = len(out)
		out = append(out, f)
	}
	return out
}

// names contains the names of the objects of a plan, by block.
type names struct {
	// versions maps a block to the names of its versioned objects, each with the name without the
	// version. Longer names come first.
	versions map[string][][2]string
	// services maps a block to the name of the service in the cluster.
	services map[string]string
}

func namesOf(plan *plans.Plan) *names {
	n := &names{versions: map[string][][2]string{}, services: map[string]string{}}
	for _, a := range plan.Actions {
		if a.Object == nil {
			continue
		}
		if a.Object.Manifest != nil {
			if name := a.Object.Manifest.GetLabels()[providers.LabelService]; name != "" {
				n.services[a.Address.Block] = name
			}
		}
		if a.Object.Family == (addrs.Object{}) {
			continue
		}
		for _, name := range []string{a.Address.Name, a.Supersedes.Name} {
			if name != "" {
				n.versions[a.Address.Block] = append(n.versions[a.Address.Block], [2]string{name, a.Object.Family.Name})
			}
		}
	}
	for _, versions := range n.versions {
		slices.SortStableFunc(versions, func(a, b [2]string) int { return cmp.Compare(len(b[0]), len(a[0])) })
	}
	return n
}

// own returns the names of an object that may occur in texts, longer ones first.
func (n *names) own(a addrs.Object) []string {
	out := []string{n.of(a.Block)}
	if a.Name != "" && !strings.Contains(a.Name, out[0]) {
		out = append(out, a.Name)
	}
	slices.SortFunc(out, func(a, b string) int { return cmp.Compare(len(b), len(a)) })
	return out
}

// of returns the name on which the names of a block's objects are based: the name of the service in
// the cluster, or the default if the plan has no object with the label of the service.
func (n *names) of(block string) string {
	if name := n.services[block]; name != "" {
		return name
	}
	parts := addrs.SplitBlock(block)
	if parts.Key != nil {
		return fmt.Sprintf("%s-%v", parts.Name, parts.Key)
	}
	return parts.Name
}

// AnyName replaces names that only this object has in a text: a star replaces the names of the
// object and its block, and a version loses its hash.
func (a *Action) AnyName(text string) string {
	for _, version := range a.names.versions[a.Object.Address.Block] {
		text = strings.ReplaceAll(text, version[0], version[1]+"-…")
	}
	return starred(text, a.own...)
}

// starred replaces names by a star if they are whole words of a text.
func starred(text string, names ...string) string {
	for _, name := range names {
		text = starWord(text, name)
	}
	return text
}

func starWord(text, name string) string {
	if name == "" {
		return text
	}
	var out strings.Builder
	last := ' '
	for rest := text; rest != ""; {
		after, found := strings.CutPrefix(rest, name)
		next, _ := utf8.DecodeRuneInString(after)
		if found && !inWord(last) && (after == "" || !inWord(next)) {
			out.WriteByte('*')
			last, rest = '*', after
			continue
		}
		r, size := utf8.DecodeRuneInString(rest)
		out.WriteString(rest[:size])
		last, rest = r, rest[size:]
	}
	return out.String()
}

func inWord(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }

// sortedKeys returns the sorted keys of a map.
func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }
