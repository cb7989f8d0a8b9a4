package planner

import (
	"encoding/json"
	"fmt"

	"kolla.openstack.org/kolla/lang"
)

// Moved compares an approved plan with one that was made of the same objects just
// now, and says where they differ: what an apply of the fresh one would do that
// nobody has approved, or would not do any more. No problems mean that to carry
// out the fresh plan is to do exactly what the approved one shows.
func Moved(approved, fresh *Plan) []Problem {
	var problems []Problem
	now := byAddress(fresh)
	for _, was := range approved.Actions {
		is, there := now[was.Address]
		delete(now, was.Address)
		if !there {
			is = Action{Address: was.Address, Verb: None}
		}
		if text := departure(was, is); text != "" {
			problems = append(problems, moved(was, text))
		}
	}
	for _, is := range fresh.Actions {
		if _, unexpected := now[is.Address]; unexpected && is.Verb != None {
			problems = append(problems, moved(is, fmt.Sprintf("the plan does not mention it; now it %s", phrase(is.Verb))))
		}
	}
	return problems
}

func byAddress(p *Plan) map[lang.Address]Action {
	out := make(map[lang.Address]Action, len(p.Actions))
	for _, a := range p.Actions {
		out[a.Address] = a
	}
	return out
}

// departure says how two actions for one address differ; empty when they do not.
func departure(was, is Action) string {
	if was.Verb != is.Verb {
		return fmt.Sprintf("by the plan it %s; now it %s", phrase(was.Verb), phrase(is.Verb))
	}
	if was.Verb == None {
		return ""
	}
	before, err := json.Marshal(was.Changes)
	if err != nil {
		return "its changes cannot be compared: " + err.Error()
	}
	after, err := json.Marshal(is.Changes)
	if err != nil {
		return "its changes cannot be compared: " + err.Error()
	}
	if string(before) != string(after) {
		return "it has been changed in the cluster, so that other fields would change than the plan shows"
	}
	return ""
}

func phrase(v Verb) string {
	switch v {
	case Create, Run:
		return "would be created"
	case Update:
		return "would be updated"
	case Replace:
		return "would be replaced"
	case Delete:
		return "would be destroyed"
	case Adopt:
		return "would be taken over"
	case Forget:
		return "would be dropped from the state"
	default:
		return "needs no change"
	}
}

func moved(a Action, text string) Problem {
	source := ""
	if a.Object != nil {
		source = a.Object.Source
	}
	return Problem{
		Address: a.Address,
		Source:  source,
		Summary: "The cluster is no longer as it was planned against",
		Detail:  fmt.Sprintf("%s: %s. Nothing was changed. Make a new plan and have it approved.", a.Ref, text),
	}
}
