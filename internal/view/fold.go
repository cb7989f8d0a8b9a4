package view

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"kolla.openstack.org/kolla/internal/report"
	"kolla.openstack.org/kolla/internal/view/screen"
	"kolla.openstack.org/kolla/lang/addrs"
	"kolla.openstack.org/kolla/providers"
)

// What is said of many objects is said once.

// fold joins items with the same body into the first of them, and then those whose
// bodies are the same but for their own names, where they are many.
func (v *planView) fold(items []item) []item {
	exact := func(it item) (string, bool) {
		return it.said(), !it.create
	}
	items = join(items, 2, exact, func(it item) item { return it })
	if v.options.Full {
		return items
	}
	alike := func(it item) (string, bool) {
		if it.names == nil || len(it.heads) > 1 || it.create && !it.gone {
			return "", false
		}
		return it.names(it.said()), true
	}
	return join(items, similar+1, alike, item.anyName)
}

// said is what is said of an item besides its address. Objects with different signs are
// not the same.
func (it item) said() string {
	sign := ""
	for _, m := range it.marked {
		sign = m.sign.text
	}
	return sign + screen.PlainText(slices.Concat(it.together, it.comments, it.body))
}

// join puts items with the same key together, where there are as many as least, and
// makes of the first of them what stands for all. Items without a key stay.
func join(items []item, least int, key func(item) (string, bool), stand func(item) item) []item {
	keys := make([]string, len(items))
	members := map[string]int{}
	for i, it := range items {
		if k, ok := key(it); ok {
			keys[i] = k + "\n"
			members[keys[i]]++
		}
	}
	var out []item
	first := map[string]int{}
	for i, it := range items {
		k := keys[i]
		if k == "" || members[k] < least {
			out = append(out, it)
			continue
		}
		if at, ok := first[k]; ok {
			out[at].heads = append(out[at].heads, it.heads...)
			out[at].marked = append(out[at].marked, it.marked...)
			continue
		}
		first[k] = len(out)
		out = append(out, stand(it))
	}
	return out
}

// anyName is the item with its own names replaced by what stands for any.
func (it item) anyName() item {
	it.alike, it.create = true, false
	it.comments, it.body = it.starred(it.comments), it.starred(it.body)
	return it
}

func (it item) starred(lines []screen.Line) []screen.Line {
	out := make([]screen.Line, len(lines))
	for i, l := range lines {
		for _, s := range l {
			out[i] = append(out[i], screen.Span{Text: it.names(s.Text), Style: s.Style})
		}
	}
	return out
}

// anyNames gives a function that replaces in a text what is the same but in name
// among many objects: the names of versions of an object by that of the object, and
// the names of the object and of its block by a star.
func (v *planView) anyNames(a addrs.Object) func(string) string {
	if v.versions == nil {
		v.versions = v.versionNames()
	}
	own := v.ownNames(a)
	return func(text string) string {
		for _, version := range v.versions[a.Block] {
			text = strings.ReplaceAll(text, version[0], version[1]+"-…")
		}
		return report.Starred(text, own...)
	}
}

// versionNames are, by block, the names of objects that are versions of another,
// with the name of that; longer ones first.
func (v *planView) versionNames() map[string][][2]string {
	out := map[string][][2]string{}
	for _, a := range v.plan.Actions {
		if a.Object == nil || a.Object.Family == (addrs.Object{}) {
			continue
		}
		for _, name := range []string{a.Address.Name, a.Supersedes.Name} {
			if name != "" {
				out[a.Address.Block] = append(out[a.Address.Block], [2]string{name, a.Object.Family.Name})
			}
		}
	}
	for _, names := range out {
		slices.SortStableFunc(names, func(a, b [2]string) int { return cmp.Compare(len(b[0]), len(a[0])) })
	}
	return out
}

// ownNames are the names by which texts speak of the object with an address, longer
// ones first.
func (v *planView) ownNames(a addrs.Object) []string {
	names := []string{v.nameOf(a.Block)}
	if a.Name != "" && !strings.Contains(a.Name, names[0]) {
		names = append(names, a.Name)
	}
	slices.SortFunc(names, func(a, b string) int { return cmp.Compare(len(b), len(a)) })
	return names
}

// nameOf is what the objects of a block are called after: the name of the service in
// the cluster as they are labelled with it, or, where the plan has none of them, what it
// is by default.
func (v *planView) nameOf(block string) string {
	if v.services == nil {
		v.services = map[string]string{}
		for _, a := range v.plan.Actions {
			if a.Object != nil && a.Object.Manifest != nil {
				if name := a.Object.Manifest.GetLabels()[providers.LabelService]; name != "" {
					v.services[a.Address.Block] = name
				}
			}
		}
	}
	if name := v.services[block]; name != "" {
		return name
	}
	parts := addrs.SplitBlock(block)
	if parts.Key != nil {
		return fmt.Sprintf("%s-%v", parts.Name, parts.Key)
	}
	return parts.Name
}
