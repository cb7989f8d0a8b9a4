package outcome

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"kolla.openstack.org/kolla/internal/base/words"
	"kolla.openstack.org/kolla/planner/plans"
	"kolla.openstack.org/kolla/planner/trust"
	"kolla.openstack.org/kolla/providers"
	"kolla.openstack.org/kolla/providers/kinds"
)

// CreationInfo says when an object was created, and the name of its oldest writer.
func CreationInfo(live *unstructured.Unstructured) string {
	traces := trust.TracesOf(live)
	text := fmt.Sprintf("It was created at %s", traces.Created.Format("2006-01-02 15:04 UTC"))
	if len(traces.Writers) > 0 {
		text += fmt.Sprintf(", and its oldest writer calls itself %q", traces.Writers[0].Manager)
	}
	return text + "."
}

// UnownedConflicts returns the problems of unowned objects. Many objects of one cloud are one
// problem: the namespace belongs to another cloud, or the state of this one was lost.
func UnownedConflicts(cloud string, outcomes []*Outcome) []plans.Problem {
	var problems []plans.Problem
	byCloud := map[string][]*Outcome{} // by the cloud in the label; "" without a label
	for _, o := range outcomes {
		switch {
		case !o.Unowned:
		case o.Ours:
			problems = append(problems, unownedConflict(o, cloud))
		default:
			owner := o.Live.GetLabels()[providers.LabelCloud]
			byCloud[owner] = append(byCloud[owner], o)
		}
	}
	for _, owner := range slices.Sorted(maps.Keys(byCloud)) {
		unowned := byCloud[owner]
		switch many := len(unowned) > MaxSeparateProblems; {
		case many && owner == cloud:
			problems = append(problems, lostState(unowned))
		case many && owner != "":
			problems = append(problems, otherCloud(owner, unowned))
		default:
			for _, o := range unowned {
				problems = append(problems, unownedConflict(o, cloud))
			}
		}
	}
	return problems
}

// otherCloud returns the problem of many objects with the label of another cloud.
func otherCloud(owner string, unowned []*Outcome) plans.Problem {
	detail := fmt.Sprintf("They are %s. Their label %s says so, and two clouds cannot share objects.", words.Few(refsOf(unowned), 10), providers.LabelCloud)
	for _, s := range unowned {
		if s.Action.Ref.GVK.GroupKind() == kinds.Namespace {
			return plans.ProblemOf(s.Object, fmt.Sprintf("Namespace %s belongs to cloud %q, and so do %d more objects", s.Action.Ref.Name, owner, len(unowned)-1),
				detail+" Give this cloud a namespace of its own: namespace = \"NAME\" in the cloud block.")
		}
	}
	return plans.Problem{
		Summary: fmt.Sprintf("%d objects belong to cloud %q", len(unowned), owner),
		Detail:  detail + " Choose another namespace, or other names.",
	}
}

// relabel returns the command that gives an object the label of a cloud.
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

func refsOf(subjects []*Outcome) []string {
	var names []string
	for _, s := range subjects {
		names = append(names, s.Action.Ref.String())
	}
	return names
}

// unownedConflict returns the problem of one object that blocks the plan.
func unownedConflict(s *Outcome, cloud string) plans.Problem {
	owner := s.Live.GetLabels()[providers.LabelCloud]
	switch {
	case s.Ours:
		return plans.ProblemOf(s.Object, fmt.Sprintf("The label %s of %s names cloud %q", providers.LabelCloud, s.Action.Ref, owner),
			fmt.Sprintf("kolla made this object for cloud %q, and somebody changed the label since. If no other cloud took it over, put the label back:\n\n  %s", cloud, relabel(s.Action.Ref, cloud)))
	case owner != "" && owner != cloud:
		return plans.ProblemOf(s.Object, fmt.Sprintf("%s belongs to cloud %q", s.Action.Ref, owner),
			fmt.Sprintf("Its label %s says so. Two clouds cannot have one object: choose another namespace or name.", providers.LabelCloud))
	}
	labelled := owner != ""
	var b strings.Builder
	summary := fmt.Sprintf("%s exists and is not kolla's", s.Action.Ref)
	b.WriteString("The state does not know it. ")
	if labelled {
		summary = fmt.Sprintf("%s exists, and the state does not know it", s.Action.Ref)
		b.Reset()
		b.WriteString("It carries the label of this cloud, but anybody can set that label. ")
	}
	b.WriteString(CreationInfo(s.Live) + " ")
	if s.Record != nil && s.Record.State.UID != "" {
		fmt.Fprintf(&b, "The state knows another object of that name (UID %s), which is gone. ", s.Record.State.UID)
	}
	switch {
	case s.Object.Generated():
		b.WriteString("Nothing was read from it: whoever made it knows its values. ")
	case s.Action.Ref.GVK.GroupKind() == kinds.Namespace:
		b.WriteString("Whoever made it may have rights in it. ")
	}
	if labelled || s.Record != nil {
		fmt.Fprintf(&b, RebuildCommand+"\n", "it")
	}
	fmt.Fprintf(&b, "To take it over as it is and change it to what is declared, write an import block for it, or plan with\n\n  %s\n\nOtherwise rename one of the two, or find out who made it and delete it.",
		words.Option("-adopt", s.Object.Address.String()))
	return plans.ProblemOf(s.Object, summary, b.String())
}

// lostState returns the problem of many objects with the label of this cloud.
func lostState(labelled []*Outcome) plans.Problem {
	return plans.Problem{
		Summary: fmt.Sprintf("%d objects exist and carry the label of this cloud, and the state does not know them", len(labelled)),
		Detail: fmt.Sprintf("They are %s. Anybody can set a label, so nothing was read from them. "+RebuildCommand+
			" To take over single objects as they are, write import blocks for them, or name each, as in\n\n  %s",
			words.Few(refsOf(labelled), 6), "them", words.Option("-adopt", labelled[0].Object.Address.String())),
	}
}
