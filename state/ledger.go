package state

import (
	"reflect"
	"slices"
)

// entry is one step of an apply in the journal. Exactly one field is set.
type entry struct {
	Begin    *opening    `json:"begin,omitempty"`
	Intend   *Object     `json:"intend,omitempty"`
	Record   *Object     `json:"record,omitempty"`
	Forget   string      `json:"forget,omitempty"` // an address
	Conclude *conclusion `json:"conclude,omitempty"`
	Ended    *Apply      `json:"ended,omitempty"`
}

// opening are the changes to a state at the start of an apply.
type opening struct {
	Tool    string  `json:"tool"`
	Cloud   string  `json:"cloud"`
	Cluster Cluster `json:"cluster"`
	Plan    string  `json:"plan"`
	Apply   *Apply  `json:"apply,omitempty"` // nil: it is no apply
}

// valid reports whether exactly one field is set.
func (e entry) valid() bool {
	set := 0
	for _, is := range []bool{
		e.Begin != nil,
		e.Intend != nil && e.Intend.Address != "",
		e.Record != nil && e.Record.Address != "",
		e.Forget != "",
		e.Conclude != nil,
		e.Ended != nil,
	} {
		if is {
			set++
		}
	}
	return set == 1
}

// address returns the address of the object that the entry is about. It is empty if there is no
// such object.
func (e entry) address() string {
	switch {
	case e.Intend != nil:
		return e.Intend.Address
	case e.Record != nil:
		return e.Record.Address
	}
	return e.Forget
}

// ledger is a state to which entries are applied one by one, each at a cost that does not
// depend on the size of the state. Every entry that changes something raises the serial by
// one. So a serial identifies one content, whether it was read from the file or merged
// from file and journal.
type ledger struct {
	head    State // without objects
	objects map[string]Object
}

func newLedger(s *State) *ledger {
	l := &ledger{head: *s, objects: make(map[string]Object, len(s.Objects))}
	l.head.Objects = nil
	for _, o := range s.Objects {
		l.objects[o.Address] = o
	}
	return l
}

// state returns a copy of the state.
func (l *ledger) state() *State {
	s := l.head
	s.Plans, s.History = slices.Clone(s.Plans), slices.Clone(s.History)
	s.Outputs, s.Checks = slices.Clone(s.Outputs), slices.Clone(s.Checks)
	s.Objects = make([]Object, 0, len(l.objects))
	for _, o := range l.objects {
		s.Objects = append(s.Objects, o.clone())
	}
	sortObjects(s.Objects)
	return &s
}

// apply applies an entry, and reports whether it changed anything.
func (l *ledger) apply(e entry) (changed bool) {
	switch {
	case e.Begin != nil:
		changed = l.begin(e.Begin)
	case e.Intend != nil:
		o, known := l.objects[e.Intend.Address]
		if !known {
			o = *e.Intend
		}
		if e.Intend.UID != "" {
			o.UID = e.Intend.UID
		}
		o.Token, o.Ready, o.Deleting = e.Intend.Token, false, e.Intend.Deleting
		o.Cleaned = o.Cleaned || e.Intend.Cleaned
		changed = l.put(o)
	case e.Record != nil:
		changed = l.put(*e.Record)
	case e.Conclude != nil:
		changed = l.conclude(e.Conclude)
	case e.Ended != nil:
		l.note(*e.Ended)
		changed = true
	default:
		_, changed = l.objects[e.Forget]
		delete(l.objects, e.Forget)
	}
	if changed {
		l.head.Serial++
	}
	return changed
}

func (l *ledger) put(o Object) (changed bool) {
	o = o.clone()
	o.Applied = o.Applied.UTC()
	before, known := l.objects[o.Address]
	l.objects[o.Address] = o
	return !known || !reflect.DeepEqual(before, o)
}

// maxPlans is the number of applied plans that a state remembers.
const maxPlans = 100

func (l *ledger) begin(o *opening) (changed bool) {
	before := l.head
	l.head.Tool, l.head.Cloud, l.head.Cluster = o.Tool, o.Cloud, o.Cluster
	if o.Plan != "" {
		plans := append(slices.Clone(l.head.Plans), o.Plan)
		l.head.Plans = plans[max(0, len(plans)-maxPlans):]
	}
	if o.Apply != nil {
		l.note(*o.Apply)
	}
	return !reflect.DeepEqual(before, l.head)
}
