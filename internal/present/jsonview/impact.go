package jsonview

import (
	"slices"

	"kolla.openstack.org/kolla/internal/present/report"
	"kolla.openstack.org/kolla/internal/present/report/effects"
	"kolla.openstack.org/kolla/planner/plans"
)

// impactJSON is the impact on one block, as data and in words.
type impactJSON struct {
	plans.Impact
	Effects []effectJSON `json:"effects"`
	Lines   []string     `json:"lines"`
	Grave   []string     `json:"grave,omitempty"`
}

// effectJSON is an effect without fields that the plan has elsewhere.
type effectJSON struct {
	plans.Effect
	Object map[string]string `json:"object"`
	Why    string            `json:"why,omitempty"`
	// Ref and Loss are left out: Object and the losses of the plan replace them.
	Ref  any `json:"ref,omitempty"`
	Loss any `json:"loss,omitempty"`
}

func impactsOf(plan *plans.Plan) []impactJSON {
	said := report.ImpactOf(plan)
	var out []impactJSON
	for _, i := range plan.Impact {
		// A comparison without a cluster also says something about blocks without an impact.
		n := slices.IndexFunc(said, func(s report.Impact) bool { return s.Block == i.Block })
		j := impactJSON{Impact: i, Lines: slices.Clone(said[n].Lines), Grave: said[n].Grave}
		for _, e := range i.Effects {
			effect := effectJSON{Effect: e, Object: objectOf(e.Ref)}
			if e.Kind == plans.EffectRecreate {
				effect.Why = effects.WhyAgain(e.Why)
			}
			j.Effects = append(j.Effects, effect)
		}
		out = append(out, j)
	}
	return out
}
