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

// Foldable is an object in a list of objects. Objects about which a renderer says the same
// can be told together.
type Foldable struct {
	// Text is the text of a renderer about the object, without its address.
	Text string
	// Own replaces the names of the object in a text; nil: its names are not compared.
	Own func(string) string
	// Create: the object is new. New objects are listed one by one.
	Create bool
	Gone   bool // somebody deleted it
}

// Fold stands for objects that are told together.
type Fold struct {
	Members []int // the indexes of the objects
	Alike   bool  // the texts differ in the objects' own names
}

// Folds puts objects with the same text together, and then many objects whose texts differ
// only in their own names. With full, it only does the former.
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

// join puts folds with the same key together if there are at least minMembers. Folds without a
// key stay alone.
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

// names are the names of the objects of a plan, by block.
type names struct {
	// versions are names of objects that have versions, with the name without the version.
	// Longer names come first.
	versions map[string][][2]string
	// services are the names of services in the cluster.
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

// own returns the names by which texts call the object with an address, longer ones first.
func (n *names) own(a addrs.Object) []string {
	out := []string{n.of(a.Block)}
	if a.Name != "" && !strings.Contains(a.Name, out[0]) {
		out = append(out, a.Name)
	}
	slices.SortFunc(out, func(a, b string) int { return cmp.Compare(len(b), len(a)) })
	return out
}

// of returns the name from which the objects of a block get theirs: the name of the service in
// the cluster, or its default if the plan has no object with the label of the service.
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

// AnyName replaces in a text the names that only this object has: a star stands for the
// names of the object and of its block, and the name of a version loses the version.
func (a *Action) AnyName(text string) string {
	for _, version := range a.names.versions[a.Object.Address.Block] {
		text = strings.ReplaceAll(text, version[0], version[1]+"-…")
	}
	return starred(text, a.own...)
}

// starred replaces names by a star where they are words of a text.
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

// sortedKeys returns the keys of a map in their order.
func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }
