package planner

import (
	"fmt"
	"strconv"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"kolla.openstack.org/kolla/lang"
)

// resemblance is the share of fields from which on two objects look like one that was
// renamed. Names and labels of another service make up for much of the rest.
const resemblance = 0.6

// telling is how many values make an object something of its own. Where there are
// fewer, all have to be the same, and a user has to have written them.
const telling = 5

// ordinary is how many new objects of a kind may have a value in common before it
// tells nothing any more about which of them an old object has become. It keeps the
// search for that in proportion to the number of objects.
const ordinary = 16

// hintRenames warns where what disappears appears again under another name: a rename
// that nobody has said, by which generated values would be lost; or one that there
// cannot be, since objects have their names for good.
func (p *planning) hintRenames(undeclared []target) {
	var fresh newcomers
	told := map[string]bool{}
	for _, t := range undeclared {
		if t.live == nil || t.partial || t.renamed != "" || told[t.address.Block] {
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
		if brought(t.address) {
			p.problems = append(p.problems, p.renamedObject(t, best.subject))
		} else {
			p.problems = append(p.problems, p.renamedBlock(t, best.subject, share))
		}
	}
}

// brought reports whether a user wrote the object itself.
func brought(address lang.Address) bool { return lang.SplitBlock(address.Block).Type == "manifest" }

// renamedBlock says how to tell that a service has another name.
func (p *planning) renamedBlock(t target, best *subject, share float64) Problem {
	return Problem{
		Warning: true,
		Address: best.object.Address,
		Source:  best.object.Source,
		Summary: fmt.Sprintf("%s looks as if it was renamed to %s", t.address.Block, best.object.Address.Block),
		Detail: fmt.Sprintf("%s and %s are the same in %d %% of their fields. If it is one, say so: what kolla generated for it is then taken along. Objects get the names of their new block all the same%s.\n\n  moved {\n    from = %s\n    to   = %s\n  }",
			t.ref, best.action.Ref, int(share*100), p.volumesStay(t.address.Block), t.address.Block, best.object.Address.Block),
	}
}

// volumesStay says which volumes of a block stay behind when it is renamed.
func (p *planning) volumesStay(block string) string {
	var names []string
	for i := range p.records {
		r := &p.records[i]
		if live := p.Snapshot.Get(r.ref); live != nil && r.address.Block == block && r.ref.GVK.GroupKind() == statefulSetKind {
			for _, ref := range p.volumesOf(live) {
				names = append(names, ref.Name)
			}
		}
	}
	if len(names) == 0 {
		return ""
	}
	return fmt.Sprintf(", and their volumes stay: %s. The new ones start EMPTY", enumerate(names, 4))
}

// renamedObject says what becomes of an object that a user brought under one name,
// and now brings under another.
func (p *planning) renamedObject(t target, best *subject) Problem {
	detail := fmt.Sprintf("An object cannot be renamed in a cluster: %s would be deleted, and %s made", t.ref, best.action.Ref)
	if holds := holding(t.live, t.holds); holds != "" {
		detail += fmt.Sprintf(", without %s", holds)
	}
	return Problem{
		Warning: true,
		Address: best.object.Address,
		Source:  best.object.Source,
		Summary: fmt.Sprintf("%s looks as if it was renamed to %s", t.ref, best.action.Ref.Name),
		Detail:  detail + fmt.Sprintf(". To keep the object, keep metadata.name = %q; the block may have any name.", t.ref.Name),
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
		if len(n.traits) < 2 || len(n.traits) < telling && !brought(s.object.Address) {
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
			if len(other.traits) < telling && like < 1 {
				continue
			}
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

// siblings reports whether two addresses are of different blocks of one type, or of
// different objects of one manifest.
func siblings(a, b lang.Address) bool {
	kind, other := lang.SplitBlock(a.Block).Type, lang.SplitBlock(b.Block).Type
	return kind == other && (a.Block != b.Block || brought(a))
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
