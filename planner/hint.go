package planner

import (
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"kolla.openstack.org/kolla/lang"
)

// resemblance is the share of fields from which on two objects look like one that was
// renamed. Names and labels of another service make up for much of the rest.
const resemblance = 0.6

// hintRenames warns where what disappears from one block appears in another: a
// rename that nobody has said, by which generated values would be lost.
func (p *planning) hintRenames(undeclared []target) {
	told := map[string]bool{}
	for _, t := range undeclared {
		if t.live == nil || t.partial || t.why != "" || told[t.address.Block] {
			continue
		}
		best, share := p.lookalike(t)
		if best == nil {
			continue
		}
		told[t.address.Block] = true
		p.problems = append(p.problems, Problem{
			Warning: true,
			Address: best.object.Address,
			Source:  best.object.Source,
			Summary: fmt.Sprintf("%s looks as if it was renamed to %s", t.address.Block, best.object.Address.Block),
			Detail: fmt.Sprintf("%s and %s are the same in %d %% of their fields. If it is one, say so: what kolla generated for it is then taken along. Objects get the names of their new block all the same.\n\n  moved {\n    from = %s\n    to   = %s\n  }",
				t.ref, best.action.Ref, int(share*100), t.address.Block, best.object.Address.Block),
		})
	}
}

// lookalike finds the new object of another block of the same type that is most
// like one that goes; nil: none is.
func (p *planning) lookalike(t target) (best *subject, share float64) {
	share = resemblance
	was := values(t.live)
	for _, s := range p.subjects {
		if s.action.Verb != Create || s.action.Ref.GVK != t.ref.GVK || !siblings(t.address, s.object.Address) {
			continue
		}
		is := values(s.object.Manifest)
		same := 0
		for path, value := range is {
			if was[path] == value {
				same++
			}
		}
		if n := len(is); n >= 5 && float64(same)/float64(n) >= share {
			best, share = s, float64(same)/float64(n)
		}
	}
	return best, share
}

// siblings reports whether two addresses are of different blocks of one type.
func siblings(a, b lang.Address) bool {
	kind, _, _ := strings.Cut(a.Block, ".")
	other, _, _ := strings.Cut(b.Block, ".")
	return kind == other && a.Block != b.Block
}

// values are all values of an object below what names and labels it, by path.
func values(u *unstructured.Unstructured) map[string]string {
	out := map[string]string{}
	var visit func(path string, v any)
	visit = func(path string, v any) {
		switch v := v.(type) {
		case map[string]any:
			for key, field := range v {
				visit(path+"/"+key, field)
			}
		case []any:
			for i, item := range v {
				visit(fmt.Sprintf("%s/%d", path, i), item)
			}
		default:
			out[path] = fmt.Sprint(v)
		}
	}
	for key, field := range u.Object {
		if key != "metadata" && key != "status" {
			visit(key, field)
		}
	}
	return out
}
