package plans

// Drift is a difference that others made to an object.
type Drift struct {
	// Gone: others deleted the whole object. The Change has no path.
	Gone bool
	// Change goes from the value that kolla wrote to the live value.
	Change
	// Stays: an apply does not revert the difference.
	Stays bool
}

// Drift lists the differences that others made to the object of the action. Fields that they
// added and that stay are in Plan.Foreign.
func (a *Action) Drift() []Drift {
	var changed, replaced []Drift
	for _, c := range a.Changes {
		if !c.Drift {
			continue
		}
		if a.Verb != None && a.Verb != Refresh { // the change reverts the drift
			c.Before, c.After = c.After, c.Before
		}
		changed = append(changed, Drift{Change: c})
	}
	for _, r := range a.Reasons {
		switch r.Kind {
		case ReasonGone:
			return []Drift{{Gone: true, Change: Change{Drift: true, Manager: r.Manager, Time: r.Time}}}
		case ReasonReplaced:
			replaced = append(replaced, Drift{Stays: true, Change: Change{
				Path: r.Path, Before: Masked, After: Masked, Sensitive: true, Drift: true, Manager: r.Manager, Time: r.Time,
			}})
		}
	}
	return append(changed, replaced...)
}

// Drift lists the added fields, if only kolla should set them.
func (f *Foreign) Drift() []Drift {
	if !f.Reported {
		return nil
	}
	var out []Drift
	for _, c := range f.Fields {
		c.Before, c.After, c.Drift = nil, c.Before, true
		out = append(out, Drift{Change: c, Stays: true})
	}
	return out
}

// Drifted reports whether others changed or deleted an object since kolla wrote it.
func (p *Plan) Drifted() bool {
	for i := range p.Actions {
		if a := &p.Actions[i]; a.Reported || len(a.Drift()) > 0 {
			return true
		}
	}
	return false
}
