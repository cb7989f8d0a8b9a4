package planner

import (
	"fmt"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"kolla.openstack.org/kolla/lang"
)

// resemblance is the share of fields from which on two objects look like one that was
// renamed. Names and labels of another service make up for much of the rest.
const resemblance = 0.6

// ordinary is how many new objects of a kind may have a value in common before it
// tells nothing any more about which of them an old object has become. It keeps the
// search for that in proportion to the number of objects.
const ordinary = 16

// hintRenames warns where what disappears from one block appears in another: a
// rename that nobody has said, by which generated values would be lost.
func (p *planning) hintRenames(undeclared []target) {
	var fresh newcomers
	told := map[string]bool{}
	for _, t := range undeclared {
		if t.live == nil || t.partial || t.why != "" || told[t.address.Block] {
			continue
		}
		if fresh == nil {
			fresh = p.newcomers()
		}
		best, share := fresh.lookalike(t)
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

// trait is a value of objects of one kind, and where it is in them.
type trait struct {
	kind        schema.GroupKind
	path, value string
}

// newcomers are the objects that a plan creates, by what they have.
type newcomers map[trait][]*newcomer

type newcomer struct {
	*subject
	traits map[trait]bool
}

// newcomers leaves out objects with so few values that they are like many others.
func (p *planning) newcomers() newcomers {
	all := newcomers{}
	for _, s := range p.subjects {
		if s.action.Verb != Create {
			continue
		}
		n := &newcomer{subject: s, traits: traitsOf(s.object.Manifest)}
		if len(n.traits) < 5 {
			continue
		}
		for t := range n.traits {
			all[t] = append(all[t], n)
		}
	}
	return all
}

// lookalike finds the new object of another block of the same type that is most
// like one that goes; nil: none is. It looks at those that have something with it in
// common that few have.
func (n newcomers) lookalike(t target) (best *newcomer, share float64) {
	traits := traitsOf(t.live)
	looked := map[*newcomer]bool{}
	for each := range traits {
		if len(n[each]) > ordinary {
			continue
		}
		for _, other := range n[each] {
			if looked[other] || !siblings(t.address, other.object.Address) {
				continue
			}
			looked[other] = true
			like := other.likeness(traits)
			if like >= resemblance && (best == nil || like > share || like == share && other.object.Address.Compare(best.object.Address) < 0) {
				best, share = other, like
			}
		}
	}
	return best, share
}

// likeness is the share of what the object has that is among the traits.
func (n *newcomer) likeness(traits map[trait]bool) float64 {
	same := 0
	for t := range n.traits {
		if traits[t] {
			same++
		}
	}
	return float64(same) / float64(len(n.traits))
}

// siblings reports whether two addresses are of different blocks of one type.
func siblings(a, b lang.Address) bool {
	kind, _, _ := strings.Cut(a.Block, ".")
	other, _, _ := strings.Cut(b.Block, ".")
	return kind == other && a.Block != b.Block
}

// traitsOf are all values of an object below what names and labels it.
func traitsOf(u *unstructured.Unstructured) map[trait]bool {
	kind := u.GroupVersionKind().GroupKind()
	out := map[trait]bool{}
	var visit func(path string, v any)
	visit = func(path string, v any) {
		switch v := v.(type) {
		case map[string]any:
			for key, field := range v {
				visit(path+"/"+key, field)
			}
		case []any:
			for i, item := range v {
				visit(path+"/"+strconv.Itoa(i), item)
			}
		default:
			out[trait{kind, path, fmt.Sprint(v)}] = true
		}
	}
	for key, field := range u.Object {
		if key != "metadata" && key != "status" && key != "apiVersion" {
			visit(key, field)
		}
	}
	return out
}
