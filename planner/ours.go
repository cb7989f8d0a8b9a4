package planner

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"kolla.openstack.org/kolla/internal/words"
	"kolla.openstack.org/kolla/lang/addrs"
	"kolla.openstack.org/kolla/planner/plans"
	"kolla.openstack.org/kolla/planner/trust"
	"kolla.openstack.org/kolla/providers"
	"kolla.openstack.org/kolla/providers/kinds"
)

// made reports whether kolla made the live object, or owned fields of it before: by what
// the state knows. What the object says of itself proves nothing; see trust.
func (s *subject) made() bool { return s.record != nil && trust.Same(s.record.Object, s.live) }

// owns reports whether a live object is the one that the state has a record of.
func (p *planning) owns(live *unstructured.Unstructured) bool {
	if live == nil {
		return false
	}
	r := p.known[identify(providers.RefOf(live))]
	return r != nil && trust.Same(r.Object, live)
}

// labelled reports whether an object says that it is of this cloud. Anybody may have
// written that.
func (p *planning) labelled(live *unstructured.Unstructured) bool {
	return live.GetLabels()[providers.LabelCloud] == p.Cloud
}

// adopted reports whether the operator named the object to be taken over. An import block
// counts once: what comes in the place of the object that was imported is another one.
func (p *planning) adopted(address addrs.Object) bool {
	if slices.Contains(p.Adopt, address.String()) {
		return true
	}
	object := p.desired[address]
	if object == nil || !p.imported(address) {
		return false
	}
	r := p.recordOf(object)
	return r == nil || r.UID == ""
}

// checkAdopted refuses names of what is not declared. What is taken over is named one by
// one: who names a block takes over whatever somebody has put in its place.
func (p *planning) checkAdopted() []plans.Problem {
	var problems []plans.Problem
	for _, text := range p.Adopt {
		target, err := addrs.ParseTarget(text)
		switch {
		case err == nil && !target.Whole() && p.desired[target.Object] != nil:
		case err == nil && !target.Whole():
			problem := p.undeclaredAs("", target.Object)
			problem.Summary = fmt.Sprintf("-adopt=%s: it is not declared", text)
			problems = append(problems, problem)
		default:
			problems = append(problems, plans.Problem{
				Summary: fmt.Sprintf("-adopt=%s names no object", text),
				Detail:  "It takes the address of one object, such as service.memcached/Service/memcached, and may be repeated. A plan without it lists the objects that are in the way, with their addresses.",
			})
		}
	}
	return problems
}

// values reads Secrets of the snapshot. A Secret that is declared and is not kolla's
// counts as not there: nothing is to come from it.
func (p *planning) values(namespace, name string) map[string][]byte {
	ref := providers.Ref{GVK: secrets, Namespace: namespace, Name: name}
	live := p.Snapshot.Get(ref)
	if address, declared := p.byRef[identify(ref)]; declared && live != nil && !p.adopted(address) {
		if r := p.recordOf(p.desired[address]); r == nil || !trust.Same(r.Object, live) {
			return nil
		}
	}
	return providers.ValuesOf(live)
}

// foreign decides about objects that are not kolla's.
func (p *planning) foreign(_ context.Context, s *subject) (bool, error) {
	owner := s.live.GetLabels()[providers.LabelCloud]
	switch {
	case s.object.Partial:
		return false, nil
	case owner != "" && owner != p.Cloud:
		s.stranger = true
		return true, nil
	case !s.ours && !p.adopted(s.object.Address):
		s.stranger = true
		return true, nil
	case !s.ours && s.object.Generated():
		s.warnKnownValues()
	}
	return false, nil
}

// adopts reports whether the action takes over somebody else's object.
func (s *subject) adopts() bool { return s.live != nil && !s.ours && !s.object.Partial }

// warnKnownValues says that kolla takes over a Secret that it would have made values for.
func (s *subject) warnKnownValues() {
	warning := problemOf(s.object, fmt.Sprintf("%s is taken over with the values that it has", s.action.Ref),
		fmt.Sprintf("kolla did not make them: whoever made the Secret knows them. %s To have new ones made, delete the Secret, and do not name it.", birth(s.live)))
	warning.Warning = true
	s.problems = append(s.problems, warning)
}

// birth says, as a sentence, when an object was created and what its oldest writer is
// called.
func birth(live *unstructured.Unstructured) string {
	traces := trust.TracesOf(live)
	text := fmt.Sprintf("It was created at %s", traces.Created.Format("2006-01-02 15:04 UTC"))
	if len(traces.Writers) > 0 {
		text += fmt.Sprintf(", and its oldest writer calls itself %q", traces.Writers[0].Manager)
	}
	return text + "."
}

// mostStrangers is how many objects of one sort are refused in a message of their own.
const mostStrangers = 3

// strangers are the problems of objects that are in the way and not kolla's. Many of one
// cloud are one problem: the namespace is the other cloud's, or the state of this cloud was
// lost.
func (p *planning) strangers() []plans.Problem {
	var problems []plans.Problem
	byCloud := map[string][]*subject{} // by the cloud of the label; "" for none
	for _, s := range p.subjects {
		switch {
		case !s.stranger:
		case s.ours:
			problems = append(problems, s.strange(p.Cloud))
		default:
			owner := s.live.GetLabels()[providers.LabelCloud]
			byCloud[owner] = append(byCloud[owner], s)
		}
	}
	for _, owner := range slices.Sorted(maps.Keys(byCloud)) {
		strangers := byCloud[owner]
		switch many := len(strangers) > mostStrangers; {
		case many && owner == p.Cloud:
			problems = append(problems, lostState(strangers))
		case many && owner != "":
			problems = append(problems, otherCloud(owner, strangers))
		default:
			for _, s := range strangers {
				problems = append(problems, s.strange(p.Cloud))
			}
		}
	}
	return problems
}

// otherCloud is the problem of many objects that carry the label of another cloud.
func otherCloud(owner string, strangers []*subject) plans.Problem {
	detail := fmt.Sprintf("They are %s. Their label %s says so, and two clouds cannot share objects.", words.Few(refsOf(strangers), 10), providers.LabelCloud)
	for _, s := range strangers {
		if s.action.Ref.GVK.GroupKind() == kinds.Namespace {
			return problemOf(s.object, fmt.Sprintf("Namespace %s belongs to cloud %q, and so do %d more objects", s.action.Ref.Name, owner, len(strangers)-1),
				detail+" Give this cloud a namespace of its own: namespace = \"NAME\" in the cloud block.")
		}
	}
	return plans.Problem{
		Summary: fmt.Sprintf("%d objects belong to cloud %q", len(strangers), owner),
		Detail:  detail + " Choose another namespace, or other names.",
	}
}

// relabel is the command that gives an object the label of a cloud.
func relabel(ref providers.Ref, cloud string) string {
	in := ""
	if ref.Namespace != "" {
		in = " --namespace " + ref.Namespace
	}
	kind := strings.ToLower(ref.GVK.Kind)
	if ref.GVK.Group != "" {
		kind += "." + ref.GVK.Group
	}
	return fmt.Sprintf("kubectl label %s %s %s=%s --overwrite%s", kind, ref.Name, providers.LabelCloud, cloud, in)
}

func refsOf(subjects []*subject) []string {
	var names []string
	for _, s := range subjects {
		names = append(names, s.action.Ref.String())
	}
	return names
}

// rebuildAdvice is what to do where the state is the one that is wrong.
const rebuildAdvice = "If kolla made %s and the state was lost, or is an old one: kolla state rebuild. It shows who made what and when, and asks."

// rebuildCommand is the same with the command on a line of its own.
const rebuildCommand = "If kolla made %s and the state was lost, or is an old one, have it made anew:\n\n  kolla state rebuild\n\nIt shows who made what and when, and asks."

// strange is the problem of one object that is in the way of a cloud.
func (s *subject) strange(cloud string) plans.Problem {
	owner := s.live.GetLabels()[providers.LabelCloud]
	switch {
	case s.ours:
		return problemOf(s.object, fmt.Sprintf("The label %s of %s names cloud %q", providers.LabelCloud, s.action.Ref, owner),
			fmt.Sprintf("kolla made this object for cloud %q, and somebody changed the label since. If no other cloud took it over, put the label back:\n\n  %s", cloud, relabel(s.action.Ref, cloud)))
	case owner != "" && owner != cloud:
		return problemOf(s.object, fmt.Sprintf("%s belongs to cloud %q", s.action.Ref, owner),
			fmt.Sprintf("Its label %s says so. Two clouds cannot have one object: choose another namespace or name.", providers.LabelCloud))
	}
	labelled := owner != ""
	var b strings.Builder
	summary := fmt.Sprintf("%s exists and is not kolla's", s.action.Ref)
	b.WriteString("The state does not know it. ")
	if labelled {
		summary = fmt.Sprintf("%s exists, and the state does not know it", s.action.Ref)
		b.Reset()
		b.WriteString("It carries the label of this cloud, which anybody can have given to it. ")
	}
	b.WriteString(birth(s.live) + " ")
	if s.record != nil && s.record.UID != "" {
		fmt.Fprintf(&b, "The object of that name that the state knows (UID %s) is gone. ", s.record.UID)
	}
	switch {
	case s.object.Generated():
		b.WriteString("Nothing was read from it: whoever made it knows its values. ")
	case s.action.Ref.GVK.GroupKind() == kinds.Namespace:
		b.WriteString("Whoever made it may have rights in it. ")
	}
	if labelled || s.record != nil {
		fmt.Fprintf(&b, rebuildCommand+"\n", "it")
	}
	fmt.Fprintf(&b, "To take it over as it is and change it to what is declared, write an import block for it, or plan with\n\n  %s\n\nOtherwise rename one of the two, or find out who made it and delete it.",
		words.Option("-adopt", s.object.Address.String()))
	return problemOf(s.object, summary, b.String())
}

// lostState is the problem of many objects that carry the cloud's label.
func lostState(labelled []*subject) plans.Problem {
	return plans.Problem{
		Summary: fmt.Sprintf("%d objects exist and carry the label of this cloud, and the state does not know them", len(labelled)),
		Detail: fmt.Sprintf("They are %s. A label proves nothing: anybody can have given it to them. Nothing was read from them. "+rebuildCommand+
			" To take over single objects as they are, write import blocks for them, or name each, as in\n\n  %s",
			words.Few(refsOf(labelled), 6), "them", words.Option("-adopt", labelled[0].object.Address.String())),
	}
}
